package sim

import (
	"context"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// stages is a step model whose steps all take as long, and the slowest stage a part of that.
type stages struct{ took, slowest units.Seconds }

func (s stages) Step(server.Batch) units.Seconds { return s.took }

func (s stages) Decode(_ int, _, _ float64, steps int) units.Seconds {
	return s.took * units.Seconds(steps)
}

func (s stages) Through(server.Batch) (took, stage units.Seconds) { return s.took, s.slowest }

// TestPipelineByHand follows two prompts of two pieces through two stages of 1 s: the
// second piece is in the first stage while the first is in the second. The next prompt
// comes behind it, and then both generate in turn, each in its own batch.
func TestPipelineByHand(t *testing.T) {
	engine := server.Engine{Policy: server.DecodeFirst, TokenBudget: 8, MaxSequences: 10, Blocks: 100, BlockTokens: 16, Stages: 2}
	r := run(t, &Config{
		Client:  traffic.ClosedLoop{Requests: 2, Concurrency: 2, Input: traffic.Lengths{Tokens: 16}, Output: traffic.Lengths{Tokens: 3}},
		Workers: Pool{Engine: engine, Stepper: stages{2, 1}}, Records: true,
	})
	// Pieces of the first prompt leave at 2 and 3. Its batch then takes seven tokens of the
	// second prompt along, which are out at 5; the other batch, free at 2, has had eight
	// from 2 on, and the rest goes with it at 4.
	for i, want := range []struct{ first, end units.Seconds }{{3, 7}, {6, 10}} {
		near(t, fmt.Sprintf("request %d: first token", i), want.first, r.Records[i].TTFT)
		near(t, fmt.Sprintf("request %d: end", i), want.end, r.Records[i].Latency)
	}
}

// TestFullPipeline: as many batches as stages bring tokens as fast as the slowest stage
// works, and each request still waits for all stages.
func TestFullPipeline(t *testing.T) {
	for _, c := range []struct {
		slowest, token units.Seconds // of a step of 0.08; per token of a request
	}{{0.02, 0.08}, {0.025, 0.1}, {0.08, 0.32}} {
		for _, policy := range []server.Policy{server.DecodeFirst, server.PrefillFirst, server.InFlight} {
			engine := server.Engine{Policy: policy, TokenBudget: 8, MaxSequences: 32, BatchSequences: 8, Blocks: 10_000, BlockTokens: 16, Stages: 4}
			r := run(t, &Config{
				Client:  traffic.ClosedLoop{Requests: 32, Concurrency: 32, Input: traffic.Lengths{Tokens: 1}, Output: traffic.Lengths{Tokens: 2000}},
				Workers: Pool{Engine: engine, Stepper: stages{0.08, c.slowest}},
			})
			if got, want := r.TPOT.P50, c.token; got < want*0.999 || got > want*1.001 {
				t.Errorf("%v, %v: %v a token, want %v", policy, c.slowest, got, want)
			}
			if got, want := r.OutputRate, float64(8/c.slowest); got > want || got < 0.99*want {
				t.Errorf("%v, %v: %g tokens a second, want up to %g", policy, c.slowest, got, want)
			}
		}
	}
}

// TestPipelineOverlaps: with enough requests, stages that work at the same time finish
// earlier than stages that work in turn, and more of them earlier than fewer.
func TestPipelineOverlaps(t *testing.T) {
	for name, engine := range map[string]server.Engine{"vllm": vllm(), "sglang": sglang(), "trtllm": trtllm()} {
		for _, concurrency := range []int{64, 256} {
			took := func(stages int, slowest units.Seconds) units.Seconds {
				model := h100()
				model.slowest = slowest
				e := engine
				e.Stages = stages
				e.BatchSequences = max(1, concurrency/stages)
				return run(t, &Config{Client: closed(concurrency), Workers: Pool{Engine: e, Stepper: model}}).Duration
			}
			alone, before := took(1, 1), units.Seconds(1e9)
			for _, stages := range []int{2, 4, 8} {
				turns, overlapped := took(stages, 1), took(stages, 0)
				if overlapped > turns || overlapped > alone || overlapped > before {
					t.Errorf("%s, %d stages: %v, in turn %v, one stage %v, fewer stages %v", name, stages, overlapped, turns, alone, before)
				}
				before = overlapped
			}
		}
	}
}

// TestNoFasterThanItsSteps: however many batches are in flight, a request waits for every
// step that it needs.
func TestNoFasterThanItsSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyConfig(t)
		c.Decode = nil
		e := &c.Workers.Engine
		e.Stages = rapid.IntRange(2, 8).Draw(t, "stages of a pipeline")
		model, _ := c.Workers.Stepper.(affine)
		normal := e.WithDefaults()
		burst := normal.TokensPerStep()
		r, err := Run(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range r.Records {
			if q.Refused {
				continue
			}
			tokens := units.Seconds((q.Output - 2 + burst) / burst)
			if steps := (1 + tokens) * model.fixed; q.Latency < steps*(1-1e-9) || q.TTFT < model.fixed*(1-1e-9) {
				t.Fatalf("%v after %v for steps of %v", q.Latency, q.TTFT, steps)
			}
		}
	})
}

// TestAloneInPipeline: one request that generates alone gains nothing from stages.
func TestAloneInPipeline(t *testing.T) {
	for _, policy := range []server.Policy{server.DecodeFirst, server.PrefillFirst, server.InFlight} {
		var want units.Seconds
		for _, stages := range []int{1, 2, 5} {
			engine := server.Engine{Policy: policy, TokenBudget: 100, MaxSequences: 8, Blocks: 100, BlockTokens: 16, Stages: stages}
			r := run(t, &Config{
				Client:  traffic.ClosedLoop{Requests: 3, Concurrency: 1, Input: traffic.Lengths{Tokens: 80}, Output: traffic.Lengths{Tokens: 50}},
				Workers: Pool{Engine: engine, Stepper: h100()},
			})
			if stages == 1 {
				want = r.Duration
			}
			near(t, fmt.Sprintf("%v, %d stages", policy, stages), want, r.Duration)
		}
	}
}
