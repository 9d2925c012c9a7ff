package deployment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
)

// Assumption is a setting from a preset, for the workers of a role.
type Assumption struct {
	Role Role `json:"role"`
	engine.Drawn
}

// Assume fills unset settings of every pool from a preset. The load is
// the requests of a data-parallel rank of a pool; nil is unknown.
func (d *Deployment) Assume(s *engine.Preset, base *Base, load func(*Pool) float64) ([]Assumption, error) {
	var out []Assumption
	d.Pools = slices.Clone(d.Pools)
	for i := range d.Pools {
		p := &d.Pools[i]
		own, err := d.own(base, p)
		if err != nil {
			return nil, err
		}
		e, err := own.Engine.With(d.Engine.Settings...)
		if err != nil {
			return nil, err
		}
		l := p.Layout.Complete(own.Model)
		at := engine.Place{
			Role: string(p.Role), Generation: own.Device.Generation, Narrow: d.narrow(own, p), Ranks: l.DP,
			Recurrent: engine.Classify(own.Model) == engine.Linear, Release: d.Engine.Version,
			Given: func(key string) bool { return d.Gives(p, key) },
		}
		if load != nil {
			at.Batch = load(p)
		}
		var settings []string
		for _, drawn := range s.For(e.On(own.Device, own.use(p, &l, p.MTP)), at) {
			out = append(out, Assumption{p.Role, drawn})
			if drawn.Value != "" {
				settings = append(settings, drawn.Key+"="+drawn.Value)
			}
		}
		p.Settings = slices.Concat(p.Settings, settings)
	}
	return out, nil
}

// narrow reports whether a pool's weights have 8 or 4 bits: those of the conversion, or
// of the model's own checkpoint.
func (d *Deployment) narrow(b *Base, p *Pool) bool {
	if f := d.formats(p); f.Checkpoint != "" {
		return f.Checkpoint == "fp8" || f.Checkpoint == "fp4"
	}
	w := b.spec.Quant.Dense.Weight
	if b.Model.HasExperts() {
		w = b.spec.Quant.Experts.Weight
	}
	return w == dtype.FP8 || w == dtype.FP4
}

// Gives reports whether the deployment sets a setting of a pool.
func (d *Deployment) Gives(p *Pool, key string) bool {
	set := func(s string) bool { k, _, _ := strings.Cut(s, "="); return Key(k) == key }
	switch {
	case slices.ContainsFunc(d.Engine.Settings, set), slices.ContainsFunc(p.Settings, set):
		return true
	case key == "mtp.tokens":
		return p.MTP > 0
	case key != "kv_format":
		return false
	}
	f := d.formats(p)
	return f.KV != "" || f.Attention != "" && f.Attention != dtype.Auto
}

// Key is the key of a setting however it is written.
func Key(text string) string { return strings.ReplaceAll(strings.TrimSpace(text), "-", "_") }

// preset applies the preset that the deployment names, and notes what it sets.
func (d *Deployment) preset(base *Base, out *Resolved) (*Deployment, error) {
	switch {
	case d.Engine.Preset == "":
		return d, nil
	case base.Engine == nil:
		return nil, field.Errorf("%s %s needs %s", field.Name("engine_preset"), d.Engine.Preset, field.Name("engine"))
	}
	s, err := base.Engine.Preset(d.Engine.Preset)
	if err != nil {
		return nil, err
	}
	with := *d
	if out.Assumed, err = with.Assume(s, base, nil); err != nil {
		return nil, err
	}
	var words []string
	for _, a := range out.Assumed {
		word := a.Key + "=" + a.Value
		if a.Role != Both {
			word += " (" + string(a.Role) + ")"
		}
		if a.Value != "" {
			words = append(words, word)
		}
	}
	if words == nil {
		words = []string{"nothing is set for this deployment"}
	}
	out.Notes = append(slices.Clip(out.Notes), fmt.Sprintf("preset %s (%s): %s", s.Name, s.Source, strings.Join(words, ", ")))
	return &with, nil
}
