package simulate_test

import (
	"context"
	"errors"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// on is a deployment of a model with one pool.
func on(model, system string, l parallel.Layout) deployment.Deployment {
	return deployment.Deployment{Model: model, System: system, Pools: []deployment.Pool{{Layout: l}}}
}

// TestDrafts: tokens drafted and kept shorten the time per token, whether a flag
// or a setting of the engine asks for them, and those never kept lengthen it.
func TestDrafts(t *testing.T) {
	t.Parallel()
	var w session.Session
	tpot := func(tokens int, rate float64, set ...string) float64 {
		t.Helper()
		d := on("deepseek-ai/DeepSeek-R1", "h200_sxm", parallel.Layout{TP: 8})
		d.Engine = deployment.Engine{Name: "trtllm", Settings: set}
		d.Pools[0].MTP, d.Pools[0].AcceptanceRates = tokens, []float64{rate}
		r, err := simulate.Run(t.Context(), &w, simulate.Request{
			Deployment: d, Traffic: simulate.Traffic{Concurrency: 4, Requests: 8, Input: 1024, Output: 256},
		})
		if err != nil {
			t.Fatal(err)
		}
		return r.Result.TPOT.Mean.Ms()
	}
	plain, kept, lost := tpot(0, 0.8), tpot(1, 0.8), tpot(1, 0)
	if kept > plain/1.3 || kept < plain/1.8 || lost <= plain {
		t.Errorf("%.2f ms without drafts, %.2f with 0.8 kept, %.2f with none kept", plain, kept, lost)
	}
	if set := tpot(0, 0.8, "mtp.tokens=1"); set != kept {
		t.Errorf("%.2f ms by a setting, %.2f by a flag", set, kept)
	}
}

// TestNamesFindTheirCell: under another name a model is still the one that was
// measured, so that it is tuned and its errors expected as the measured one's.
func TestNamesFindTheirCell(t *testing.T) {
	t.Parallel()
	var w session.Session
	run := func(name string) *simulate.Response {
		t.Helper()
		d := on(name, "h100_sxm", parallel.Layout{})
		d.Engine.Name = "trtllm"
		r, err := simulate.Run(t.Context(), &w, simulate.Request{
			Deployment: d, Traffic: simulate.Traffic{Concurrency: 4, Requests: 8, Input: 1024, Output: 64},
		})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	measured, copied, other := run("meta-llama/Llama-3.1-8B-Instruct"), run("unsloth/Llama-3.1-8B-Instruct"), run("meta-llama/Meta-Llama-3-8B-Instruct")
	if copied.Expected != measured.Expected || copied.Result.TPOT != measured.Result.TPOT {
		t.Errorf("want %+v, got %+v", measured.Expected, copied.Expected)
	}
	if other.Expected == measured.Expected {
		t.Errorf("a model of the same shape that was not measured is expected to err alike: %+v", other.Expected)
	}
}

// TestZeroRequest: what a request leaves open takes its default.
func TestZeroRequest(t *testing.T) {
	t.Parallel()
	var w session.Session
	r, err := simulate.Run(t.Context(), &w, simulate.Request{
		Deployment: deployment.Deployment{Model: "Qwen/Qwen3-8B"}, Traffic: simulate.Traffic{Concurrency: 2},
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Engine != simulate.DefaultEngine || r.Device != simulate.DefaultSystem || r.Result.Sampling == nil {
		t.Errorf("%d requests under %s on %s", r.Result.Finished, r.Engine, r.Device)
	}
	s, err := step.Run(t.Context(), &w, step.Request{Deployment: deployment.Deployment{Model: "Qwen/Qwen3-8B"}, Decode: true})
	if err != nil {
		t.Fatal(err)
	}
	if s.Device != step.DefaultDevice || s.Requests != 1 || s.Sizes.Devices != 1 {
		t.Errorf("%d requests on %d × %s", s.Requests, s.Sizes.Devices, s.Device)
	}
}

// TestCancelled: a simulation ends when it is no longer wanted.
func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var w session.Session
	long := simulate.Request{
		Deployment: deployment.Deployment{Model: "Qwen/Qwen3-8B"}, Traffic: simulate.Traffic{Concurrency: 64, Requests: 100_000, LengthLow: 0.5},
	}
	if _, err := simulate.Run(ctx, &w, long); !errors.Is(err, context.Canceled) {
		t.Errorf("a simulation: %v", err)
	}
}

// TestWeightFormatsHaveAPrice: every word for the format of weights is priced, and with
// few requests, where a step reads weights, narrower ones are faster.
func TestWeightFormatsHaveAPrice(t *testing.T) {
	t.Parallel()
	var w session.Session
	for _, model := range []string{"Qwen/Qwen3-32B", "Qwen/Qwen3-30B-A3B"} {
		tpot := map[string]float64{}
		for _, word := range dtype.WeightFormats() {
			d := on(model, "b200_sxm", parallel.Layout{TP: 2})
			d.Engine.Name, d.Formats = "trtllm", deployment.Formats{GEMM: word, MoE: word, KV: "fp8"}
			r, err := simulate.Run(t.Context(), &w, simulate.Request{
				Deployment: d, Traffic: simulate.Traffic{Concurrency: 4, Requests: 8, Input: 1024, Output: 64},
			})
			if err != nil {
				t.Errorf("%s %s: %v", model, word, err)
				continue
			}
			tpot[word] = r.Result.TPOT.Mean.Ms()
		}
		for _, word := range dtype.WeightFormats()[1:] {
			if tpot[word] > 1.2*tpot["bf16"] || tpot[word] <= 0 {
				t.Errorf("%s: %.3f ms in %s, %.3f in bf16", model, tpot[word], word, tpot["bf16"])
			}
		}
	}
}
