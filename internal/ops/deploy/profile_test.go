package deploy_test

import (
	"context"
	"math"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/deploy"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// TestProfile: the tables for Dynamo's planner are those of the simulation: a prompt takes as long
// as the simulation of it on the prefill worker, and a decode worker is slower with more
// requests and longer contexts.
func TestProfile(t *testing.T) {
	tp := func(n int) parallel.Layout { return parallel.Layout{Devices: n, TP: n} }
	wide := parallel.Layout{Devices: 8, TP: 1, DP: 8, EP: 8}
	for _, c := range []struct {
		model           string
		prefill, decode parallel.Layout
	}{
		{"Qwen/Qwen3-32B", tp(1), tp(4)}, {"deepseek-ai/DeepSeek-V3", wide, wide},
	} {
		d := deployment.Deployment{
			Model: c.model, System: "h200_sxm", Engine: deployment.Engine{Name: "vllm"},
			Pools: []deployment.Pool{{Role: deployment.Prefill, Replicas: 2, Layout: c.prefill}, {Role: deployment.Decode, Replicas: 1, Layout: c.decode}},
		}
		world, e := new(session.Session), &experiment.Experiment{Input: 12000, Output: 500}
		p, err := deploy.Plan(world, &session.Sources{}, e, &experiment.Option{Deployment: d, Concurrency: 8}, launch.Site{})
		if err != nil {
			t.Fatal(err)
		}
		for _, point := range p.Profile.Prefill {
			if point.Tokens > 8192 && c.prefill.DP > 1 {
				continue // a prompt alone takes the budget of all ranks in the simulation
			}
			r := simulate.Request{Deployment: d, Protocol: simulate.Benchmark}
			r.Input, r.Output, r.Concurrency, r.Requests = point.Tokens, 1, 1, 1
			got, err := simulate.Run(context.Background(), world, r)
			if err != nil {
				t.Fatal(err)
			}
			if want := got.Result.TTFT.Mean; math.Abs(float64(point.TTFT/want)-1) > 0.02 {
				t.Errorf("%s: prompt of %d tokens: %v, simulated %v", c.model, point.Tokens, point.TTFT, want)
			}
		}
		last := launch.DecodePoint{}
		for _, point := range p.Profile.Decode {
			n := point.KV * float64(p.Profile.KVTokens) / point.Context
			if got := point.PerDevice * float64(point.TPOT) * float64(c.decode.Devices); math.Abs(got/n-1) > 1e-6 || point.KV > 1 {
				t.Errorf("%s: %+v: %g requests by throughput, %g by the cache", c.model, point, got, n)
			}
			if point.Context == last.Context && (point.TPOT <= last.TPOT || point.KV <= last.KV) {
				t.Errorf("%s: %+v follows %+v", c.model, point, last)
			}
			last = point
		}
		if len(p.Profile.Prefill) != 16 || len(p.Profile.Decode) != 36 {
			t.Errorf("%s: %d and %d points", c.model, len(p.Profile.Prefill), len(p.Profile.Decode))
		}
	}
}
