package graph

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

const expertWidth = 1024

// mixture is a small model with experts in every layer.
func mixture(experts, topK int) *model.Model {
	return &model.Model{
		ID: "mixture", Hidden: 64, Vocab: 100, MaxPosition: 128, Layers: []int{0, 0},
		Kinds: []model.Layer{{
			Attention: model.Attention{Kind: model.GQA, Heads: 64, KVHeads: 64, HeadDim: 8, ValueDim: 8, RopeDim: 8},
			FFN:       model.FFN{Kind: model.MoE, Experts: experts, TopK: topK, ExpertIntermediate: expertWidth},
			Norms:     2, Streams: 1,
		}},
	}
}

// sizes draws how a number of ranks is cut: TP × DP = EP × MoE-TP × MoE-DP, all
// powers of two.
func sizes(t *rapid.T) parallel.Layout {
	draw := func(name string, most int) int { return 1 << rapid.IntRange(0, most).Draw(t, name) }
	l := parallel.Layout{TP: draw("TP", 4), DP: draw("DP", 3), PP: 1, DCP: 1}
	l.Devices = l.TP * l.DP
	l.EP = draw("EP", int(math.Log2(float64(l.Devices))))
	l.MoEDP = draw("MoE-DP", int(math.Log2(float64(l.Devices/l.EP))))
	l.MoETP = l.Devices / l.EP / l.MoEDP
	return l
}

func anyWalk(t *rapid.T, p Policy, m *model.Model) *Walk {
	g, err := New(Spec{Model: m, Layout: sizes(t), Policy: p, Compile: true})
	if err != nil {
		t.Skip(err) // more ranks than experts
	}
	w := &Walk{g: g}
	w.measure(Batch{Segments: []Segment{{Requests: rapid.IntRange(1, 500).Draw(t, "requests"), Query: 1, Seq: 9, Decode: true}}})
	return w
}

// TestEveryTokenMeetsItsExperts: all devices together do the work of every pair
// of a token and an expert, once if the shares come out even.
func TestEveryTokenMeetsItsExperts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		topK := rapid.IntRange(1, 8).Draw(t, "top-k")
		w := anyWalk(t, Physical(), mixture(1<<rapid.IntRange(3, 8).Draw(t, "experts"), topK))
		l, k := &w.g.spec.Layout, &w.g.kinds[0]
		m := Mixture{w}.Meet()
		r := Mixture{w}.Dealt(k, m.Rows, float64(l.EP))
		even := k.Experts.dealt.Even(m.Rows * float64(l.EP))
		if r.Received < even {
			t.Errorf("%+v: the busiest rank gets %g of %g pairs", *l, r.Received, even)
		}
		done := even * k.Experts.Inner / expertWidth * float64(l.TP*l.DP)
		asked := w.Tokens * float64(l.DP*topK)
		if even := m.Padded == w.Tokens; done < asked*(1-1e-9) || even && done > asked*(1+1e-9) {
			t.Errorf("%+v: %g of %g expert rows are computed", *l, done, asked)
		}
		if r.Active > k.Experts.Local || r.Active > r.Received {
			t.Errorf("%g of %g experts receive %g pairs", r.Active, k.Experts.Local, r.Received)
		}
	})
}

// TestActiveExperts: one token wakes exactly the experts it chooses, many wake
// all, and more never fewer.
func TestActiveExperts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		experts := rapid.IntRange(1, 256).Draw(t, "experts")
		topK := rapid.IntRange(1, experts).Draw(t, "top-k")
		m := mixture(experts, topK)
		g, err := New(Spec{Model: m, Layout: parallel.Layout{}.Complete(m), Policy: Physical()})
		if err != nil {
			t.Fatal(err)
		}
		w := Walk{g: g}
		active := func(rows float64) float64 { return Mixture{&w}.Dealt(&g.kinds[0], rows, 1).Active }
		if got := active(1); math.Abs(got-float64(topK)) > 1e-6 {
			t.Errorf("one token: want %d experts, got %g", topK, got)
		}
		if got := active(1e12); math.Abs(got-float64(experts)) > 1e-6 {
			t.Errorf("many tokens: want %d experts, got %g", experts, got)
		}
		n := rapid.Float64Range(1, 5000).Draw(t, "rows")
		if active(n+1) < active(n) {
			t.Errorf("%g rows wake %g experts, one more %g", n, active(n), active(n+1))
		}
	})
}

// TestDispatch: a token goes once to each rank that has any of its experts, never
// more often than to its experts or than there are ranks; narrow on the way there
// where the experts compute so, wide on the way back.
func TestDispatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		topK := rapid.IntRange(1, 8).Draw(t, "top-k")
		w := anyWalk(t, Physical(), mixture(1<<rapid.IntRange(3, 8).Draw(t, "experts"), topK))
		w.g.spec.Quant = Quant{Base: dtype.BF16}
		if rapid.Bool().Draw(t, "fp8") {
			w.g.spec.Quant.Experts = dtype.Scheme{Weight: dtype.FP8, Activation: dtype.FP8}
		}
		w.Base, w.Count, w.reps = dtype.BF16, 1, 1
		k, ep := &w.g.kinds[0], float64(w.g.spec.Layout.EP)
		r := Mixture{w}.Dealt(k, 100, ep)
		visits := Mixture{w}.Visits(k, &r)
		if most := 100 * math.Min(ep-1, float64(topK)); visits > most*(1+1e-9) || visits < 0 || ep > 1 && visits == 0 {
			t.Errorf("%g visits of at most %g", visits, most)
		}
		if topK == 1 && math.Abs(visits-(r.Pairs-r.Mine)) > 1e-6 {
			t.Errorf("with one expert each: %g visits for %g pairs elsewhere", visits, r.Pairs-r.Mine)
		}
		back := Mixture{w}.Dispatch(k, &r)
		if ep == 1 {
			if back.Payload != 0 || len(w.Items) > 0 {
				t.Errorf("a single rank sends %v, %d operators", back, len(w.Items))
			}
			return
		}
		out := w.Items[len(w.Items)-1].Op
		width := 2.
		if r.Narrow {
			width = 1
		}
		if r.Narrow != w.g.spec.Quant.Experts.Quantized() || float64(out.Payload) != width*visits*k.Experts.Hidden || back.Payload != 2*visits*k.Experts.Hidden {
			t.Errorf("narrow %v: %v there, %v back, for %g visits", r.Narrow, out.Payload, back.Payload, visits)
		}
	})
}

// TestReplayedRows: a step has the rows of the smallest captured graph that holds it, and all of them choose experts.
func TestReplayedRows(t *testing.T) {
	m := mixture(128, 8)
	g, err := New(Spec{Model: m, Layout: parallel.Layout{}.Complete(m), Policy: Physical(), Replayed: 512})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := New(Spec{Model: m, Layout: parallel.Layout{}.Complete(m), Policy: Physical()})
	if err != nil {
		t.Fatal(err)
	}
	active := func(g *Graph, rows float64) float64 {
		w := Walk{g: g}
		return Mixture{&w}.Dealt(&g.kinds[0], rows, 1).Active
	}
	for rows, graph := range map[float64]float64{1: 1, 2: 2, 3: 4, 4: 4, 5: 8, 9: 16, 16: 16, 250: 256, 257: 272, 512: 512, 513: 513} {
		if got, want := active(g, rows), active(plain, graph); got != want {
			t.Errorf("%g rows wake %g experts, want the %g of %g", rows, got, want, graph)
		}
	}
}

// TestEvenExperts: where tokens choose all experts equally often, one is passed by if none of them chooses it.
func TestEvenExperts(t *testing.T) {
	m := mixture(128, 8)
	g, err := New(Spec{Model: m, Layout: parallel.Layout{}.Complete(m), Policy: Physical(), EvenExperts: true})
	if err != nil {
		t.Fatal(err)
	}
	w := Walk{g: g}
	for _, n := range []float64{1, 8, 16, 100} {
		if got, want := (Mixture{&w}).Dealt(&g.kinds[0], n, 1).Active, 128*(1-math.Pow(1-8./128, n)); math.Abs(got-want) > 1e-9 {
			t.Errorf("%g tokens wake %g experts, want %g", n, got, want)
		}
	}
}
