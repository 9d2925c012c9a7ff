package ops_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/ops/configure"
	"github.com/plimsoll-project/plimsoll/internal/ops/estimate"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// TestEstimatesAreRows: the estimate of a row's workers at its concurrency has its
// figures to the digit, as the simulation of its deployment has.
func TestEstimatesAreRows(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for rows := 0; rows < 30; {
		e := anyExperiment(r)
		found, err := configure.Run(t.Context(), new(session.Session), configure.Request{Experiments: []experiment.Experiment{e}})
		if err != nil {
			t.Fatal(err)
		}
		for i := range found.Results[0].Rows {
			o := &found.Results[0].Rows[i]
			q := estimate.Request{Experiment: e, Concurrency: o.Concurrency}
			last := &o.Deployment.Pools[len(o.Deployment.Pools)-1]
			q.Workers = estimate.Workers{Count: last.Replicas, Layout: last.Layout, Batch: o.Batch}
			if e.Mode == experiment.Aggregated {
				q.Workers.Budget = o.Budget
			}
			if e.Mode == experiment.Disaggregated {
				p := &o.Deployment.Pools[0]
				q.Prefill = estimate.Workers{Count: p.Replicas, Layout: p.Layout, Batch: o.Prompts}
			}
			got, err := estimate.Run(t.Context(), new(session.Session), q)
			if err != nil {
				t.Fatalf("%+v: %v", q, err)
			}
			if got.Times != o.Times || got.Throughput != o.Throughput || (got.Judged.Chance == nil) == e.Limits.Any() || got.Judged.Sure() != o.Judged.Sure() ||
				got.Devices != o.Used || got.Pools[len(got.Pools)-1].InUse != o.Memory || got.Expected != o.Run.Expected || got.TokensPerUser.Zero().Value != o.User() {
				t.Errorf("estimate of %+v: %+v, the row has %+v", q, got, o)
			}
			s := simulate.Request{Deployment: got.Deployment, Limits: e.Limits}
			s.Concurrency, s.Input, s.Output, s.Prefix = o.Concurrency, e.Input, e.Output, e.Prefix
			sim, err := simulate.Run(t.Context(), new(session.Session), s)
			if err != nil {
				t.Fatal(err)
			}
			if x := &sim.Result; x.TTFT.Mean != got.TTFT || x.TPOT.Mean != got.TPOT || x.Latency.Mean != got.Latency || x.OutputRate != got.Throughput || x.RequestRate != got.RequestRate {
				t.Errorf("estimate of %+v: %+v, the simulation has %+v", q, got, x)
			}
			rows++
		}
	}
}

// one is a request for the estimate of one worker.
func one(model string, l parallel.Layout, batch int) estimate.Request {
	return estimate.Request{
		Experiment: experiment.Experiment{Mode: experiment.Aggregated, Model: model, System: "h200_sxm", Engine: deployment.Engine{Name: "vllm"}, Input: 500, Output: 101},
		Workers:    estimate.Workers{Layout: l, Batch: batch}, Steps: true,
	}
}

// TestStatic: a static estimate is the steps of one batch, with nothing between them:
// its prefill is the step in detail, and its parts add up.
func TestStatic(t *testing.T) {
	for _, q := range []estimate.Request{
		one("Qwen/Qwen3-8B", parallel.Layout{TP: 2}, 16), one("Qwen/Qwen3-8B", parallel.Layout{DP: 2}, 8),
		one("Qwen/Qwen3-30B-A3B", parallel.Layout{TP: 2, DP: 2, EP: 4}, 4),
	} {
		got := map[estimate.Static]*estimate.Response{}
		for _, part := range []estimate.Static{estimate.Whole, estimate.PromptsOnly, estimate.GeneratesOnly} {
			q.Static = part
			r, err := estimate.Run(t.Context(), new(session.Session), q)
			if err != nil {
				t.Fatal(err)
			}
			got[part] = r
		}
		all, prompts, rest := got[estimate.Whole], got[estimate.PromptsOnly], got[estimate.GeneratesOnly]
		if all.TTFT != prompts.TTFT || prompts.TPOT != 0 || all.TPOT != rest.TPOT || rest.TTFT != 0 {
			t.Errorf("%+v: parts have %v and %v, the whole %v and %v", q.Workers, prompts.TTFT, rest.TPOT, all.TTFT, all.TPOT)
		}
		near := func(what string, a, b float64) {
			if math.Abs(a/b-1) > 0.01 {
				t.Errorf("%+v: %s: got %g, want %g", q.Workers, what, a, b)
			}
		}
		near("latency", float64(all.Latency), float64(all.TTFT)+100*float64(all.TPOT))
		steps := all.Pools[0].Steps
		if len(steps) != 2 || len(prompts.Pools[0].Steps) != 1 || len(rest.Pools[0].Steps) != 1 || rest.Pools[0].Steps[0].Phase != "decode" {
			t.Fatalf("%+v: %d, %d and %d steps", q.Workers, len(steps), len(prompts.Pools[0].Steps), len(rest.Pools[0].Steps))
		}
		near("prefill", float64(all.TTFT), float64(steps[0].Engine.Time))
		near("decode", float64(all.TPOT), float64(steps[1].Engine.Time)) // halfway
		requests := float64(q.Workers.Batch * max(1, q.Workers.Layout.DP))
		near("throughput", all.Throughput, requests*101/float64(all.Latency))
		near("generated", rest.Throughput, requests*100/float64(rest.Latency))
		near("first tokens", prompts.Throughput, requests/float64(prompts.Latency))
	}
	q := one("Qwen/Qwen3-8B", parallel.Layout{}, 10000)
	q.Static = estimate.Whole
	wrong, err := estimate.Run(t.Context(), new(session.Session), q)
	if input := (*session.InputError)(nil); !errors.As(err, &input) || !strings.Contains(err.Error(), "batch_size 10000: the requests of a rank hold 6010000 tokens") {
		t.Errorf("got %v, %v", wrong, err)
	}
}

// TestPhysicalLimit: no operator is predicted to be faster than its device can be.
func TestPhysicalLimit(t *testing.T) {
	for _, system := range []string{"h200_sxm", "b200_sxm", "a100_sxm", "mi300x", "l40s", "gb200"} {
		for _, q := range []estimate.Request{
			one("Qwen/Qwen3-32B", parallel.Layout{TP: 4}, 64), one("Qwen/Qwen3-30B-A3B", parallel.Layout{TP: 1, DP: 4, EP: 4}, 64),
		} {
			q.Experiment.System = system
			r, err := estimate.Run(t.Context(), new(session.Session), q)
			if err != nil {
				t.Errorf("%s: %v", system, err)
				continue
			}
			for _, s := range r.Pools[0].Steps {
				var sum units.InMs
				for i := range s.Operators {
					o := &s.Operators[i]
					sum += o.Limit
					if o.Limit > o.Time*(1+1e-9) {
						t.Errorf("%s, %s: %s takes %v, the limit is %v", system, r.Model, o.Name, o.Time, o.Limit)
					}
					if o.Source != string(r.Tier) {
						t.Errorf("%s: %s is %s, all of it %s", system, o.Name, o.Source, r.Tier)
					}
				}
				if math.Abs(float64(sum/s.Limit)-1) > 1e-9 {
					t.Errorf("%s: the limits add up to %v, the limit is %v", system, sum, s.Limit)
				}
			}
		}
	}
}
