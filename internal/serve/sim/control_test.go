package sim

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
)

// prompted is prompts alone at a share of what a server can do that takes one at a time: a queue whose mean wait is known.
func prompted(load float64, process Process, seed uint64) (c *Config, ttft float64) {
	engine := Engine{Policy: DecodeFirst, TokenBudget: 8192, MaxSequences: 1, Blocks: 40_000, BlockTokens: 16}
	step := h100()
	const tokens = 3000
	service := float64(step.Step(Batch{PrefillRequests: 1, PrefillTokens: tokens, PrefillPairs: tokens * (tokens + 1) / 2, Sampled: 1}))
	client := OpenLoop{Rate: load / service, Process: process, Variation: 1, Requests: 1, Input: Lengths{Tokens: tokens}, Output: Lengths{Tokens: 1}}
	c = &Config{Client: client, Workers: Pool{Engine: engine, Stepper: step}, Decode: &Pool{Engine: vllm(), Stepper: step}, Seed: seed}
	return c, service * (1 + load/(1-load)/2)
}

// TestControls: near capacity the mean of a window is nearer to that of a load that lasts where queues show how busy the
// window was, and the errors are about as large as they are said to be. Gamma arrivals that vary as Poisson's have no such queues.
func TestControls(t *testing.T) {
	t.Parallel()
	const seeds = 24
	for _, load := range []float64{0.9, 0.95} {
		errs := func(process Process) (rms, claimed float64) {
			for seed := range uint64(seeds) {
				c, want := prompted(load, process, seed+1)
				c.Steady = &statistics.Steady{Error: 1e-9, Requests: 8000}
				r, err := Run(t.Context(), c)
				if err != nil {
					t.Fatal(err)
				}
				off := float64(r.TTFT.Mean)/want - 1
				rms += off * off / seeds
				claimed += r.Sampling.TTFT * r.Sampling.TTFT / seeds
			}
			return math.Sqrt(rms), math.Sqrt(claimed)
		}
		with, claimed := errs(Poisson)
		without, _ := errs(Gamma)
		if with > without/2 || with > 2*claimed {
			t.Errorf("load %g: error %.3f, said to be %.3f; %.3f without", load, with, claimed, without)
		}
	}
}

// TestMoments: lengths have the moments of what is drawn.
func TestMoments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		loop := OpenLoop{Mix: Mix{
			{Share: 1, Input: anyLengths(t, "input", 60), Output: Lengths{Tokens: 1}},
			{Share: 2, Like: []workload.Request{{Input: 3, Output: 1}, {Input: 40, Output: 1}}},
			{Share: 3, Session: &workload.Session{System: 7, Turns: 1, First: 20, User: 1, Output: 1, LengthLow: 0.5}},
			{Share: 1, Input: Lengths{Distribution: &workload.Distribution{Bins: []workload.Bin{{Min: 0, Max: 4, Weight: 1}, {Min: 10, Max: 30, Weight: 3}}}}, Output: Lengths{Tokens: 1}},
		}}
		const n = 20_000
		draw := loop.Mix.drawer(nil, nil, rapid.Uint64().Draw(t, "seed"), nil)
		mean, square := 0.0, 0.0
		for range n {
			var q request
			draw(&q)
			mean += float64(q.input) / n
			square += float64(q.input) * float64(q.input) / n
		}
		wantMean, wantSquare := loop.prompts()
		const sigmas = 6
		if e := math.Sqrt((square - mean*mean) / n); math.Abs(mean-wantMean) > sigmas*e || math.Abs(square/wantSquare-1) > 0.1 {
			t.Fatalf("mean %g, of squares %g; drawn %g ± %g, %g", wantMean, wantSquare, mean, e, square)
		}
	})
}
