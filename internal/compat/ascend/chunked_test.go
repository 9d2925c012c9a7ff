package ascend

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/compat/tensorcast"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/roofline"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// anyFormulas draws a search of one phase by formulas, under any budget of a step.
func anyFormulas(t *rapid.T) *Formulas {
	m, err := model.Lookup(rapid.SampledFrom([]string{
		"Qwen/Qwen3-0.6B", "Qwen/Qwen3-8B", "Qwen/Qwen3-30B-A3B", "deepseek-ai/DeepSeek-V3.1", "openai/gpt-oss-20b",
	}).Draw(t, "model"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := device.Lookup(rapid.SampledFrom([]string{"TEST_DEVICE", "h100_sxm", "b200_sxm", "mi355x"}).Draw(t, "device"))
	if err != nil {
		t.Fatal(err)
	}
	policy := rapid.SampledFrom([]graph.Policy{tensorcast.Policy(), graph.Physical()}).Draw(t, "policy")
	limit := rapid.SampledFrom([]units.Seconds{0, 0.02, 0.05, 1, 1e6})
	return &Formulas{
		Mode:   rapid.SampledFrom([]search.Mode{search.Aggregated, search.Aggregated, search.PrefillOnly}).Draw(t, "mode"),
		Spec:   graph.Spec{Model: m, Policy: policy, Quant: graph.Resolve(m, policy, graph.Actions{}), Compile: true},
		Coster: roofline.New(d, roofline.Settings{FreeUnsupported: policy.FreeUnsupported}),
		Memory: d.Memory, Reserved: 10 * units.GiB,
		Load: formulas.Load{
			Input: rapid.IntRange(1, 40_000).Draw(t, "input"), Output: rapid.IntRange(1, 4000).Draw(t, "output"),
			Budget:     rapid.IntRange(64, 8192).Draw(t, "budget"),
			Accounting: rapid.SampledFrom([]formulas.Accounting{formulas.Documented, formulas.Steady}).Draw(t, "accounting"),
		},
		Judge: search.Judge{Limits: workload.Limits{TTFT: limit.Draw(t, "TTFT"), TPOT: limit.Draw(t, "TPOT")}},
		Range: search.DefaultRange(),
	}
}

// anyDeployment draws a legal layout of up to 64 devices for a search.
func anyDeployment(t *rapid.T, p *Formulas) (exact, relaxed *Steps, l formulas.Load) {
	devices := rapid.SampledFrom([]int{1, 2, 8, 16, 64}).Draw(t, "devices")
	candidates := search.Space{TP: []int{}, EP: []int{}}.Resolve(devices).Enumerate(devices, p.Spec.Model.HasExperts())
	c := rapid.SampledFrom(candidates).Draw(t, "layout")
	spec := p.Spec
	spec.Layout = c.Layout
	var err error
	if exact, err = p.deploy(spec); err != nil {
		t.Skip(err)
	}
	if relaxed, err = p.deploy(spec.WithoutJumps()); err != nil {
		t.Skip(err)
	}
	l = p.load(c)
	l.Budget = p.Load.Budget
	return exact, relaxed, l
}

// TestSearchEnds: whatever the budget of a step, the lengths and the devices, a
// search ends after a bounded number of batches, each of which is a bounded number of
// different steps.
func TestSearchEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyFormulas(t)
		exact, relaxed, l := anyDeployment(t, p)
		s := p.batchSearch(context.Background(), exact, relaxed, &l, throughput)
		asked := 0
		count := func(f evaluate) evaluate {
			return func(batch int) figures.Outcome { asked++; return f(batch) }
		}
		s.exact, s.relaxed = count(s.exact), count(s.relaxed)
		f := s.run()
		// Down and up again, and before that up by doubling and down by sixteenths.
		most := 2*farthest + s.window + 400
		mixed := l.Chunked() && p.Mode == search.Aggregated
		if mixed { // where every batch is a simulation
			most = 3000
		}
		if asked > most {
			t.Errorf("asked for %d batches, want %d or fewer", asked, most)
		}
		if f.ok && mixed && f.best.Concurrency > l.Budget*l.DP {
			t.Errorf("%d requests in steps of %d tokens", f.best.Concurrency, l.Budget*l.DP)
		}
	})
}

// TestMemoryGrows: a larger batch never leaves more memory, and one that does not fit
// has no larger one that does.
func TestMemoryGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyFormulas(t)
		exact, _, l := anyDeployment(t, p)
		at := p.outcome(context.Background(), exact, &l)
		small := rapid.IntRange(1, 2000).Draw(t, "batch")
		large := small + rapid.IntRange(1, 2000).Draw(t, "more")
		a, b := at(small), at(large)
		if b.Use.Available > a.Use.Available || a.OOM != "" && b.OOM == "" {
			t.Errorf("batch %d leaves %v (%s), batch %d leaves %v (%s)", small, a.Use.Available, a.OOM, large, b.Use.Available, b.OOM)
		}
	})
}
