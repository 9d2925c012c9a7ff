package calibration

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"
)

// An overlay file has one line for each group, list of models and kind of residuals:
// so a fit's file stays short enough to read.

// Bounds of a file: the shipped one has 46 KiB.
const (
	largestFile = 8 << 20
	maxProblems = 20
)

// Read reads an overlay file. The name is for error messages.
func Read(data []byte, name string) (*Overlay, error) {
	r := reader{Problems: strictyaml.Problems{File: name, Most: maxProblems}, o: &Overlay{}}
	root := r.Document(data, strictyaml.Form{
		Holds: "calibration", Largest: largestFile, TooLarge: "larger than 8 MiB: not a calibration",
		Aliases: "anchors and aliases are not allowed", Mapping: true,
	})
	if root != nil {
		r.Keys("", root, r.section)
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return r.o, nil
}

// reader collects an overlay and the problems of its file.
type reader struct {
	strictyaml.Problems

	o *Overlay
}

// section reads a top-level key.
func (r *reader) section(at string, key, value *yaml.Node) {
	o := r.o
	switch key.Value {
	case "source":
		o.Source = value.Value
	case "multipliers":
		o.Groups = entries(r, value, readLogs)
	case "unseen":
		o.Unseen = entries(r, value, readLogs)
	case "cells":
		o.Cells = entries(r, value, readModels)
	case "families":
		o.Families = entries(r, value, readModels)
	case "residuals":
		o.Residuals = entries(r, value, readResiduals)
	case "reach":
		r.Keys(at, value, r.reach)
	default:
		r.Add(key.Line, "", "unknown key %q; the keys are source, multipliers, unseen, cells, families, reach, residuals", key.Value)
	}
}

// entries reads a section with a text for each name; nil for an empty one.
func entries[T any](r *reader, section *yaml.Node, read func(name, text string) (T, error)) map[string]T {
	if section.ShortTag() == "!!null" {
		return nil
	}
	out := map[string]T{}
	r.Keys("", section, func(_ string, key, value *yaml.Node) {
		v, err := read(key.Value, value.Value)
		if err != nil {
			r.Add(key.Line, key.Value, "%v", err)
		}
		out[key.Value] = v
	})
	return out
}

// readLogs reads the multipliers of a group: "products 1.1, first 0.95".
func readLogs(_, text string) (*Logs, error) {
	z := &Logs{}
	given := [Parameters]bool{}
	for item := range strings.SplitSeq(text, ",") {
		name, number, _ := strings.Cut(strings.TrimSpace(item), " ")
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil {
			return nil, fmt.Errorf("want parameters and their multipliers, as in \"products 1.1, first 0.95\"; got %q", item)
		}
		i := slices.Index(names[:], name)
		switch {
		case i < 0:
			return nil, fmt.Errorf("unknown parameter %q; the parameters are %s", name, strings.Join(names[:], ", "))
		case given[i]:
			return nil, fmt.Errorf("%s is given twice", name)
		case !(v > 0.01 && v < 100):
			return nil, fmt.Errorf("%s: a multiplier must be between 0.01 and 100, got %g", name, v)
		}
		z[i], given[i] = math.Log(v), true
	}
	return z, nil
}

// readModels reads the models of an engine on a system or generation, commas between them.
func readModels(_, text string) ([]string, error) {
	models := strings.Split(text, ",")
	for i := range models {
		if models[i] = strings.TrimSpace(models[i]); models[i] == "" {
			return nil, errors.New("want models with commas between them")
		}
	}
	return models, nil
}

// readResiduals reads those of a kind.
func readResiduals(kind, text string) (Residuals, error) {
	wide, _, _ := strings.Cut(kind, "/")
	if !slices.Contains(kinds(), wide) {
		return Residuals{}, fmt.Errorf("unknown kind; the kinds are %s (plimsoll calibrate writes them)", strings.Join(kinds(), ", "))
	}
	return parseResiduals(text)
}

// reach reads one size of the reach.
func (r *reader) reach(at string, key, value *yaml.Node) {
	sizes := map[string]*int{"concurrency": &r.o.Reach.Concurrency, "input": &r.o.Reach.Input, "devices": &r.o.Reach.Devices}
	to := sizes[key.Value]
	if to == nil {
		r.Add(key.Line, at, "unknown key; the keys are concurrency, input, devices")
		return
	}
	n, err := strconv.Atoi(value.Value)
	if err != nil || n < 0 {
		r.Add(key.Line, at, "want a whole number, got %q", value.Value)
	}
	*to = n
}
