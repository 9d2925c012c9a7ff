package search

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// TestSameSteps: the trial of another token budget that is taken from that of the engine's own is the trial of that budget, to the digit,
// whatever the policy of the engine. Some are taken, and some are not.
func TestSameSteps(t *testing.T) {
	taken, own := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		x := func(name string, high float64) float64 { return rapid.Float64Range(0, high).Draw(t, name) }
		fixed, token, each, read := 1e-3+x("fixed", 0.02), x("token", 1e-4), x("each", 1e-4), x("read", 1e-7)
		batch := rapid.IntRange(1, 32).Draw(t, "batch")
		input := rapid.IntRange(1, 3000).Draw(t, "input")
		output := rapid.IntRange(2, 200).Draw(t, "output")
		engine := server.Engine{
			Policy: server.Policy(rapid.IntRange(0, 2).Draw(t, "policy")), MaxSequences: batch, BlockTokens: rapid.SampledFrom([]int{1, 16, 64}).Draw(t, "block"),
			TokenBudget: rapid.SampledFrom([]int{512, 2048, 8192}).Draw(t, "own budget"), PrefixCache: rapid.Bool().Draw(t, "prefix cache"), Chunked: rapid.Bool().Draw(t, "chunked"),
			Overlapped: rapid.Bool().Draw(t, "overlapped"), PrefillAhead: rapid.Bool().Draw(t, "prefill ahead"), Reserve: x("reserve", 1),
			Ranks: rapid.IntRange(0, 2).Draw(t, "ranks"), RankWaitSteps: rapid.IntRange(0, 3).Draw(t, "rank wait"), ReceiveInterval: rapid.IntRange(0, 3).Draw(t, "receive"),
		}
		if engine.Policy == server.InFlight && !engine.Chunked {
			engine.TokenBudget = max(engine.TokenBudget, input+batch)
		}
		engine.Blocks = ((input+output)/engine.BlockTokens + 2) * rapid.IntRange(batch/2+1, 3*batch).Draw(t, "requests in the cache")
		bench := func() *Bench {
			return &Bench{
				Input: input, Output: output, Seed: 1,
				Closed: func(n int) traffic.Client {
					return traffic.Benchmark(n, traffic.Lengths{Tokens: input}, traffic.Lengths{Tokens: output})
				},
				Build: func(c Candidate, batch int) (Built, error) {
					e := engine
					if c.Budget > 0 { // a larger one leaves less for the cache
						e.TokenBudget, e.Blocks = c.Budget, e.Blocks*19/20+1
					}
					e.MaxSequences = batch
					step := server.StepFunc(func(b server.Batch) units.Seconds {
						return units.Seconds(fixed + token*float64(b.PrefillTokens) + each*float64(b.Decode) + read*b.DecodeContext)
					})
					return Built{Config: sim.Config{Workers: sim.Pool{Replicas: 1, Engine: e, Stepper: step}}}, nil
				},
			}
		}
		c := Candidate{Layout: parallel.Layout{Devices: 1, TP: 1, DP: 1}, Budget: rapid.SampledFrom([]int{3100, 4096, 16384}).Draw(t, "budget")}
		load := Load{Requests: rapid.IntRange(1, batch).Draw(t, "requests")}
		shared := bench()
		got, err := shared.Run(context.Background(), c, load, batch, Aim{})
		if err != nil {
			t.Fatal(err)
		}
		alone := bench()
		key := trialOf{Candidate: c, Load: load, batch: batch}
		want, err := alone.run(context.Background(), &key, alone.rule(&key, nil))
		if err != nil {
			t.Fatal(err)
		}
		if own++; shared.trials[key] == nil {
			own--
			taken++
		}
		a, b := *got, *want
		a.ran, b.ran = nil, nil
		a.fullest, b.fullest = 0, 0 // of the budget that was simulated
		if a != b {
			t.Fatalf("got %+v, want %+v", a, b)
		}
	})
	if taken == 0 || own == 0 {
		t.Errorf("%d trials were taken from another budget, %d were not", taken, own)
	}
}
