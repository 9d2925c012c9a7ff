package step_test

import (
	"math"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/compat/tensorcast"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// served is a model as it is commonly deployed on Ascend A3 dies: decode steps
// of 32 requests a rank behind 4096 cached tokens.
func served(name string) point {
	_, byID := models()
	m, l := byID["Qwen/Qwen3-32B"], parallel.Layout{Devices: 8, TP: 8}
	if name == "DeepSeek-V3" {
		m, l = byID["deepseek-ai/DeepSeek-V3"], parallel.Layout{Devices: 16, EP: 16}
	}
	policy := tensorcast.Policy()
	return point{
		spec: graph.Spec{
			Model: m, Layout: l.Complete(m), Policy: policy, Compile: true,
			Quant: graph.Resolve(m, policy, graph.Actions{Linear: dtype.W8A8Dynamic, Attention: dtype.Disabled}),
		},
		batch:  graph.Batch{Segments: []graph.Segment{{Requests: 32, Query: 1, Seq: 4097, Decode: true}}},
		device: profiles()["ATLAS_800_A3_752T_128G_DIE"],
	}
}

// TestTotalsAllocatesNothing, whatever kinds of layers a model has.
func TestTotalsAllocatesNothing(t *testing.T) {
	families, byID := models()
	for _, ids := range families {
		for _, policy := range []graph.Policy{tensorcast.Policy(), graph.Physical()} {
			m := byID[ids[0]]
			p := served("DeepSeek-V3")
			p.spec = graph.Spec{
				Model: m, Layout: parallel.Layout{Devices: 2}.Complete(m), Policy: policy,
				Quant: graph.Resolve(m, policy, graph.Actions{}), Compile: true, MTP: 1,
			}
			e := p.evaluator(t)
			e.Totals(p.batch) // makes room for the operators
			if n := testing.AllocsPerRun(10, func() { e.Totals(p.batch) }); n != 0 {
				t.Errorf("%s, policy %s: %g allocations", m.ID, policy.Name, n)
			}
		}
	}
}

// TestStreams: a second stream hides shared experts behind the exchange of
// tokens. Where one of the two is missing it hides nothing.
func TestStreams(t *testing.T) {
	physical := func(name string) point {
		p := served(name)
		p.spec.Policy = graph.Physical()
		return p
	}
	deepseek, qwen := physical("DeepSeek-V3"), physical("Qwen3-32B")
	alone := physical("DeepSeek-V3")
	alone.spec.Layout = parallel.Layout{}.Complete(alone.spec.Model)
	hidden := func(p *point) units.Seconds { return p.evaluator(t).Evaluate(p.batch, true).Hidden }
	if hidden(&qwen) != 0 || hidden(&alone) != 0 {
		t.Errorf("dense: %v hidden; one device: %v", hidden(&qwen), hidden(&alone))
	}
	var shared units.Seconds
	r := deepseek.evaluator(t).Evaluate(deepseek.batch, true)
	for i, it := range r.Items {
		if it.Branch == 1 {
			shared += r.Costs[i].Total * units.Seconds(it.Count)
		}
	}
	if r.Hidden <= 0 || r.Hidden > shared*(1+rounding) {
		t.Errorf("%v hidden of %v of shared experts", r.Hidden, shared)
	}
}

// TestStreamsByTokens: under TensorCast a second stream hides what feeds a collective
// behind one that nothing waits for: in a dense layer the product behind the
// activation, in one with experts the joining of their results.
func TestStreamsByTokens(t *testing.T) {
	for name, want := range map[string]op.Name{"Qwen3-32B": op.QuantLinear, "DeepSeek-V3": op.Cat} {
		p := served(name)
		r := p.evaluator(t).Evaluate(p.batch, true)
		var early units.Seconds
		for i, it := range r.Items {
			if it.Op.Name == want && i+1 < len(r.Items) && r.Items[i+1].Op.Kind == op.Collective && it.Op.Depth != 8*128 {
				early += r.Costs[i].Total * units.Seconds(it.Count)
			}
		}
		if early == 0 || math.Abs(float64(r.Hidden/early)-1) > rounding {
			t.Errorf("%s: %v hidden, want %v", name, r.Hidden, early)
		}
	}
	alone := served("DeepSeek-V3")
	alone.spec.Layout = parallel.Layout{}.Complete(alone.spec.Model)
	if r := alone.evaluator(t).Evaluate(alone.batch, true); r.Hidden != 0 {
		t.Errorf("one device: %v hidden", r.Hidden)
	}
}

func BenchmarkTotals(b *testing.B) {
	for _, name := range []string{"Qwen3-32B", "DeepSeek-V3"} {
		b.Run("model="+name+"/phase=decode", func(b *testing.B) {
			p := served(name)
			e := p.evaluator(b)
			b.ReportAllocs()
			for b.Loop() {
				e.Totals(p.batch)
			}
		})
	}
}

func BenchmarkGraphNew(b *testing.B) {
	for _, name := range []string{"Qwen3-32B", "DeepSeek-V3"} {
		b.Run("model="+name, func(b *testing.B) {
			p := served(name)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := graph.New(p.spec); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkTimes prices steps of counts seen before, as a simulation mostly does.
func BenchmarkTimes(b *testing.B) {
	for _, id := range []string{"Qwen/Qwen3-32B", "openai/gpt-oss-120b", "Qwen/Qwen3.5-397B-A17B", "deepseek-ai/DeepSeek-V3.2"} {
		_, byID := models()
		g, prices := gpu(b, graph.Spec{Model: byID[id], Layout: parallel.Layout{Devices: 8, TP: 8}}, "h200_sxm")
		c := step.NewCurve(g, prices)
		for name, s := range map[string]*graph.Sums{
			"decode": {Decode: op.Equal(37, 1, 3000)},
			"mixed":  {Prefill: op.Equal(2, 700, 1000), Decode: op.Equal(37, 1, 3000)},
		} {
			b.Run("model="+id+"/step="+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					c.Times(s)
				}
			})
		}
	}
}
