package step_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// rounding is how far two sums of the same thing in another order may differ.
const rounding = 1e-9

// a change makes a point harder or easier in one respect.
type change struct {
	name string
	make func(t *rapid.T, p *point)
}

// grow draws a factor above one.
func grow(t *rapid.T) float64 { return rapid.Float64Range(1.01, 8).Draw(t, "factor") }

// segment draws one segment of the batch.
func segment(t *rapid.T, p *point) int {
	return rapid.IntRange(0, len(p.batch.Segments)-1).Draw(t, "segment")
}

// linear puts every linear layer into one scheme.
func linear(p *point, s dtype.Scheme) {
	q := &p.spec.Quant
	q.Attention, q.Dense, q.Experts, q.Shared, q.Head = s, s, s, s, s
}

// short is the length from which the end of a prompt runs prefill kernels, as
// graph has it. Latent attention is a little cheaper there, so that a prompt of six
// tokens may be faster than one of five.
const short = 6

// TestMoreWorkIsNeverFaster holds a step to what it is asked: nothing that adds
// work may shorten it.
func TestMoreWorkIsNeverFaster(t *testing.T) {
	for _, c := range []change{
		{"requests", func(t *rapid.T, p *point) {
			p.batch.Segments[segment(t, p)].Requests += rapid.IntRange(1, 300).Draw(t, "more")
		}},
		{"context", func(t *rapid.T, p *point) {
			p.batch.Segments[segment(t, p)].Seq += rapid.IntRange(1, 50_000).Draw(t, "more")
		}},
		{"query", func(t *rapid.T, p *point) {
			s, n := &p.batch.Segments[segment(t, p)], rapid.IntRange(1, 2000).Draw(t, "more")
			if !s.Decode && s.Query < short {
				n = min(n, short-1-s.Query)
			}
			s.Query, s.Seq = s.Query+n, s.Seq+n
		}},
		{"layers", func(t *rapid.T, p *point) {
			m := p.spec.Model
			m.Layers = slices.Insert(m.Layers, 0, rapid.IntRange(0, len(m.Kinds)-1).Draw(t, "kind"))
		}},
		{"predicted tokens", func(_ *rapid.T, p *point) { p.spec.MTP++ }},
		{"no fusion", func(_ *rapid.T, p *point) { p.spec.Compile = false }},
		{"wider cache", func(_ *rapid.T, p *point) { p.spec.Quant.KV = p.spec.Quant.Base }},
		{"wider weights", func(_ *rapid.T, p *point) { linear(p, dtype.Unquantized(p.spec.Quant.Base)) }},
	} {
		t.Run(c.name, rapid.MakeCheck(func(t *rapid.T) {
			p := physical(t)
			switch q := &p.spec.Quant; c.name {
			case "no fusion":
				p.spec.Compile = true
			case "wider cache": // stored narrow, computed in the base format
				q.AttentionIn, q.KV = q.Base, dtype.FP8
			case "wider weights":
				linear(p, dtype.Scheme{Weight: dtype.INT8, Activation: q.Base})
			}
			q := p.copy()
			c.make(t, q)
			if was, is := p.time(t), q.time(t); is < was*(1-rounding) {
				t.Errorf("more work takes %v, less took %v", is, was)
			}
		}))
	}
}

// TestBetterDeviceIsNeverSlower holds a step to its device: nothing that
// improves the device may lengthen it.
func TestBetterDeviceIsNeverSlower(t *testing.T) {
	faster := func(t *rapid.T, rates *[dtype.Formats]units.OpsPerSecond) {
		f := rapid.IntRange(int(dtype.F32), int(dtype.Formats)-1).Draw(t, "format")
		rates[f] *= units.OpsPerSecond(grow(t))
	}
	link := func(t *rapid.T, p *point) int { return rapid.IntRange(0, len(p.device.Links)-1).Draw(t, "link") }
	for _, c := range []change{
		{"matrix peak", func(t *rapid.T, p *point) { faster(t, &p.device.Matrix) }},
		{"vector peak", func(t *rapid.T, p *point) { faster(t, &p.device.Vector) }},
		{"bandwidth", func(t *rapid.T, p *point) { p.device.Bandwidth *= units.BytesPerSecond(grow(t)) }},
		{"compute efficiency", func(t *rapid.T, p *point) {
			p.device.ComputeEfficiency = rapid.Float64Range(p.device.ComputeEfficiency, 1).Draw(t, "efficiency")
		}},
		{"memory efficiency", func(t *rapid.T, p *point) {
			p.device.MemoryEfficiency = rapid.Float64Range(p.device.MemoryEfficiency, 1).Draw(t, "efficiency")
		}},
		{"matrix launch", func(t *rapid.T, p *point) { p.device.Fixed.Matrix /= units.Seconds(grow(t)) }},
		{"vector launch", func(t *rapid.T, p *point) { p.device.Fixed.Vector /= units.Seconds(grow(t)) }},
		{"communication launch", func(t *rapid.T, p *point) { p.device.Fixed.Communication /= units.Seconds(grow(t)) }},
		{"link bandwidth", func(t *rapid.T, p *point) {
			p.device.Links[link(t, p)].Bandwidth *= units.BytesPerSecond(grow(t))
		}},
		{"link latency", func(t *rapid.T, p *point) { p.device.Links[link(t, p)].Latency /= units.Seconds(grow(t)) }},
		{"link efficiency", func(t *rapid.T, p *point) {
			l := &p.device.Links[link(t, p)]
			l.Efficiency = rapid.Float64Range(l.Efficiency, 1).Draw(t, "efficiency")
		}},
	} {
		t.Run(c.name, rapid.MakeCheck(func(t *rapid.T) {
			p := physical(t)
			if len(p.device.Links) == 0 {
				t.Skip("a device without links")
			}
			q := p.copy()
			c.make(t, q)
			if was, is := p.time(t), q.time(t); is > was*(1+rounding) {
				t.Errorf("the better device takes %v, the other took %v", is, was)
			}
		}))
	}
}
