package calibration

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// An overlay file is the part of YAML that Write writes: top-level keys, and
// below most of them one line for each name. Every command that predicts reads
// one, so it is read by hand: a YAML library takes longer than a whole search.

// Read reads an overlay file. The name is for error messages.
func Read(data []byte, name string) (*Overlay, error) {
	r := reader{o: &Overlay{}}
	for line := range strings.Lines(string(bytes.TrimPrefix(data, []byte("\ufeff")))) {
		r.line++
		if err := r.take(strings.TrimRight(line, "\r\n \t")); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, r.line, err)
		}
	}
	return r.o, nil
}

// reader is the state of reading a file: the line, and the section it is in.
type reader struct {
	o       *Overlay
	line    int
	section string
	done    []string // sections so far
}

// sections are the top-level keys but "source".
func sections() []string {
	return []string{"multipliers", "unseen", "cells", "families", "reach", "residuals"}
}

// take reads one line.
func (r *reader) take(line string) error {
	text := strings.TrimLeft(line, " ")
	if text == "" || text[0] == '#' {
		return nil
	}
	key, value, ok := strings.Cut(text, ":")
	if value = strings.TrimSpace(value); !ok {
		return fmt.Errorf("want \"key: value\", got %q", text)
	}
	if len(text) < len(line) {
		return r.entry(strings.TrimSpace(key), value)
	}
	switch {
	case key == "source":
		r.section, r.o.Source = "", unquote(value)
		return nil
	case !slices.Contains(sections(), key):
		return fmt.Errorf("unknown key %q; the keys are source, %s", key, strings.Join(sections(), ", "))
	case slices.Contains(r.done, key):
		return fmt.Errorf("%s is given twice", key)
	case value != "":
		return fmt.Errorf("%s: want one indented line for each entry, got %q", key, value)
	}
	r.section, r.done = key, append(r.done, key)
	return nil
}

// entry reads a line of a section.
func (r *reader) entry(name, value string) error {
	name = unquote(name)
	switch o := r.o; r.section {
	case "multipliers":
		return o.Groups.read(&o.Groups, name, value)
	case "unseen":
		return o.Unseen.read(&o.Unseen, name, value)
	case "cells":
		return readModels(&r.o.Cells, name, value)
	case "families":
		return readModels(&r.o.Families, name, value)
	case "reach":
		return o.Reach.set(name, value)
	case "residuals":
		return r.residuals(name, unquote(value))
	}
	return fmt.Errorf("an indented line outside a section: %q", name)
}

// read reads the multipliers of a group: "products 1.1, first 0.95".
func (Groups) read(into *Groups, group, value string) error {
	z := &Logs{}
	given := [Parameters]bool{}
	for item := range strings.SplitSeq(unquote(value), ",") {
		name, number, _ := strings.Cut(strings.TrimSpace(item), " ")
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil {
			return fmt.Errorf("%s: want parameters and their multipliers, as in \"products 1.1, first 0.95\"; got %q", group, item)
		}
		i := slices.Index(names[:], name)
		switch {
		case i < 0:
			return fmt.Errorf("%s: unknown parameter %q; the parameters are %s", group, name, strings.Join(names[:], ", "))
		case given[i]:
			return fmt.Errorf("%s: %s is given twice", group, name)
		case !(v > 0.01 && v < 100):
			return fmt.Errorf("%s: %s: a multiplier must be between 0.01 and 100, got %g", group, name, v)
		}
		z[i], given[i] = math.Log(v), true
	}
	if *into == nil {
		*into = Groups{}
	}
	if _, twice := (*into)[group]; twice {
		return fmt.Errorf("%s is given twice", group)
	}
	(*into)[group] = z
	return nil
}

// readModels reads the models of an engine on a system or generation, commas between them.
func readModels(into *map[string][]string, row, value string) error {
	if *into == nil {
		*into = map[string][]string{}
	}
	if _, twice := (*into)[row]; twice {
		return fmt.Errorf("%s is given twice", row)
	}
	models := strings.Split(unquote(value), ",")
	for i := range models {
		models[i] = strings.TrimSpace(models[i])
	}
	(*into)[row] = models
	return nil
}

// set reads one size of the reach.
func (r *Reach) set(name, value string) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 {
		return fmt.Errorf("reach: %s: want a whole number, got %q", name, value)
	}
	switch name {
	case "concurrency":
		r.Concurrency = n
	case "input":
		r.Input = n
	case "devices":
		r.Devices = n
	default:
		return fmt.Errorf("reach: unknown key %q; the keys are concurrency, input, devices", name)
	}
	return nil
}

// residuals reads those of a kind.
func (r *reader) residuals(kind, value string) error {
	wide, _, _ := strings.Cut(kind, "/")
	if !slices.Contains(kinds(), wide) {
		return fmt.Errorf("residuals: unknown kind %q; the kinds are %s (plimsoll calibrate writes them)", kind, strings.Join(kinds(), ", "))
	}
	e, err := parseResiduals(value)
	if err != nil {
		return fmt.Errorf("residuals: %s: %w", kind, err)
	}
	if r.o.Residuals == nil {
		r.o.Residuals = map[string]Residuals{}
	}
	if _, twice := r.o.Residuals[kind]; twice {
		return fmt.Errorf("residuals: %s is given twice", kind)
	}
	r.o.Residuals[kind] = e
	return nil
}

// unquote takes the quotes off a quoted value.
func unquote(value string) string {
	if text, err := strconv.Unquote(value); err == nil {
		return text
	}
	return strings.Trim(value, "'")
}
