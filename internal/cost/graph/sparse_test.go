package graph_test

import (
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// TestPaddedHeads: beside sparse latent attention stands what its kernels compute: 64 heads of latents for the 16 that a rank of
// DeepSeek-V3.2 has at TP 8, with the keys a query may choose or those it has, of the phases that run them. Dense attention has none.
func TestPaddedHeads(t *testing.T) {
	const rank, rope, most, layers = 512, 64, 2048, 61
	prompt, decode := graph.Segment{Requests: 2, Query: 1000, Seq: 1000}, graph.Segment{Requests: 8, Query: 1, Seq: 5000, Decode: true}
	pairs := float64(2 * 1000 * 1001 / 2)
	for _, c := range []struct {
		model  string
		sparse graph.Sparse
		batch  graph.Segment
		want   float64 // pairs of a query and a key
	}{
		{"deepseek-ai/DeepSeek-V3.2", graph.Sparse{}, prompt, 0},
		{"deepseek-ai/DeepSeek-V3.2", graph.Sparse{Heads: 64}, prompt, pairs},
		{"deepseek-ai/DeepSeek-V3.2", graph.Sparse{Heads: 64, Whole: true}, prompt, 2 * 1000 * most},
		{"deepseek-ai/DeepSeek-V3.2", graph.Sparse{Heads: 64, Dense: true}, prompt, 0},
		{"deepseek-ai/DeepSeek-V3.2", graph.Sparse{Heads: 64}, decode, 0},
		{"deepseek-ai/DeepSeek-V3.2", graph.Sparse{Heads: 64, Decode: true}, decode, 8 * most},
		{"deepseek-ai/DeepSeek-V3", graph.Sparse{Heads: 64, Decode: true}, decode, 0},
	} {
		s := plain(lookup(t, c.model))
		s.Layout, s.Sparse = parallel.Layout{Devices: 8, TP: 8}.Complete(s.Model), c.sparse
		g, err := graph.New(s)
		if err != nil {
			t.Fatal(err)
		}
		got := 0.0
		for _, it := range g.Append(nil, graph.Batch{Segments: []graph.Segment{c.batch}}) {
			if it.Op.Kind == op.Elementwise && it.Op.Name == op.LatentAttention {
				if !it.Beside {
					t.Error("computed after the attention itself")
				}
				got += it.Count * float64(it.Op.Matrix)
			}
		}
		if want := 2 * layers * c.want * 64 * (2*rank + rope); got != want {
			t.Errorf("%s, %+v: %g operations, want %g", c.model, c.sparse, got, want)
		}
	}
}
