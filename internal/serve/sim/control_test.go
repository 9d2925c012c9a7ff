package sim

import (
	"math"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// prompted is prompts alone at a share of what a server can do that takes one at a time: a queue whose mean wait is known.
func prompted(load float64, process traffic.Process, seed uint64) (c *Config, ttft float64) {
	engine := server.Engine{Policy: server.DecodeFirst, TokenBudget: 8192, MaxSequences: 1, Blocks: 40_000, BlockTokens: 16}
	step := h100()
	const tokens = 3000
	service := float64(step.Step(server.Batch{PrefillRequests: 1, PrefillTokens: tokens, PrefillPairs: tokens * (tokens + 1) / 2, Sampled: 1}))
	client := traffic.OpenLoop{Rate: load / service, Process: process, Variation: 1, Requests: 1, Input: traffic.Lengths{Tokens: tokens}, Output: traffic.Lengths{Tokens: 1}}
	c = &Config{Client: client, Workers: Pool{Engine: engine, Stepper: step}, Decode: &Pool{Engine: vllm(), Stepper: step}, Seed: seed}
	return c, service * (1 + load/(1-load)/2)
}

// TestControls: near capacity the mean of a window is nearer to that of a load that lasts where queues show how busy the
// window was, and the errors are about as large as they are said to be. Gamma arrivals that vary as Poisson's have no such queues.
func TestControls(t *testing.T) {
	t.Parallel()
	const seeds = 24
	for _, load := range []float64{0.9, 0.95} {
		errs := func(process traffic.Process) (rms, claimed float64) {
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
		with, claimed := errs(traffic.Poisson)
		without, _ := errs(traffic.Gamma)
		if with > without/2 || with > 2*claimed {
			t.Errorf("load %g: error %.3f, said to be %.3f; %.3f without", load, with, claimed, without)
		}
	}
}
