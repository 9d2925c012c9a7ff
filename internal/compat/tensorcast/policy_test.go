package tensorcast_test

import (
	"math/bits"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/compat/tensorcast"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// TestDeviationsAreThePolicy: every field of a policy is one deviation, TensorCast
// repeats them all and Physical none.
func TestDeviationsAreThePolicy(t *testing.T) {
	p := tensorcast.Policy()
	names := map[string]bool{}
	for _, a := range tensorcast.Deviations() {
		if names[a.Name] || a.Name != strings.ToLower(a.Name) || a.Doc == "" {
			t.Errorf("deviation %q: not a new, documented, lower-case name", a.Name)
		}
		names[a.Name] = true
		if !a.In(p) {
			t.Errorf("%s takes back what another deviation does, or nothing", a.Name)
		}
		if a.In(graph.Physical()) {
			t.Errorf("physical repeats %s", a.Name)
		}
		was := p
		p = a.Without(p)
		if n := differences(was, p); n != 1 {
			t.Errorf("%s takes back %d things", a.Name, n)
		}
	}
	if p.Choices != graph.Physical().Choices || reflect.ValueOf(p.Rewriter).Uint() != 0 {
		t.Errorf("TensorCast without its deviations: got %+v", p)
	}
}

// differences counts the choices and forms in which two policies differ.
func differences(a, b graph.Policy) int {
	n := bits.OnesCount64(reflect.ValueOf(a.Rewriter).Uint() ^ reflect.ValueOf(b.Rewriter).Uint())
	x, y := reflect.ValueOf(a.Choices), reflect.ValueOf(b.Choices)
	for i := range x.NumField() {
		if !x.Field(i).Equal(y.Field(i)) {
			n++
		}
	}
	return n
}

// step is the operators of a decode step under TensorCast but for one deviation.
func step(t *testing.T, s graph.Spec, without string) []op.Item {
	t.Helper()
	for _, a := range tensorcast.Deviations() {
		if a.Name == without {
			s = a.From(s)
		}
	}
	g, err := graph.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return g.Append(nil, graph.Batch{Segments: []graph.Segment{{Requests: 7, Query: 1, Seq: 1000, Decode: true}}})
}

// count is how often operators of a name are called.
func count(items []op.Item, name op.Name) float64 {
	n := 0.0
	for i := range items {
		if items[i].Op.Name == name {
			n += items[i].Count
		}
	}
	return n
}

func tensorCast(t *testing.T, id string, l parallel.Layout) graph.Spec {
	t.Helper()
	m, err := model.Lookup(id)
	if err != nil {
		t.Fatal(err)
	}
	p := tensorcast.Policy()
	return graph.Spec{
		Model: m, Layout: l.Complete(m), Policy: p, Compile: true,
		Quant: graph.Resolve(m, p, graph.Actions{Linear: dtype.W8A8Dynamic, Attention: dtype.Disabled}),
	}
}

// TestOneDeviationOneThing: each of those that once came together changes its own
// operators and leaves the others'.
func TestOneDeviationOneThing(t *testing.T) {
	const joins, router, pads = op.Cat, op.Div, op.Pad
	// A part of each head is rotated, and seven tokens do not divide by two ranks.
	s := tensorCast(t, "zai-org/GLM-4.5-Air", parallel.Layout{Devices: 8, TP: 2, EP: 8})
	all := step(t, s, "")
	for _, name := range []op.Name{joins, router, pads} {
		if count(all, name) == 0 {
			t.Fatalf("TensorCast has no %v", name)
		}
	}
	for _, c := range []struct {
		without string
		fewer   []op.Name
	}{
		{"joined-rope", []op.Name{joins}},
		{"fragmented-router", []op.Name{router, joins}}, // the experts' results are joined too
		{"padded-tokens", []op.Name{pads}},
		{"unquantized-head", nil}, // no action quantizes it
		{"half-precision", nil},
		{"vision-on-demand", nil},
	} {
		items := step(t, s, c.without)
		for _, name := range []op.Name{joins, router, pads} {
			fewer := count(items, name) < count(all, name)
			if fewer != slices.Contains(c.fewer, name) {
				t.Errorf("without %s: %g of %v, before %g", c.without, count(items, name), name, count(all, name))
			}
		}
	}
}

// TestFormatsByDeviation: a quantized head and the base format are each their own
// deviation.
func TestFormatsByDeviation(t *testing.T) {
	s := tensorCast(t, "Qwen/Qwen3-8B", parallel.Layout{})
	s.Quant.Head = dtype.Scheme{Weight: dtype.INT8, Activation: dtype.INT8}
	head := func(items []op.Item) dtype.Format {
		var f dtype.Format
		for i := range items {
			if o := &items[i].Op; o.Kind == op.GEMM && o.Cols == float64(s.Model.Vocab) {
				f = o.Weight
			}
		}
		return f
	}
	base := func(items []op.Item) dtype.Format { return items[0].Op.In }
	for _, c := range []struct {
		without    string
		head, base dtype.Format
	}{
		{"", dtype.F16, dtype.F16},
		{"half-precision", dtype.BF16, dtype.BF16},
		{"unquantized-head", dtype.INT8, dtype.F16},
	} {
		items := step(t, s, c.without)
		if h, b := head(items), base(items); h != c.head || b != c.base {
			t.Errorf("without %q: head %s, base %s; want %s, %s", c.without, h, b, c.head, c.base)
		}
	}
}

// TestVisionByDeviation: under TensorCast an image tower is loaded with images, and
// otherwise with its model.
func TestVisionByDeviation(t *testing.T) {
	s := tensorCast(t, "Qwen/Qwen2.5-VL-7B-Instruct", parallel.Layout{})
	for _, a := range tensorcast.Deviations() {
		if got, want := a.From(s).Vision, a.Name == "vision-on-demand"; got != want {
			t.Errorf("without %s: loaded %t", a.Name, got)
		}
	}
	physical, plain := graph.Physical(), tensorCast(t, "Qwen/Qwen3-8B", parallel.Layout{})
	if !physical.LoadsVision(s.Model, false) || physical.LoadsVision(plain.Model, false) {
		t.Error("physical: a tower is loaded where there is one")
	}
}

// TestDeviationsOfFamilies: those that only some models show have operators of their
// own, which go when they are taken back.
func TestDeviationsOfFamilies(t *testing.T) {
	alone, two := parallel.Layout{}, parallel.Layout{Devices: 2, TP: 2}
	sliced := parallel.Layout{Devices: 4, TP: 2, EP: 4}
	for _, c := range []struct {
		deviation, model string
		layout           parallel.Layout
		change           func(*graph.Spec)
		own              op.Name
	}{
		{"epsilon-bound-norms", "meta-llama/Meta-Llama-3.1-8B", alone, nil, op.RMSNorm},
		{"traced-norms", "Qwen/Qwen3.5-27B", alone, nil, op.Rsqrt},
		{"traced-rope", "zai-org/GLM-4.5-Air", alone, nil, op.Neg},
		{"traced-gates", "Qwen/Qwen3.5-27B", alone, nil, op.Sigmoid},
		{"own-choices", "deepseek-ai/DeepSeek-V3.2", alone, nil, op.SparseLatentAttention},
		{"fused-indexer", "zai-org/GLM-5", alone, nil, op.FusedIndexer},
		{"wide-delta-rule", "Qwen/Qwen3.5-27B", alone, nil, op.DeltaSteps},
		{"opaque-linear-attention", "Qwen/Qwen3-Next-80B-A3B-Instruct", alone, func(s *graph.Spec) { s.Compile = false }, op.LinearAttention},
		{"narrowing-experts", "Qwen/Qwen3-30B-A3B", alone, mxfp4, op.GroupedMatMulFP4SwiGLUQuant},
		{"pairwise-combine", "Qwen/Qwen3-30B-A3B", parallel.Layout{Devices: 4, EP: 4}, func(s *graph.Spec) { s.DispatchCombine = true }, op.DispatchCombineQuant},
		{"traced-context", "Qwen/Qwen3-32B", parallel.Layout{Devices: 2, TP: 2, DCP: 2}, nil, op.Convert},
		{"traced-compression", "deepseek-ai/DeepSeek-V4-Flash", alone, nil, op.Compressor},
		{"traced-streams", "deepseek-ai/DeepSeek-V4-Flash", alone, nil, op.StreamPost},
		{"fragmented-router", "deepseek-ai/DeepSeek-V3.2", sliced, nil, op.Scatter},
		{"fragmented-router", "MiniMaxAI/MiniMax-M2", sliced, nil, op.Gather},
		{"fragmented-router", "deepseek-ai/DeepSeek-V4-Flash", alone, nil, op.HashTopK},
	} {
		s := tensorCast(t, c.model, c.layout)
		if c.change != nil {
			c.change(&s)
		}
		with, without := count(step(t, s, ""), c.own), count(step(t, s, c.deviation), c.own)
		if c.own == op.RMSNorm {
			without-- // in front of the head
		}
		if with == 0 || without != 0 {
			t.Errorf("%s, %s: %g of %v, without it %g", c.model, c.deviation, with, c.own, without)
		}
		s.Policy = graph.Physical()
		if n := count(step(t, s, ""), c.own); n != 0 && c.own != op.RMSNorm {
			t.Errorf("%s, physical: %g of %v", c.model, n, c.own)
		}
	}
	whole := tensorCast(t, "MiniMaxAI/MiniMax-M2", two)
	stated := deviation(t, "whole-rope").From(whole)
	if wide, part := whole.RotaryWidth(), stated.RotaryWidth(); wide != 128 || part != 64 {
		t.Errorf("MiniMax-M2 rotates %g of 128, with the deviation %g", part, wide)
	}
}

// TestSquaresOverRanks: norms over all heads cost an all-reduce of two float32 for each token and layer, none on one rank.
func TestSquaresOverRanks(t *testing.T) {
	for tp, sums := range map[int]float64{1: 0, 2: 62, 4: 62} {
		s := tensorCast(t, "MiniMaxAI/MiniMax-M2", parallel.Layout{Devices: tp, TP: tp})
		with, without := count(step(t, s, "local-norms"), op.ReduceAll), count(step(t, s, ""), op.ReduceAll)
		if with-without != sums {
			t.Errorf("TP %d: %g all-reduces of squares, want %g", tp, with-without, sums)
		}
	}
}

// TestFusedSharedExpert: a shared expert among the others is one more of them that every token chooses, and no product of its own;
// with expert parallelism, and where it is another format or width, it stays apart.
func TestFusedSharedExpert(t *testing.T) {
	products := func(s graph.Spec, fused bool) (dense, rows, experts float64) {
		s.FusesShared = fused
		for _, it := range step(t, s, "") {
			if it.Op.Kind == op.GEMM {
				dense += it.Count
			}
			if it.Op.Kind == op.GroupedGEMM {
				rows, experts = it.Op.Rows, it.Op.Experts
			}
		}
		return dense, rows, experts
	}
	for _, c := range []struct {
		model string
		ep    int
		fuses bool
	}{{"deepseek-ai/DeepSeek-V3", 1, true}, {"deepseek-ai/DeepSeek-V3", 2, false}, {"Qwen/Qwen3.5-397B-A17B", 1, false}} {
		s := tensorCast(t, c.model, parallel.Layout{Devices: 2, TP: 2, EP: c.ep})
		s.Policy = graph.Physical()
		dense, rows, experts := products(s, false)
		fused, more, one := products(s, true)
		layers := 0.0
		if c.fuses {
			layers = 58
		}
		if dense-fused != 2*layers || (more > rows) != c.fuses || (one == experts+1) != c.fuses {
			t.Errorf("%s, EP %d: %g dense products and %g rows over %g experts, fused %g, %g and %g", c.model, c.ep, dense, rows, experts, fused, more, one)
		}
	}
}

// deviation finds one by its name.
func deviation(t *testing.T, name string) *tensorcast.Deviation {
	t.Helper()
	for _, a := range tensorcast.Deviations() {
		if a.Name == name {
			return &a
		}
	}
	t.Fatalf("no deviation %s", name)
	return nil
}

func mxfp4(s *graph.Spec) {
	s.Quant = graph.Resolve(s.Model, s.Policy, graph.Actions{Linear: dtype.MXFP4Action, Attention: dtype.Disabled})
}
