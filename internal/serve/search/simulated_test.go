package search_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/calibrated"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/replica"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// gpu is a bench of a model under vLLM on H200s.
func gpu(t *testing.T, id string, input, output traffic.Lengths) *search.Bench {
	t.Helper()
	m, err := model.Lookup(id)
	if err != nil {
		t.Fatal(err)
	}
	d, err := device.Lookup("h200_sxm")
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.LookupVersion("vllm", "")
	if err != nil {
		t.Fatal(err)
	}
	prices, ok := calibrated.New(d)
	if !ok {
		t.Fatal("no prices")
	}
	return &search.Bench{
		Input: input.Tokens, Output: output.Tokens, Varied: true, Seed: 1,
		Closed: func(n int) traffic.Client { return traffic.Benchmark(n, input, output) },
		Build: func(c search.Candidate, batch int) (search.Built, error) {
			asked := deployment.Deployment{Pools: []deployment.Pool{{
				Role: deployment.Both, Layout: c.Layout, Replicas: c.Copies, Settings: []string{fmt.Sprintf("max_sequences=%d", batch)},
			}}}
			r, err := asked.Resolve(deployment.Parts{Model: m, Device: d, Engine: e})
			if err != nil {
				return search.Built{}, err
			}
			f, err := replica.NewFleet(r, func(*deployment.Served) (cost.Coster, error) { return prices, nil })
			if err != nil {
				return search.Built{}, err
			}
			return search.Built{Config: f.Config(nil), Memory: f.Generates().Memory}, nil
		},
	}
}

func simulated(b *search.Bench, l workload.Limits, r search.Range) *search.Simulated {
	return &search.Simulated{Bench: b, Judge: search.Judge{Limits: l}, Range: r, Label: func(c *search.Candidate) string { return c.Label(false) }}
}

// TestSimulated holds the search to simulating every batch: its best row is one of
// them to the digit, meets the limits, and carries as much as any but for what
// bisection may miss between two neighbours.
func TestSimulated(t *testing.T) {
	t.Parallel()
	bench := gpu(t, "meta-llama/Llama-3.1-8B-Instruct", traffic.Lengths{Tokens: 512, Low: 0.8}, traffic.Lengths{Tokens: 64, Low: 0.8})
	candidate := search.Candidate{Layout: parallel.Layout{Devices: 1, TP: 1, DP: 1, PP: 1, EP: 1, MoETP: 1, MoEDP: 1, DCP: 1}}
	for _, limits := range []workload.Limits{
		{TPOT: 8 * units.Millisecond},
		{TPOT: 10 * units.Millisecond, TTFT: 150 * units.Millisecond},
		{Latency: 500 * units.Millisecond},
		{},
	} {
		t.Run(fmt.Sprint(limits), func(t *testing.T) {
			t.Parallel()
			s := simulated(bench, limits, search.Range{Min: 1, Max: 48, Given: true})
			got := s.Evaluate(t.Context(), candidate, math.Inf(-1))
			if o := &got.Best; !got.OK || !limits.Meets(o.TTFT, o.TPOT, o.Latency) {
				t.Fatalf("nothing keeps %+v: %s", limits, got.Reason)
			}
			most := 0.0
			for b := 1; b <= 48; b++ {
				built, err := bench.Build(candidate, b)
				if err != nil {
					t.Fatal(err)
				}
				config := built.Config
				config.Client, config.Seed, config.Steady = bench.Closed(b), bench.Seed, &statistics.Steady{}
				r, err := sim.Run(t.Context(), &config)
				if err != nil {
					t.Fatal(err)
				}
				if b == got.Best.Concurrency && (r.TTFT.Mean != got.Best.TTFT || r.TPOT.Mean != got.Best.TPOT || r.OutputRate != got.Best.Throughput) {
					t.Errorf("batch %d simulated gives %v, %v and %g; the search says %v, %v and %g",
						b, r.TTFT.Mean, r.TPOT.Mean, r.OutputRate, got.Best.TTFT, got.Best.TPOT, got.Best.Throughput)
				}
				if limits.Meets(r.TTFT.Mean, r.TPOT.Mean, r.Latency.Mean) {
					most = max(most, r.OutputRate)
				}
			}
			const near = 0.97
			if got.Best.Throughput < near*most {
				t.Errorf("found %.1f tokens/s, batch by batch %.1f", got.Best.Throughput, most)
			}
		})
	}
}

// TestSimulatedRefuses says why a candidate has no best.
func TestSimulatedRefuses(t *testing.T) {
	t.Parallel()
	one := parallel.Layout{Devices: 1, TP: 1, DP: 1, PP: 1, EP: 1, MoETP: 1, MoEDP: 1, DCP: 1}
	odd := one
	odd.Devices, odd.TP = 3, 3
	for _, c := range []struct {
		name, model string
		layout      parallel.Layout
		limits      workload.Limits
		want        search.Verdict
	}{
		{"memory", "meta-llama/Llama-3.1-405B", one, workload.Limits{}, search.NoMemory},
		{"layout", "Qwen/Qwen3-8B", odd, workload.Limits{}, search.IllegalShape},
		{"TPOT", "Qwen/Qwen3-8B", one, workload.Limits{TPOT: units.Microsecond}, search.OverTPOT},
		{"TTFT", "Qwen/Qwen3-8B", one, workload.Limits{TTFT: units.Microsecond}, search.OverTTFT},
		{"latency", "Qwen/Qwen3-8B", one, workload.Limits{Latency: units.Microsecond}, search.OverLatency},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := simulated(gpu(t, c.model, traffic.Lengths{Tokens: 256, Low: 1}, traffic.Lengths{Tokens: 16, Low: 1}), c.limits, search.DefaultRange())
			got := s.Evaluate(t.Context(), search.Candidate{Layout: c.layout}, math.Inf(-1))
			if got.OK || got.Binds != c.want || got.Reason == "" {
				t.Errorf("want it rejected by %s, got %v by %q: %q", c.want, got.OK, got.Binds, got.Reason)
			}
		})
	}
}
