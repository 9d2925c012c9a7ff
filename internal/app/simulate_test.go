package app_test

import (
	"testing"

	"plimsoll/internal/app"
	"plimsoll/internal/parallel"
)

// TestDrafts: tokens drafted and kept shorten the time per token, whether a flag
// or a setting of the engine asks for them, and those never kept lengthen it.
func TestDrafts(t *testing.T) {
	t.Parallel()
	var w app.World
	tpot := func(tokens int, rate float64, set ...string) float64 {
		t.Helper()
		r, err := w.Simulate(t.Context(), &app.SimulateRequest{
			Model: "deepseek-ai/DeepSeek-R1", Device: "h200_sxm", Engine: "trtllm", Set: set,
			Layout: parallel.Layout{Devices: 8, TP: 8, PP: 1, DP: 1}, Replicas: 1,
			MTP: tokens, AcceptanceRates: []float64{rate},
			Concurrency: 4, Requests: 8, Input: 1024, Output: 256, LengthLow: 1,
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

// TestKernelsWithoutTables: a fit to no tables is refused.
func TestKernelsWithoutTables(t *testing.T) {
	t.Parallel()
	var w app.World
	if r, err := w.CalibrateKernels(&app.KernelsRequest{}); err == nil {
		t.Errorf("got %+v", r)
	}
}

// TestNamesFindTheirCell: under another name a model is still the one that was
// measured, so that it is tuned and its errors expected as the measured one's.
func TestNamesFindTheirCell(t *testing.T) {
	t.Parallel()
	var w app.World
	run := func(name string) *app.SimulateResponse {
		t.Helper()
		r, err := w.Simulate(t.Context(), &app.SimulateRequest{
			Model: name, Device: "h200_sxm", Engine: "sglang",
			Layout: parallel.Layout{Devices: 1, TP: 1, PP: 1, DP: 1}, Replicas: 1,
			Concurrency: 4, Requests: 8, Input: 1024, Output: 64, LengthLow: 1,
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
