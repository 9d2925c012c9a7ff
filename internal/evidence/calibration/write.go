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
	remembered := map[string]Remembered{}
	for _, p := range o.Memory.Points() {
		remembered[p.Subject.Deployment()] = p
	}
	for _, s := range o.sections(&remembered) {
		if r := o.Reach; s.key == "releases" && r != (Reach{}) {
			fmt.Fprintf(&b, "reach:\n  concurrency: %d\n  input: %d\n  devices: %d\n", r.Concurrency, r.Input, r.Devices)
		}
		lines := s.lines()
		if len(lines) > 0 {
			fmt.Fprintf(&b, "%s:\n", s.key)
		}
		for _, name := range slices.Sorted(maps.Keys(lines)) {
			fmt.Fprintf(&b, "  %s: %s\n", scalar(name), scalar(lines[name]))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
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
