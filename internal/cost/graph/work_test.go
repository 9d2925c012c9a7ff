package graph_test

import (
	"math"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/compat/tensorcast"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

func lookup(t *testing.T, id string) *model.Model {
	t.Helper()
	m, err := model.Lookup(id)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// plain is a model on one device in bfloat16, without deviations.
func plain(m *model.Model) graph.Spec {
	disabled := graph.Actions{Linear: dtype.Disabled, Attention: dtype.Disabled}
	return graph.Spec{
		Model: m, Layout: parallel.Layout{}.Complete(m), Policy: graph.Physical(),
		Quant: graph.Resolve(m, graph.Physical(), disabled).Rebase(dtype.BF16), Compile: true,
	}
}

// TestProductsUseEveryWeightOnce: the products of a prefill are two operations
// for each token and each weight it uses, as package model counts them.
func TestProductsUseEveryWeightOnce(t *testing.T) {
	const tokens = 64
	for _, e := range model.IDs() {
		m := lookup(t, e.ID)
		for _, compile := range []bool{true, false} {
			s := plain(m)
			s.Compile = compile
			g, err := graph.New(s)
			if err != nil {
				t.Fatal(err)
			}
			got := 0.0
			for _, it := range g.Append(nil, graph.Batch{Segments: []graph.Segment{{Requests: 1, Query: tokens, Seq: tokens}}}) {
				switch o := &it.Op; o.Kind {
				case op.GEMM, op.GroupedGEMM:
					got += it.Count * float64(o.Work().Matrix)
				case op.Latent: // expands keys and values in the kernel
					got += it.Count * 2 * tokens * o.Rank * o.Heads * (o.HeadDim - o.Rope + o.ValueDim)
				default:
				}
			}
			p := m.Parameters()
			want := 2*tokens*(p.Attention+p.Dense+p.Experts-p.Idle+p.Shared+p.Router) + 2*float64(m.Vocab*m.Hidden)
			for i, k := range m.Facts().Kinds {
				if m.Kinds[i].Attention.Kind == model.Cross { // not for text
					want -= 2 * tokens * float64(k.Count) * float64(k.Parameters)
				}
			}
			// Biases of gpt-oss's experts count as theirs, gates of shared experts as small.
			if math.Abs(got/want-1) > 5e-4 {
				t.Errorf("%s compile=%t: want %.6g operations, got %.6g (%+.3f %%)", e.ID, compile, want, got, 100*(got/want-1))
			}
		}
	}
}

// TestPartsOfExpertsAreSummedOnce: ranks that hold the same tokens add up their
// slices of experts before they sum them, one by one or grouped.
func TestPartsOfExpertsAreSummedOnce(t *testing.T) {
	m := lookup(t, "Qwen/Qwen3-30B-A3B")
	s := plain(m)
	s.Layout = parallel.Layout{Devices: 4, TP: 4, EP: 1, MoETP: 4}.Complete(m)
	sums := func(compile bool) (n, payload float64) {
		s.Compile = compile
		g, err := graph.New(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range g.Append(nil, graph.Batch{Segments: []graph.Segment{{Requests: 16, Query: 1, Seq: 4096, Decode: true}}}) {
			if it.Op.Comm == op.AllReduce {
				n += it.Count
				payload += it.Count * float64(it.Op.Payload)
			}
		}
		return n, payload
	}
	eager, bytes := sums(false)
	compiled, want := sums(true)
	if eager != compiled || bytes != want {
		t.Errorf("eager sums %g times, %g bytes; compiled %g times, %g bytes", eager, bytes, compiled, want)
	}
	if least := 2 * float64(len(m.Layers)); compiled < least || compiled > least+1 { // and the embedding
		t.Errorf("%g sums in %d layers", compiled, len(m.Layers))
	}
}

func TestNewRefuses(t *testing.T) {
	dense, latent := lookup(t, "Qwen/Qwen3-8B"), lookup(t, "deepseek-ai/DeepSeek-V3")
	for _, c := range []struct {
		name   string
		change func(*graph.Spec)
		want   string
	}{
		{"no model", func(s *graph.Spec) { s.Model = nil }, "the model has no layers"},
		{"no layers", func(s *graph.Spec) { s.Model = &model.Model{} }, "the model has no layers"},
		{"no layout", func(s *graph.Spec) { s.Layout = parallel.Layout{} }, "num_devices must be between 1 and 32768, got 0"},
		{"heads", func(s *graph.Spec) {
			s.Layout = parallel.Layout{Devices: 3, TP: 3}.Complete(s.Model)
		}, "tp_size 3 does not divide the model's 32 attention heads"},
		{"shared experts", func(s *graph.Spec) { s.SharedExpertTP = true }, "shared_expert_tp needs ep_size above 1"},
		{"latent", func(s *graph.Spec) {
			*s = plain(latent)
			s.Policy = tensorcast.Policy()
			s.Quant.AttentionIn = dtype.INT8
		}, "quantized latent attention needs quantized linear layers, not bf16"},
	} {
		s := plain(dense)
		c.change(&s)
		if _, err := graph.New(s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want an error with %q, got %v", c.name, c.want, err)
		}
	}
	if _, err := graph.New(plain(dense)); err != nil {
		t.Error(err)
	}
}

// TestPrefillOfOneToken: speculation is verified in decode steps only, so a
// prefill reads no positions from the host.
func TestPrefillOfOneToken(t *testing.T) {
	s := plain(lookup(t, "deepseek-ai/DeepSeek-V3"))
	s.MTP = 1
	g, err := graph.New(s)
	if err != nil {
		t.Fatal(err)
	}
	puts := func(query int, decode bool) (n float64) {
		for _, it := range g.Append(nil, graph.Batch{Segments: []graph.Segment{{Requests: 3, Query: query, Seq: 9, Decode: decode}}}) {
			if it.Op.Name == op.DevicePut {
				n += it.Count
			}
		}
		return n
	}
	if puts(1, false) != 0 || puts(2, false) != 0 || puts(2, true) != 2 {
		t.Errorf("prefill of one %g, of two %g; decode %g", puts(1, false), puts(2, false), puts(2, true))
	}
}

// TestBiasWork: adding a bias costs the same behind narrow weights; TensorCast
// counts it there alone.
func TestBiasWork(t *testing.T) {
	m := lookup(t, "Qwen/Qwen2.5-7B")
	work := func(p graph.Policy, linear dtype.Action) (n float64) {
		s := plain(m)
		s.Policy, s.Quant = p, graph.Resolve(m, p, graph.Actions{Linear: linear})
		g, err := graph.New(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range g.Append(nil, graph.Batch{Segments: []graph.Segment{{Requests: 1, Query: 10, Seq: 10}}}) {
			if it.Op.Kind == op.GEMM {
				n += it.Count * float64(it.Op.Vector)
			}
		}
		return n
	}
	const all = 10 * 28 * (28 + 2*4) * 128 // tokens, layers, heads, their width
	for _, c := range []struct {
		policy graph.Policy
		action dtype.Action
		want   float64
	}{
		{graph.Physical(), dtype.Disabled, all},
		{graph.Physical(), dtype.W8A16Dynamic, all},
		{tensorcast.Policy(), dtype.Disabled, 0},
		{tensorcast.Policy(), dtype.W8A16Dynamic, all},
	} {
		if got := work(c.policy, c.action); got != c.want {
			t.Errorf("%s, %s: want %g operations, got %g", c.policy.Name, c.action, c.want, got)
		}
	}
}

func TestResolve(t *testing.T) {
	fp8 := lookup(t, "deepseek-ai/DeepSeek-V3") // block-quantized, bfloat16 elsewhere
	own := fp8.Quant
	for _, c := range []struct {
		name      string
		policy    graph.Policy
		actions   graph.Actions
		attention string
		experts   string
		kv        dtype.Format
	}{
		{"the checkpoint's own", graph.Physical(), graph.Actions{}, own.Attention.Name(), own.Experts.Name(), dtype.BF16},
		{"auto", graph.Physical(), graph.Actions{Linear: dtype.Auto, Attention: dtype.Auto}, own.Attention.Name(), own.Experts.Name(), dtype.BF16},
		{"disabled", graph.Physical(), graph.Actions{Linear: dtype.Disabled}, "bf16", "bf16", dtype.BF16},
		{"half precision", tensorcast.Policy(), graph.Actions{Linear: dtype.Disabled}, "f16", "f16", dtype.F16},
		{"int8", graph.Physical(), graph.Actions{Linear: dtype.W8A8Dynamic, Attention: dtype.AttentionInt8}, "w8a8 int8", "w8a8 int8", dtype.INT8},
		{"other experts", graph.Physical(), graph.Actions{Linear: dtype.W4A8Dynamic, NonExpert: dtype.W8A8Dynamic}, "w8a8 int8", "w4a8 int4", dtype.BF16},
		{"own but experts", graph.Physical(), graph.Actions{Linear: dtype.W4A8Dynamic, NonExpert: dtype.Auto}, own.Attention.Name(), "w4a8 int4", dtype.BF16},
		{"no override", graph.Physical(), graph.Actions{Linear: dtype.W4A8Dynamic, NonExpert: dtype.Disabled}, "w4a8 int4", "w4a8 int4", dtype.BF16},
	} {
		q := graph.Resolve(fp8, c.policy, c.actions)
		if q.Attention.Name() != c.attention || q.Experts.Name() != c.experts || q.KV != c.kv {
			t.Errorf("%s: want %s, %s, KV %v; got %s, %s, KV %v", c.name,
				c.attention, c.experts, c.kv, q.Attention.Name(), q.Experts.Name(), q.KV)
		}
	}
}
