package calibrate

import (
	_ "embed"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed shipped.yaml
var shipped []byte

// Overlay is fitted parameters of engines, and how far predictions made with
// them lay from measurements they were not fitted to.
type Overlay struct {
	Source string `yaml:"source"`
	// Offsets are multipliers by parameter of each group of predictions; one
	// takes the product of its groups' (see [Subject]).
	Offsets Multipliers `yaml:"offsets"`
	// Unseen, if any, stand in their place for all but Cells, and are nearer to
	// one: a fit knows less about what it has not seen.
	Unseen Multipliers `yaml:"unseen,omitempty"`
	// Cells are the models the fit had rows of, by engine and system, those with
	// prompts on workers of their own apart.
	Cells map[string]map[string][]string `yaml:"cells,omitempty"`
	// Reach is the largest load among the rows.
	Reach Reach `yaml:"reach,omitempty"`
	// Residuals are those of rows no fit had seen, by kind: see [Overlay.Learn].
	Residuals map[string]Residuals `yaml:"residuals,omitempty"`
}

// Multipliers are those of parameters, by group.
type Multipliers map[string]Factors

// Factors are the multipliers of a group of predictions by parameter. In a file they
// are one line, "products 1.1, first 0.95": every command reads hundreds, and a
// YAML document with a line for each number takes longer than a search.
type Factors map[string]float64

// MarshalYAML writes the line.
func (f Factors) MarshalYAML() (any, error) {
	var items []string
	for _, k := range slices.Sorted(maps.Keys(f)) {
		items = append(items, k+" "+strconv.FormatFloat(f[k], 'g', -1, 64))
	}
	return strings.Join(items, ", "), nil
}

// UnmarshalYAML reads the line.
func (f *Factors) UnmarshalYAML(node *yaml.Node) error {
	*f = Factors{}
	for item := range strings.SplitSeq(node.Value, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(item), " ")
		v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if _, twice := (*f)[name]; err != nil || twice {
			return fmt.Errorf("line %d: want parameters and their multipliers, each once, as in \"products 1.1, first 0.95\"; got %q", node.Line, item)
		}
		(*f)[name] = v
	}
	return nil
}

// Shipped is the overlay the program comes with.
func Shipped() *Overlay {
	o, err := ReadOverlay(shipped, "shipped.yaml")
	if err != nil {
		panic("calibrate: " + err.Error()) // a test reads it
	}
	return o
}

// ReadOverlay reads a file written by Write.
func ReadOverlay(data []byte, name string) (*Overlay, error) {
	dec := yaml.NewDecoder(strings.NewReader(string(data)))
	dec.KnownFields(true)
	var o Overlay
	if err := dec.Decode(&o); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, m := range []Multipliers{o.Offsets, o.Unseen} {
		for _, group := range slices.Sorted(maps.Keys(m)) {
			if err := check(m[group], name, group); err != nil {
				return nil, err
			}
		}
	}
	if err := o.checkResiduals(name); err != nil {
		return nil, err
	}
	return &o, nil
}

// check refuses unknown parameters and absurd multipliers.
func check(m Factors, file, where string) error {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(names[:], k) {
			return fmt.Errorf("%s: %s: unknown parameter %q; the parameters are %s", file, where, k, strings.Join(names[:], ", "))
		}
		if v := m[k]; !(v > 0.01 && v < 100) {
			return fmt.Errorf("%s: %s: %s: a multiplier must be between 0.01 and 100, got %g", file, where, k, v)
		}
	}
	return nil
}

// Set puts fitted parameters into the overlay.
func (o *Overlay) Set(p *Params) {
	o.Offsets, o.Unseen = multipliers(p.groups), multipliers(p.unseen)
}

// multipliers are those of groups, but for ones.
func multipliers(groups map[string]*offsets) Multipliers {
	out := Multipliers{}
	for name, z := range groups {
		m := Factors{}
		for i, n := range names {
			if v := math.Round(1e3*math.Exp(z[i])) / 1e3; v != 1 {
				m[n] = v
			}
		}
		if len(m) > 0 {
			out[name] = m
		}
	}
	return out
}

// Params are the parameters of the overlay.
func (o *Overlay) Params() *Params {
	p := &Params{groups: o.Offsets.logarithms(), cells: map[string]bool{}}
	if len(o.Unseen) > 0 {
		p.unseen = o.Unseen.logarithms()
	}
	for fleet, systems := range o.Cells {
		for system, models := range systems {
			for _, m := range models {
				p.cells[strings.Join([]string{fleet, system, m}, separator)] = true
			}
		}
	}
	return p
}

func (m Multipliers) logarithms() map[string]*offsets {
	out := map[string]*offsets{}
	for name, values := range m {
		z := &offsets{}
		for i, n := range names {
			if v, ok := values[n]; ok {
				z[i] = math.Log(v)
			}
		}
		out[name] = z
	}
	return out
}

// Write writes the overlay as YAML.
func (o *Overlay) Write(w io.Writer) error {
	enc := yaml.NewEncoder(w)
	enc.SetIndent(2)
	if err := enc.Encode(o); err != nil {
		return err
	}
	return enc.Close()
}
