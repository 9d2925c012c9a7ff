package step_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/memory"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// TestMemoryGrows: what a step keeps grows with requests, lengths and predicted
// tokens.
func TestMemoryGrows(t *testing.T) {
	for _, c := range []change{
		{"requests", func(t *rapid.T, p *point) { p.batch.Segments[segment(t, p)].Requests++ }},
		{"context", func(t *rapid.T, p *point) {
			p.batch.Segments[segment(t, p)].Seq += rapid.IntRange(1, 5000).Draw(t, "more")
		}},
		{"query", func(t *rapid.T, p *point) {
			s := &p.batch.Segments[segment(t, p)]
			s.Query, s.Seq = s.Query+1, s.Seq+1
		}},
		{"predicted tokens", func(_ *rapid.T, p *point) { p.spec.MTP++ }},
		{"layers", func(t *rapid.T, p *point) {
			if p.spec.Layout.PP > 1 {
				t.Skip("stages of other layers may be smaller")
			}
			m := p.spec.Model
			m.Layers = slices.Insert(m.Layers, 0, rapid.IntRange(0, len(m.Kinds)-1).Draw(t, "kind"))
		}},
	} {
		t.Run(c.name, rapid.MakeCheck(func(t *rapid.T) {
			p := anyPolicy(t)
			q := p.copy()
			c.make(t, q)
			was := memory.New(&p.spec).Use(p.batch, 0, 0)
			is := memory.New(&q.spec).Use(q.batch, 0, 0)
			for _, part := range []struct {
				name    string
				was, is units.Bytes
			}{
				{"weights", was.Weights, is.Weights}, {"KV", was.KV, is.KV}, {"activation", was.Activation, is.Activation},
			} {
				if part.is < part.was*(1-rounding) {
					t.Errorf("%s shrinks from %v to %v", part.name, part.was, part.is)
				}
			}
			if is.Available > was.Available*(1-rounding) {
				t.Errorf("available grows from %v to %v", was.Available, is.Available)
			}
		}))
	}
}

// TestNothingIsLostOnTheWay: the devices of a layout together hold at least what
// one device would.
func TestNothingIsLostOnTheWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyPolicy(t)
		p.spec.SharedExpertTP = false
		one := p.copy()
		one.spec.Layout = parallel.Layout{}.Complete(p.spec.Model)
		n := units.Bytes(p.spec.Layout.Devices)
		cut, whole := memory.New(&p.spec), memory.New(&one.spec)
		if all, want := n*cut.Weights(), whole.Weights(); all < want*(1-rounding) {
			t.Errorf("weights: %v over all devices, %v on one", all, want)
		}
		if all, want := n*cut.KV(p.batch), whole.KV(p.batch); all < want*(1-rounding) {
			t.Errorf("KV: %v over all devices, %v on one", all, want)
		}
		if all, want := n*cut.BytesPerToken(0), whole.BytesPerToken(0); all < want*(1-rounding) {
			t.Errorf("KV of a token: %v over all devices, %v on one", all, want)
		}
	})
}
