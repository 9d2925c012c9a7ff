package calibration

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Write writes the overlay as Read reads it.
func (o *Overlay) Write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "source: %s\n", strconv.Quote(o.Source))
	for _, s := range []struct {
		title  string
		groups Groups
	}{{"multipliers", o.Groups}, {"unseen", o.Unseen}} {
		lines := map[string]string{}
		for name, z := range s.groups {
			if text := z.text(); text != "" {
				lines[name] = text
			}
		}
		writeSection(&b, s.title, lines)
	}
	remembered := map[string]string{}
	for _, p := range o.Memory.Points() {
		remembered[p.Subject.Deployment()] = p.text()
	}
	writeSection(&b, "memory", remembered)
	writeModels(&b, "cells", o.Cells)
	writeModels(&b, "families", o.Families)
	if r := o.Reach; r != (Reach{}) {
		fmt.Fprintf(&b, "reach:\n  concurrency: %d\n  input: %d\n  devices: %d\n", r.Concurrency, r.Input, r.Devices)
	}
	writeSection(&b, "releases", o.Releases)
	residuals := map[string]string{}
	for kind, r := range o.Residuals {
		residuals[kind] = r.text()
	}
	writeSection(&b, "residuals", residuals)
	writeModels(&b, "sources", o.Sources)
	outside := map[string]string{}
	for load, s := range o.Outside {
		outside[load] = s.Text()
	}
	writeSection(&b, "outside", outside)
	_, err := io.WriteString(w, b.String())
	return err
}

// writeModels writes lists of models.
func writeModels(b *strings.Builder, title string, lists map[string][]string) {
	lines := map[string]string{}
	for row, models := range lists {
		lines[row] = strings.Join(models, ", ")
	}
	writeSection(b, title, lines)
}

// writeSection writes the lines of a section, by name; nothing if it has none.
func writeSection(b *strings.Builder, title string, lines map[string]string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "%s:\n", title)
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprintf(b, "  %s: %s\n", scalar(name), scalar(lines[name]))
	}
}

// scalar is a text as YAML writes it.
func scalar(text string) string {
	b, err := yaml.Marshal(text)
	if err != nil {
		return strconv.Quote(text)
	}
	return strings.TrimSuffix(string(b), "\n")
}

// text is the multipliers as a file holds them, to three decimals and by name;
// those within half a percent of one are left out.
func (z *Logs) text() string {
	var items []string
	for i, n := range names {
		if v := math.Round(1e3*math.Exp(z[i])) / 1e3; math.Abs(v-1) > 0.005 {
			items = append(items, n+" "+strconv.FormatFloat(v, 'g', -1, 64))
		}
	}
	slices.Sort(items)
	return strings.Join(items, ", ")
}
