package search

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// TestBoundsHold: no simulation of a worker that does both carries more, or answers
// sooner, than its bounds say, with any part of the prompts in the prefix cache. What is
// pruned by them could not have won.
func TestBoundsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := func(name string, high float64) float64 { return rapid.Float64Range(0, high).Draw(t, name) }
		fixed, token, pair, context, each, read := 1e-3+x("fixed", 0.02), x("token", 1e-4), x("pair", 1e-8), x("context", 1e-6), x("each", 1e-4), x("read", 1e-7)
		batch := rapid.IntRange(1, 32).Draw(t, "batch")
		input := rapid.IntRange(1, 3000).Draw(t, "input")
		s := &Bench{Input: input, Output: rapid.IntRange(2, 200).Draw(t, "output"), Prefix: rapid.IntRange(0, input-1).Draw(t, "prefix")}
		p := sim.Pool{
			Replicas: 1, Engine: server.Engine{
				Policy: server.Policy(rapid.IntRange(0, 2).Draw(t, "policy")), MaxSequences: batch, TokenBudget: rapid.IntRange(64, 8192).Draw(t, "budget"),
				BlockTokens: rapid.SampledFrom([]int{1, 16, 64}).Draw(t, "block"), Blocks: 1 << 20, PrefixCache: true,
			},
			Stepper: server.StepFunc(func(b server.Batch) units.Seconds {
				return units.Seconds(fixed + token*float64(b.PrefillTokens) + pair*b.PrefillPairs + context*float64(b.PrefillContext) +
					each*float64(b.Decode) + read*b.DecodeContext)
			}),
		}
		if e := &p.Engine; e.Policy == server.InFlight {
			e.TokenBudget = max(e.TokenBudget, input+batch) // prompts are not split
		}
		if e := &p.Engine; rapid.Bool().Draw(t, "small cache") {
			e.Blocks = ((input+s.Output)/e.BlockTokens + 2) * rapid.IntRange(1, batch).Draw(t, "requests in the cache")
		}
		n := rapid.IntRange(1, batch).Draw(t, "requests")
		client := traffic.Benchmark(n, traffic.Lengths{Tokens: s.Input}, traffic.Lengths{Tokens: s.Output})
		client.Prefix = s.Prefix
		got, err := sim.Run(t.Context(), &sim.Config{Client: client, Workers: p, Seed: 1, Steady: &statistics.Steady{}})
		if err != nil {
			t.Fatal(err)
		}
		one := bounds{Bench: s, generates: s.worker(&parallel.Layout{Devices: 1, TP: 1, DP: 1}, p, &p, server.Link{}), y: 1}
		if most := one.throughput(n); got.OutputRate > most*(1+1e-9) {
			t.Fatalf("%g tokens/s, bound %g", got.OutputRate, most)
		}
		if least := one.ttft(); float64(got.TTFT.Mean) < least*(1-1e-9) {
			t.Fatalf("TTFT %v, bound %g", got.TTFT.Mean, least)
		}
		if least := one.latency(n); float64(got.Latency.Mean) < least*(1-1e-9) {
			t.Fatalf("latency %v, bound %g", got.Latency.Mean, least)
		}
		if least := one.tpot(n); n == 1 && float64(got.TPOT.Mean) < least*(1-1e-9) {
			t.Fatalf("TPOT %v, bound %g", got.TPOT.Mean, least)
		}
	})
}

// TestBoundsOfPairsHold: no simulation of workers for prefill and for decode carries more
// than its bound says, also where batches above some size are slow or caches are small.
func TestBoundsOfPairsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := func(name string, high float64) units.Seconds {
			return units.Seconds(rapid.Float64Range(0, high).Draw(t, name))
		}
		fixed, token, each, read := 1e-3+x("fixed", 0.02), x("token", 1e-4), x("each", 1e-4), x("read", 1e-7)
		captured, eager := 1<<rapid.IntRange(0, 6).Draw(t, "captured"), x("eager", 0.05)
		step := server.StepFunc(func(b server.Batch) units.Seconds {
			out := fixed + token*units.Seconds(b.PrefillTokens) + each*units.Seconds(b.Decode) + read*units.Seconds(b.DecodeContext)
			if b.Decode > captured {
				out += eager
			}
			return out
		})
		s := &Bench{Input: rapid.IntRange(1, 3000).Draw(t, "input"), Output: rapid.IntRange(2, 200).Draw(t, "output")}
		pool := func(name string) sim.Pool {
			blocks := (s.Input+s.Output)/16 + 2 // of a request
			return sim.Pool{Replicas: rapid.IntRange(1, 3).Draw(t, name), Stepper: step, Engine: server.Engine{
				MaxSequences: 64, TokenBudget: rapid.IntRange(64, 8192).Draw(t, name+" budget"), BlockTokens: 16,
				Blocks: blocks * rapid.IntRange(1, 64).Draw(t, name+" blocks"),
			}}
		}
		p, d := pool("prefill"), pool("decode")
		n := rapid.IntRange(1, 64).Draw(t, "requests")
		got, err := sim.Run(t.Context(), &sim.Config{
			Client: traffic.Benchmark(n, traffic.Lengths{Tokens: s.Input}, traffic.Lengths{Tokens: s.Output}), Workers: p, Decode: &d, Seed: 1, Steady: &statistics.Steady{},
		})
		if err != nil {
			t.Fatal(err)
		}
		b := bounds{Bench: s, x: p.Replicas, y: d.Replicas}
		p.Replicas, d.Replicas = 1, 1
		one := &parallel.Layout{Devices: 1, TP: 1, DP: 1}
		b.prefill, b.generates = s.worker(one, p, &p, server.Link{}), s.worker(one, d, &d, server.Link{})
		if most := min(b.throughput(n), b.decodes(n)*float64(s.Output)); got.OutputRate > most*(1+1e-9) {
			t.Fatalf("%g tokens/s, bound %g", got.OutputRate, most)
		}
	})
}
