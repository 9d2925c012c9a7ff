package replica_test

import (
	"context"
	"math"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/serve/replica"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// staged is a model on so many pipeline stages.
func staged(t *testing.T, id, engineName string, stages int) *replica.Replica {
	t.Helper()
	r, err := buildLayout(t, id, "h200_sxm", engineName, parallel.Layout{Devices: stages, TP: 1, PP: stages})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func served(t *testing.T, r *replica.Replica, concurrency int) *statistics.Result {
	t.Helper()
	client := traffic.Benchmark(concurrency, traffic.Lengths{Tokens: 1000}, traffic.Lengths{Tokens: 300})
	client.Requests = 4 * concurrency
	out, err := sim.Run(context.Background(), &sim.Config{Client: client, Workers: r.Pool(1)})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestStagesOverlap: under load, more stages carry more, and close to as many times as many
// devices as there are where every device has as much to do; a request alone gains nothing.
func TestStagesOverlap(t *testing.T) {
	for _, name := range []string{"vllm", "sglang", "trtllm"} {
		alone, before := served(t, staged(t, "Qwen/Qwen3-32B", name, 1), 1), served(t, staged(t, "Qwen/Qwen3-32B", name, 1), 256).OutputRate
		for _, stages := range []int{2, 4} {
			r := staged(t, "Qwen/Qwen3-32B", name, stages)
			if got := served(t, r, 256).OutputRate; got < 1.3*before {
				t.Errorf("%s: %g tokens/s on %d stages, %g on half of them", name, got, stages, before)
			} else {
				before = got
			}
			if got := served(t, r, 1); got.TPOT.Mean < alone.TPOT.Mean {
				t.Errorf("%s: a token of a request alone takes %v on %d stages, %v on one", name, got.TPOT.Mean, stages, alone.TPOT.Mean)
			}
		}
	}
}

// TestSlowestStage: a stage takes at least an even part of a step and at most all of it; with
// the head in the last stage and a layer more in others it takes more than an even part.
func TestSlowestStage(t *testing.T) {
	for _, stages := range []int{2, 3, 4, 7} {
		r := staged(t, "Qwen/Qwen3-8B", "trtllm", stages) // 36 layers
		p, ok := r.Pool(1).Stepper.(server.Pipeline)
		if !ok {
			t.Fatal("no pipeline")
		}
		for _, b := range []server.Batch{
			{Decode: 1, DecodeContext: 1000, Sampled: 1},
			{Decode: 200, DecodeContext: 4e5, Sampled: 200},
			{PrefillRequests: 1, PrefillTokens: 8000, PrefillPairs: 3.2e7, Sampled: 1},
		} {
			took, stage := p.Through(b)
			if want := p.Step(b); took != want {
				t.Errorf("%d stages: a step of %v through all stages takes %v", stages, want, took)
			}
			if even := took / units.Seconds(stages); !(stage > even) || stage > took {
				t.Errorf("%d stages: %v of %v in the slowest", stages, stage, took)
			}
		}
	}
}

// TestLimitsOfBatches: vLLM counts the sequences of all batches, SGLang cuts them among the
// batches, TensorRT-LLM has as many in each.
func TestLimitsOfBatches(t *testing.T) {
	for name, want := range map[string]struct{ all, batch float64 }{"vllm": {1, 0}, "sglang": {1, 0.25}, "trtllm": {4, 1}} {
		one, four := staged(t, "Qwen/Qwen3-8B", name, 1).Pool(1).Engine, staged(t, "Qwen/Qwen3-8B", name, 4).Pool(1).Engine
		n := float64(one.MaxSequences)
		if four.Stages != 4 || float64(four.MaxSequences) != want.all*n || float64(four.BatchSequences) != math.Floor(want.batch*n) {
			t.Errorf("%s: %d of %d sequences in %d batches, %g without", name, four.BatchSequences, four.MaxSequences, four.Stages, n)
		}
	}
}
