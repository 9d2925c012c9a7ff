package replica_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
)

// TestRanks: ranks that share experts step together. Equal work on each takes as
// long as that of one alone, a prompt on one rank holds up all, and a run of steps
// is their sum.
func TestRanks(t *testing.T) {
	one, err := buildRanks(t, "deepseek-ai/DeepSeek-V3", 8)
	if err != nil {
		t.Fatal(err)
	}
	all := one.Pool(1)
	alone := vllm(t, "b200_sxm", 8)
	if all.Replicas != 1 || all.Engine.MaxSequences != 8*alone.MaxSequences || all.Engine.TokenBudget != 8*alone.TokenBudget {
		t.Errorf("%d copies, %d sequences, %d tokens", all.Replicas, all.Engine.MaxSequences, all.Engine.TokenBudget)
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 64).Draw(t, "requests of a rank")
		context := rapid.Float64Range(0, 1e6).Draw(t, "context")
		want := one.Step(server.Batch{Decode: n, DecodeContext: context, Sampled: n})
		b := server.Batch{Decode: 8 * n, DecodeContext: 8 * context, Sampled: 8 * n}
		if got := all.Stepper.Step(b); !near(got, want) {
			t.Fatalf("eight ranks take %v, one %v", got, want)
		}
		tokens := rapid.IntRange(1, 8192).Draw(t, "prompt")
		b.PrefillRequests, b.PrefillTokens, b.PrefillPairs = 1, tokens, float64(tokens*(tokens+1)/2)
		prompt := one.Step(server.Batch{PrefillRequests: 1, PrefillTokens: tokens, PrefillPairs: b.PrefillPairs, Sampled: 1})
		if got := all.Stepper.Step(b); got < prompt {
			t.Fatalf("a step with a prompt on one rank takes %v, the prompt alone %v", got, prompt)
		}
		// Ranks cut their prompts at their own budgets: one more prompt than ranks, the
		// budgets full, is a full budget on each.
		full := alone.TokenBudget
		cut := server.Batch{PrefillRequests: 9, PrefillTokens: 8 * full, PrefillPairs: 8 * float64(full) * float64(full) / 2}
		each := server.Batch{PrefillRequests: 2, PrefillTokens: full, PrefillPairs: float64(full) * float64(full) / 2}
		if got, want := all.Stepper.Step(cut), one.Step(each); !near(got, want) {
			t.Fatalf("full budgets on eight ranks take %v, on one %v", got, want)
		}
		steps := rapid.IntRange(1, 50).Draw(t, "steps")
		run := all.Stepper.Decode(n, context, float64(n), steps)
		sum := server.StepFunc(all.Stepper.Step).Decode(n, context, float64(n), steps)
		if !near(run, sum) {
			t.Fatalf("%d steps take %v, their sum is %v", steps, run, sum)
		}
	})
	dense, err := buildRanks(t, "Qwen/Qwen3-8B", 4)
	if err != nil {
		t.Fatal(err)
	}
	if p := dense.Pool(2); p.Replicas != 8 || p.Engine.MaxSequences != alone.MaxSequences {
		t.Errorf("dense: %d copies of %d sequences", p.Replicas, p.Engine.MaxSequences)
	}
}

// vllm is the newest vLLM's profile on devices.
func vllm(t *testing.T, system string, devices int) *engine.Profile {
	t.Helper()
	d, err := device.Lookup(system)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.LookupVersion("vllm", "")
	if err != nil {
		t.Fatal(err)
	}
	return e.On(d, engine.Use{Devices: devices})
}

// near allows for the rounding of sums, and for host work that is hidden in some
// steps of a run and not in others.
func near(a, b units.Seconds) bool {
	const tolerance = 0.01
	return a <= b*(1+tolerance) && b <= a*(1+tolerance)
}
