package calibrate

import (
	_ "embed"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"plimsoll/internal/replica"
)

//go:embed shipped.yaml
var shipped []byte

// Overlay is fitted parameters of engines, and how far predictions made with
// them lay from measurements they were not fitted to.
type Overlay struct {
	Source  string                  `yaml:"source"`
	Engines map[string]EngineTuning `yaml:"engines"`
	// Cells are the models the fit had rows of, by engine and system.
	Cells map[string]map[string][]string `yaml:"cells,omitempty"`
	// Reach is the largest load among the rows.
	Reach Reach `yaml:"reach,omitempty"`
	// Residuals are those of rows no fit had seen, by kind: see [Overlay.Learn].
	Residuals map[string]Residuals `yaml:"residuals,omitempty"`
}

// EngineTuning is one engine's parameters by name, as multipliers; a generation
// multiplies the engine's own.
type EngineTuning struct {
	Base       map[string]float64            `yaml:"base"`
	Generation map[string]map[string]float64 `yaml:"generation"`
}

// Residual is the spread of predictions.
type Residual struct {
	TTFT float64 `yaml:"ttft"`
	TPOT float64 `yaml:"tpot"`
}

// names are the parameters' names in an overlay.
//
//nolint:gochecknoglobals // a constant table
var names = [parameters]string{
	"products", "experts", "exchange", "elementwise", "head", "decode_attention",
	"prefill_products", "prefill_experts", "prefill_exchange", "prefill_attention",
	"per_step", "per_sequence", "per_prefill_step", "per_layer", "launch_floor", "api", "first",
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
	for engine, t := range o.Engines {
		if err := check(t.Base, name, engine); err != nil {
			return nil, err
		}
		for g, m := range t.Generation {
			if err := check(m, name, engine+"."+g); err != nil {
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
func check(m map[string]float64, file, where string) error {
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

// Set puts an engine's fitted parameters into the overlay.
func (o *Overlay) Set(engine string, p *Params) {
	if o.Engines == nil {
		o.Engines = map[string]EngineTuning{}
	}
	t := EngineTuning{Base: multipliers(&p.Base), Generation: map[string]map[string]float64{}}
	for g, z := range p.Generation {
		t.Generation[g] = multipliers(z)
	}
	o.Engines[engine] = t
}

func multipliers(z *[parameters]float64) map[string]float64 {
	m := map[string]float64{}
	for i, n := range names {
		m[n] = math.Round(1e4*math.Exp(z[i])) / 1e4
	}
	return m
}

// Params returns an engine's parameters; the zero ones where it has none.
func (o *Overlay) Params(engine string) *Params {
	p := &Params{Generation: map[string]*[parameters]float64{}}
	t := o.Engines[engine]
	p.Base = logarithms(t.Base)
	for g, m := range t.Generation {
		z := logarithms(m)
		p.Generation[g] = &z
	}
	return p
}

func logarithms(m map[string]float64) [parameters]float64 {
	var z [parameters]float64
	for i, n := range names {
		if v, ok := m[n]; ok {
			z[i] = math.Log(v)
		}
	}
	return z
}

// Tuning is the tuning of an engine on a generation of devices.
func (o *Overlay) Tuning(engine, generation string) replica.Tuning {
	p := o.Params(engine)
	if _, ok := p.Generation[generation]; !ok {
		if base, _, cut := strings.Cut(generation, "-"); cut {
			generation = base
		}
	}
	return p.Tuning(generation)
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
