package ascend_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/compat/ascend"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// mixture is the guide's example of experts on eight devices.
func mixture(t testing.TB) ascend.Formulas {
	t.Helper()
	p := stated(t, "Qwen/Qwen3-30B-A3B", "TEST_DEVICE", graph.Actions{})
	p.Load.Input, p.Load.Output, p.Load.Budget = 3500, 1500, 8192
	p.Judge.Limits.TPOT = ms(50)
	return p
}

// TestWorkers: neither their number nor their speed shows in the results.
func TestWorkers(t *testing.T) {
	p := mixture(t)
	candidates := search.Space{TP: []int{1, 3, 4, 8}, EP: all, MTP: []int{0, 1}}.Resolve(8).Enumerate(8, true)
	candidates = append(candidates, search.Candidate{Layout: parallel.Layout{Devices: 8, TP: 5}}) // illegal
	with := func(workers int) []search.Result {
		var told []int
		results := run(t, &p, candidates, workers, func(done int) { told = append(told, done) })
		if len(told) != len(candidates) || !slices.IsSorted(told) || told[len(told)-1] != len(candidates) {
			t.Errorf("%d workers: progress %v", workers, told)
		}
		return results
	}
	one := with(1)
	for i, r := range one {
		if r.Candidate != candidates[i] || r.Label != candidates[i].Label(true) {
			t.Errorf("result %d is of %s", i, r.Label)
		}
	}
	for _, workers := range []int{0, 8} {
		if !reflect.DeepEqual(one, with(workers)) {
			t.Errorf("%d workers: other results", workers)
		}
	}
	if got := run(t, &p, nil, 8, nil); len(got) != 0 {
		t.Errorf("%d results of nothing", len(got))
	}
}

// evaluator gives the outcomes of a result's deployment, with jumps or without.
func evaluator(t rapid.TB, p *ascend.Formulas, r *search.Result, fragile bool) func(batch int) figures.Outcome {
	t.Helper()
	spec := r.Spec
	spec.Policy.FragileGrouping = fragile
	d, err := ascend.NewSteps(spec, p.Coster, p.Memory, p.Reserved, p.Images)
	if err != nil {
		t.Fatal(err)
	}
	switch p.Mode {
	case search.PrefillOnly:
		return func(b int) figures.Outcome { return formulas.PrefillOnly(d, &r.Load, b) }
	case search.DecodeOnly:
		return func(b int) figures.Outcome { return formulas.DecodeOnly(d, &r.Load, b) }
	default:
		return func(b int) figures.Outcome { return formulas.Aggregated(d, &r.Load, b) }
	}
}

// TestEveryBatch: on real models, with all their jumps, no batch is better than
// the one that was found.
func TestEveryBatch(t *testing.T) {
	const same = 1e-8
	for _, c := range []struct {
		name   string
		model  string
		mode   search.Mode
		input  int
		limits workload.Limits
	}{
		{"aggregated", "Qwen/Qwen3-30B-A3B", search.Aggregated, 3500, workload.Limits{TPOT: ms(50)}},
		{"aggregated, chunked", "Qwen/Qwen3-30B-A3B", search.Aggregated, 9000, workload.Limits{TPOT: ms(30), TTFT: ms(9000)}},
		{"decode", "Qwen/Qwen3-30B-A3B", search.DecodeOnly, 3500, workload.Limits{TPOT: ms(50)}},
		{"prefill", "Qwen/Qwen3-30B-A3B", search.PrefillOnly, 3500, workload.Limits{TTFT: ms(3000)}},
		// A wave of these is 655 requests.
		{"prefill of short prompts", "Qwen/Qwen3-30B-A3B", search.PrefillOnly, 100, workload.Limits{TTFT: ms(5000)}},
		// And of these 1024 on every rank.
		{"prefill of tiny prompts", "Qwen/Qwen3-32B", search.PrefillOnly, 8, workload.Limits{TTFT: ms(1000)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := stated(t, c.model, "TEST_DEVICE", graph.Actions{})
			p.Mode, p.Judge.Limits = c.mode, c.limits
			p.Load.Input, p.Load.Output, p.Load.Budget = c.input, 200, 8192
			space := search.Space{TP: []int{1, 4}, EP: []int{2, 8}}.Resolve(8)
			for _, r := range run(t, &p, space.Enumerate(8, p.Spec.Model.HasExperts()), 2, nil) {
				if !r.OK {
					t.Errorf("%s: %s", r.Label, r.Reason)
					continue
				}
				at := evaluator(t, &p, &r, true)
				beyond := func(o *figures.Outcome) bool { // far beyond the limits
					return o.OOM != "" || o.TTFT > 2*max(p.Judge.Limits.TTFT, 100) || o.TPOT > 2*max(p.Judge.Limits.TPOT, 100)
				}
				best := figures.Outcome{}
				for b := 1; b < 4000; b++ {
					o := at(b)
					if beyond(&o) {
						break
					}
					fits := (p.Judge.Limits.TTFT == 0 || o.TTFT <= p.Judge.Limits.TTFT) && (p.Judge.Limits.TPOT == 0 || o.TPOT <= p.Judge.Limits.TPOT)
					if fits && o.Throughput > best.Throughput {
						best = o
					}
				}
				if best.Throughput > r.Best.Throughput*(1+same) {
					t.Errorf("%s: batch %d has %.6g tokens/s, found batch %d with %.6g",
						r.Label, best.Batch, best.Throughput, r.Best.Batch, r.Best.Throughput)
				}
			}
		})
	}
}

// TestRelaxedIsFaster: what the search takes for a bound is one. Without the
// jumps no step takes longer, whatever the model, the layout and the batch.
func TestRelaxedIsFaster(t *testing.T) {
	models := []string{"Qwen/Qwen3-30B-A3B", "deepseek-ai/DeepSeek-V3.1", "zai-org/GLM-4.5", "MiniMaxAI/MiniMax-M2"}
	problems := map[string]ascend.Formulas{}
	for _, id := range models {
		p := stated(t, id, "ATLAS_800_A3_752T_128G_DIE", graph.Actions{})
		p.Load.Input, p.Load.Output, p.Load.Budget = 3500, 1500, 8192
		p.Memory = 1 * units.TiB // the question is time
		problems[id] = p
	}
	rapid.Check(t, func(t *rapid.T) {
		p := problems[rapid.SampledFrom(models).Draw(t, "model")]
		p.Load.Input = rapid.IntRange(1, 8192).Draw(t, "input")
		p.Mode = search.DecodeOnly
		candidates := search.Space{TP: all, EP: all, MoEDP: all, MTP: []int{0, 1}}.Resolve(16).Enumerate(16, true)
		c := candidates[rapid.IntRange(0, len(candidates)-1).Draw(t, "layout")]
		p.Range = search.Range{Min: 1, Max: 1, Given: true}
		r := p.Evaluate(t.Context(), c, math.Inf(-1))
		if r.Binds == search.IllegalShape {
			t.Skip(r.Reason)
		}
		p.Mode = search.Aggregated
		exact, relaxed := evaluator(t, &p, &r, true), evaluator(t, &p, &r, false)
		for range 20 {
			b := rapid.IntRange(1, 1000).Draw(t, "batch")
			e, f := exact(b), relaxed(b)
			const rounding = 1e-9
			if f.TTFT > e.TTFT*(1+rounding) || f.DecodeTime > e.DecodeTime*(1+rounding) {
				t.Errorf("%s, batch %d: TTFT %v, relaxed %v; decode %v, relaxed %v",
					r.Label, b, e.TTFT, f.TTFT, e.DecodeTime, f.DecodeTime)
			}
			if e.Use != f.Use {
				t.Errorf("%s, batch %d: memory %+v, relaxed %+v", r.Label, b, e.Use, f.Use)
			}
		}
	})
}

// TestPrefillWithoutLimit: more waves of prompts only add waiting, so the
// smallest batch that fills the steps is taken.
func TestPrefillWithoutLimit(t *testing.T) {
	p := stated(t, "Qwen/Qwen3-32B", "TEST_DEVICE", graph.Actions{})
	p.Mode = search.PrefillOnly
	p.Load.Output, p.Load.Budget = 100, 8192
	c := search.Space{TP: []int{8}}.Resolve(8).Enumerate(8, false)[0]
	for _, x := range []struct {
		name  string
		input int
		hit   float64
		want  int // batch
	}{
		{"two prompts", 4000, 0, 2},
		{"cached prompts are short", 4000, 0.9, 20},
		{"a wave above the window", 8, 0, 1024},
	} {
		t.Run(x.name, func(t *testing.T) {
			p.Load.Input, p.Load.HitRate = x.input, x.hit
			if r := p.Evaluate(t.Context(), c, math.Inf(-1)); !r.OK || r.Best.Batch != x.want || r.Binds != search.Saturated {
				t.Errorf("want batch %d, got %d, bound by %q", x.want, r.Best.Batch, r.Binds)
			}
		})
	}
	t.Run("distribution", func(t *testing.T) {
		p.Load.Distribution = &workload.Distribution{Bins: []workload.Bin{{Min: 1000, Max: 3000, Weight: 1}}}
		p.Load.Input, p.Load.HitRate = 0, 0
		const steps = 4
		if r := p.Evaluate(t.Context(), c, math.Inf(-1)); !r.OK || r.Best.Batch > steps*8192/2000 || r.Binds != search.Saturated {
			t.Errorf("batch %d, bound by %q: want a few steps", r.Best.Batch, r.Binds)
		}
	})
}

// TestSmallest: of equal batches the smallest, although a limit allows more. A
// phase to be matched also has the batch with the most requests per second as the
// guide counts them.
func TestSmallest(t *testing.T) {
	tables := readTables(t, "testdata/prefill-q32.txt")
	w := &tables[0]
	p := w.problem(t)
	p.Matched = true
	c := search.Space{TP: []int{8}}.Resolve(8).Enumerate(8, false)[0]
	r := p.Evaluate(t.Context(), c, math.Inf(-1))
	if r.Best.Batch != 2 || r.Binds != search.Saturated {
		t.Errorf("want batch 2, which larger ones do not beat; got %d, bound by %q", r.Best.Batch, r.Binds)
	}
	near(t, "TTFT", 318.33, r.Best.TTFT.Ms(), promised)
	if r.MostQPS.Batch != 23 {
		t.Errorf("want batch 23 for the most requests per second, got %d", r.MostQPS.Batch)
	}
	near(t, "tokens/s", w.rows[3].throughput, r.Best.Throughput, promised)
}

// TestAutoBudget: four, two or one prompt a step, whatever fits.
func TestAutoBudget(t *testing.T) {
	p := stated(t, "Qwen/Qwen3-8B", "TEST_DEVICE", graph.Actions{})
	p.Mode = search.PrefillOnly
	p.AutoBudget = true
	p.Load.Input, p.Load.Output = 100, 10
	p.Range = search.Range{Min: 4, Max: 4, Given: true}
	c := search.Space{TP: []int{1}}.Resolve(1).Enumerate(1, false)[0]
	// needs is the memory of a step of n prompts.
	needs := func(n int) units.Bytes {
		spec := p.Spec
		spec.Layout = c.Layout
		d, err := ascend.NewSteps(spec, p.Coster, 0, p.Reserved, p.Images)
		if err != nil {
			t.Fatal(err)
		}
		return -d.Prefill(n, 100, 100).Use.Available
	}
	for _, x := range []struct {
		name   string
		memory units.Bytes
		budget int
		ok     bool
	}{
		{"plenty", 2 * needs(4), 400, true},
		{"just enough", needs(4), 400, true},
		{"two", (needs(4) + needs(2)) / 2, 200, true},
		{"one", (needs(2) + needs(1)) / 2, 100, true},
		{"none", needs(1) - units.MiB, 100, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			p.Memory = x.memory
			r := p.Evaluate(t.Context(), c, math.Inf(-1))
			if r.OK != x.ok || r.Load.Budget != x.budget {
				t.Errorf("want %t with a budget of %d, got %t with %d (%s)", x.ok, x.budget, r.OK, r.Load.Budget, r.Reason)
			}
		})
	}
	p.AutoBudget, p.Load.Budget = false, 400
	p.Memory = (needs(4) + needs(2)) / 2
	if r := p.Evaluate(t.Context(), c, math.Inf(-1)); r.OK || r.Load.Budget != 400 {
		t.Errorf("a given budget is kept: got %t with %d", r.OK, r.Load.Budget)
	}
}

// TestReasons: a rejected candidate says why.
func TestReasons(t *testing.T) {
	layout := func(tp, devices int) search.Candidate {
		return search.Space{TP: []int{tp}}.Resolve(devices).Enumerate(devices, false)[0]
	}
	for _, c := range []struct {
		name      string
		change    func(*ascend.Formulas)
		candidate search.Candidate
		binds     search.Verdict
		want      string
	}{
		{"layout", func(*ascend.Formulas) {}, layout(128, 128), search.IllegalShape, "TP 128 does not divide"},
		{"memory", func(p *ascend.Formulas) { p.Memory = 40 * units.GiB }, layout(1, 1), search.NoMemory, "batch 1 does not fit in memory"},
		{"memory of the range", func(p *ascend.Formulas) {
			p.Range = search.Range{Min: 5000, Max: 6000, Given: true}
		}, layout(1, 1), search.NoMemory, "short in decode"},
		{
			"TPOT", func(p *ascend.Formulas) { p.Judge.Limits = workload.Limits{TPOT: ms(1), TTFT: ms(1)} }, layout(8, 8),
			search.OverTPOT, "at batch 1 is over the limit of 1.00 ms",
		},
		{
			"TTFT", func(p *ascend.Formulas) { p.Judge.Limits = workload.Limits{TTFT: ms(1)} }, layout(8, 8),
			search.OverTTFT, "TTFT",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := stated(t, "Qwen/Qwen3-32B", "TEST_DEVICE", graph.Actions{})
			p.Load.Input, p.Load.Output, p.Load.Budget = 3500, 1500, 8192
			c.change(&p)
			r := p.Evaluate(t.Context(), c.candidate, math.Inf(-1))
			if r.OK || r.Binds != c.binds || !strings.Contains(r.Reason, c.want) {
				t.Errorf("want %q for %q, got %t, %q for %q", c.want, c.binds, r.OK, r.Reason, r.Binds)
			}
		})
	}
}

// TestSpeculation: the shape and the fold of decode steps.
func TestSpeculation(t *testing.T) {
	for _, c := range []struct {
		name       string
		mtp, block int
		accepted   float64
		query, seq int
		fold       float64
	}{
		{"plain", 0, 0, 0, 1, 233, 1},
		{"MTP 2", 2, 0, 0, 3, 235, 2.5},
		{"MTP 9", 9, 0, 0, 10, 242, 3.1},
		{"draft of 16", 0, 16, 5, 16, 248, 6},
		{"draft of 8", 0, 8, 8, 8, 240, 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := stated(t, "Qwen/Qwen3-8B", "TEST_DEVICE", graph.Actions{})
			p.Load.Input, p.Load.Output, p.Load.Budget = 200, 64, 800
			p.Block, p.Accepted = c.block, c.accepted
			candidate := search.Space{TP: []int{1}, MTP: []int{c.mtp}}.Resolve(1).Enumerate(1, false)[0]
			l := p.Evaluate(t.Context(), candidate, math.Inf(-1)).Load
			if l.DecodeQuery != c.query || l.DecodeSeq() != c.seq {
				t.Errorf("want %d tokens at %d, got %d at %d", c.query, c.seq, l.DecodeQuery, l.DecodeSeq())
			}
			near(t, "fold", c.fold, l.Fold, 1e-12)
		})
	}
}

// run evaluates all candidates.
func run(t testing.TB, e search.Evaluator, candidates []search.Candidate, workers int, progress func(int)) []search.Result {
	t.Helper()
	s := search.Search{Evaluator: e, Workers: workers, Progress: progress}
	results, err := s.Run(t.Context(), search.Candidates(t.Context(), e, candidates))
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// TestRunCancelled: a search ends when it is no longer wanted.
func TestRunCancelled(t *testing.T) {
	t.Parallel()
	p := mixture(t)
	ctx, cancel := context.WithCancel(t.Context())
	seen := 0
	candidates := search.Space{TP: []int{}, EP: []int{}}.Resolve(16).Enumerate(16, true)
	s := search.Search{Evaluator: &p, Workers: 1, Progress: func(int) {
		seen++
		cancel()
	}}
	_, err := s.Run(ctx, search.Candidates(t.Context(), &p, candidates))
	if !errors.Is(err, context.Canceled) || seen != 1 {
		t.Errorf("want the search cancelled after one of %d, got %v after %d", len(candidates), err, seen)
	}
}
