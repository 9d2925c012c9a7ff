package tensorcast

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// TestFrontLoadedDeal: pairs go to experts one after another from the first on; rank 0
// holds the first ones.
func TestFrontLoadedDeal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		experts, topK := rapid.IntRange(1, 64).Draw(t, "experts"), rapid.IntRange(1, 8).Draw(t, "top-k")
		devices := 1 << rapid.IntRange(0, 5).Draw(t, "devices")
		m := &model.Model{Hidden: 64, Vocab: 100, Layers: []int{0}, Kinds: []model.Layer{{
			Attention: model.Attention{Kind: model.GQA, Heads: 64, KVHeads: 64, HeadDim: 8, ValueDim: 8, RopeDim: 8},
			FFN:       model.FFN{Kind: model.MoE, Experts: experts, TopK: topK, ExpertIntermediate: 1024},
			Norms:     2, Streams: 1,
		}}}
		deals := new(dealing)
		p := Policy()
		p.Rewriter = deals
		s := graph.Spec{Model: m, Policy: p, Compile: true}
		s.Layout = parallel.Layout{Devices: devices, DP: devices, EP: devices}.Complete(m)
		g, err := graph.New(s)
		if err != nil {
			t.Skip(err) // more ranks than experts
		}
		deals.rows = rapid.IntRange(1, 300).Draw(t, "rows")
		g.Append(nil, graph.Batch{Segments: []graph.Segment{{Requests: 1, Query: 1, Seq: 9, Decode: true}}})
		load := make([]int, experts)
		for pair := range deals.rows * topK {
			load[pair%experts]++
		}
		first, active := 0, 0
		for _, n := range load[:min(deals.local, experts)] {
			first += n
			active += min(n, 1)
		}
		r := &deals.got
		if r.Mine != float64(first) || r.Received != float64(first*devices) || r.Active != float64(active) {
			t.Errorf("want %d own rows on %d experts, %d received; got %+v", first, active, first*devices, r)
		}
		if r.many+r.few != float64(deals.local) || r.many*r.manyRows+r.few*r.fewRows != r.Received {
			t.Errorf("the two classes do not add up: %+v", r)
		}
	})
}

// dealing deals rows tokens to the experts of a step's first layer, and emits nothing.
type dealing struct {
	rows, local int
	got         routed
}

func (d *dealing) Parts(*graph.Spec) (all graph.Places, err error) {
	all.Add(graph.AtMoE)
	return all, nil
}

func (d *dealing) Rewrite(w *graph.Walk, p graph.Part) bool {
	d.local = int(p.Kind.Experts.Local)
	d.got = mixture{cast{w, frontLoaded}}.route(p.Kind, float64(d.rows))
	return true
}

// TestEveryPlaceHasItsPart: the table of parts covers the places of a graph.
func TestEveryPlaceHasItsPart(t *testing.T) {
	if len(parts) != int(graph.AtEnd)+1 {
		t.Errorf("%d parts for %d places", len(parts), graph.AtEnd+1)
	}
	for place, part := range parts {
		if part.when == nil || part.emit == nil {
			t.Errorf("place %d has no part", place)
		}
	}
}

// TestLostOrder: a collective in front of a fused sum and norm is loose, any other is not.
func TestLostOrder(t *testing.T) {
	item := func(n op.Name, k op.Kind) op.Item { return op.Item{Op: op.Op{Name: n, Kind: k}} }
	w := &graph.Walk{Items: []op.Item{
		item(op.ReduceAll, op.Collective), item(op.AddRMSNorm, op.Elementwise),
		item(op.ReduceAll, op.Collective), item(op.Add, op.Elementwise), item(op.AddRMSNormQuant, op.Elementwise),
	}}
	cast{Walk: w}.loseOrder(graph.Part{})
	for i, it := range w.Items {
		if it.Loose != (i == 0) {
			t.Errorf("item %d: loose %t", i, it.Loose)
		}
	}
}
