package nvidia_test

import (
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/compat/nvidia"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/ops/estimate"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
)

// TestEstimateFlags: flags become one deployment, with the command's own defaults.
func TestEstimateFlags(t *testing.T) {
	f := nvidia.EstimateFlags{Flags: nvidia.Flags{Model: "QWEN3_32B", System: "h200_sxm"}, ContextTokens: 2048}
	f.Workers.TP = 4
	r, notes, err := f.Request()
	if err != nil {
		t.Fatal(err)
	}
	e := &r.Experiment
	if e.Input != 1024 || e.Output != 1024 || e.Limits.Any() || r.Workers.Batch != 128 || r.Workers.Count != 1 || r.Static != estimate.NotStatic {
		t.Errorf("defaults: %+v", r)
	}
	if e.Engine.Name != "trtllm" || len(e.Engine.Settings) != 1 || e.Engine.Settings[0] != "token_budget=2048" || e.Workers.Formats.GEMM != "fp8_block" {
		t.Errorf("engine and formats: %+v", e)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "means weights in fp8_block") {
		t.Errorf("notes: %q", notes)
	}

	f = nvidia.EstimateFlags{Flags: nvidia.Flags{Model: "Qwen/Qwen3-30B-A3B", System: "b200_sxm", DecodeSystem: "h200_sxm", TTFT: 500}, Mode: "disagg"}
	f.Prefill = nvidia.WorkerFlags{TP: 2, MoETP: 2, Batch: 1, Count: 3}
	f.Decode = nvidia.WorkerFlags{DP: 4, EP: 4, Batch: 16, Count: 2}
	if r, _, err = f.Request(); err != nil {
		t.Fatal(err)
	}
	if want := (estimate.Workers{Count: 3, Layout: parallel.Layout{Devices: 2, TP: 2, PP: 1, DP: 1, EP: 1, MoETP: 2, MoEDP: 1, DCP: 1}, Batch: 1}); r.Prefill != want {
		t.Errorf("prefill: %+v, want %+v", r.Prefill, want)
	}
	if want := (estimate.Workers{Count: 2, Layout: parallel.Layout{Devices: 4, TP: 1, PP: 1, DP: 4, EP: 4, MoEDP: 1, DCP: 1}, Batch: 16}); r.Workers != want {
		t.Errorf("decode: %+v, want %+v", r.Workers, want)
	}
	if e := &r.Experiment; e.Mode != experiment.Disaggregated || e.DecodeSystem != "h200_sxm" || e.Devices != 14 || e.Limits.TTFT != 0.5 || e.Limits.TPOT != 0 {
		t.Errorf("experiment: %+v", e)
	}
}

// TestEstimateMistakes: each is named by its flag.
func TestEstimateMistakes(t *testing.T) {
	for want, change := range map[string]func(*nvidia.EstimateFlags){
		`estimate_mode must be one of agg, disagg, static, static_ctx, static_gen, got "statc"; nearest: static`: func(f *nvidia.EstimateFlags) { f.Mode = "statc" },
		"tp_size must be between 1 and 1000000, got -1":                                                          func(f *nvidia.EstimateFlags) { f.Workers.TP = -1 },
		"decode_ep_size does not go with estimate_mode agg":                                                      func(f *nvidia.EstimateFlags) { f.Decode.EP = 2 },
		"prefill_workers is missing: estimate_mode disagg needs it":                                              func(f *nvidia.EstimateFlags) { f.Mode = "disagg" },
		"moe_tp_size and ep_size must divide tp_size × dp_size, which is 4":                                      func(f *nvidia.EstimateFlags) { f.Workers.TP, f.Workers.EP = 4, 3 },
		"moe_tp_size × ep_size is 4, and tp_size × dp_size is 2":                                                 func(f *nvidia.EstimateFlags) { f.Workers = nvidia.WorkerFlags{DP: 2, EP: 2, MoETP: 2} },
		"concurrency must be at least 1, got -1":                                                                 func(f *nvidia.EstimateFlags) { f.Concurrency = -1 },
		"ctx_tokens must be at least 1, got -1":                                                                  func(f *nvidia.EstimateFlags) { f.ContextTokens = -1 },
		"backend auto stands for several engines":                                                                func(f *nvidia.EstimateFlags) { f.Backend = "auto" },
		"model_path is missing":                                                                                  func(f *nvidia.EstimateFlags) { f.Model = "" },
		"concurrency does not go with estimate_mode static_gen, which serves one":                                func(f *nvidia.EstimateFlags) { f.Mode, f.Concurrency = "static_gen", 2 },
	} {
		f := nvidia.EstimateFlags{Flags: nvidia.Flags{Model: "Qwen/Qwen3-30B-A3B", System: "h200_sxm"}}
		change(&f)
		if _, _, err := f.Request(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
