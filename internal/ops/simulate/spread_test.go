package simulate_test

import (
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// TestSpread: settings from a preset give the figures of the same settings, and errors that are wider by what they could
// change; those that are given change nothing.
func TestSpread(t *testing.T) {
	t.Parallel()
	ask := func(preset string, settings ...string) *simulate.Response {
		r := simulate.Request{Deployment: deployment.Deployment{
			Model: "deepseek-ai/DeepSeek-R1", System: "b200_sxm", Engine: deployment.Engine{Name: "trtllm", Preset: preset, Settings: settings},
			Pools: []deployment.Pool{{Layout: parallel.Layout{TP: 8}}},
		}}
		r.Concurrency, r.Requests, r.Input, r.Output = 64, 128, 2000, 100
		out, err := simulate.Run(t.Context(), new(session.Session), r)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	all := []string{"kv_format=fp8", "memory_share=0.8", "token_budget=16384"}
	given, drawn, both := ask("", all...), ask("inferencex"), ask("inferencex", all...)
	if drawn.Result.TTFT.Mean != given.Result.TTFT.Mean || drawn.Result.TPOT.Mean != given.Result.TPOT.Mean {
		t.Errorf("want the figures of the same settings: %v, got %v", given.Result.TTFT.Mean, drawn.Result.TTFT.Mean)
	}
	width := func(r *simulate.Response) float64 { return r.Expected.TTFT.High - r.Expected.TTFT.Low }
	if width(drawn) < 1.02*width(given) {
		t.Errorf("a token budget from 1,152 to 20,000 widens TTFT from %.3f to %.3f only", width(given), width(drawn))
	}
	if both.Expected.TTFT != given.Expected.TTFT {
		t.Errorf("what is given is in doubt: %v and %v", both.Expected.TTFT, given.Expected.TTFT)
	}
}
