package nvidia_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/compat/nvidia"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// TestPlan: the guide's two commands are an aggregated and a disaggregated experiment.
func TestPlan(t *testing.T) {
	t.Parallel()
	f := nvidia.Flags{Model: "QWEN3_32B", System: "h200_sxm", TotalGPUs: 32}
	p, err := f.Plan()
	if err != nil {
		t.Fatal(err)
	}
	block := deployment.Formats{GEMM: "fp8_block", MoE: "fp8_block", KV: "fp8"}
	agg := experiment.Experiment{
		Name: "agg", Mode: experiment.Aggregated, Model: "QWEN3_32B", System: "h200_sxm", Devices: 32, Engine: deployment.Engine{Name: "trtllm"},
		Input: 4000, Output: 1000, Limits: workload.Limits{TTFT: 1, TPOT: 20 * units.Millisecond}, Workers: experiment.WorkerSpace{Formats: block},
	}
	disagg := agg
	disagg.Name, disagg.Mode, disagg.Decode = "disagg", experiment.Disaggregated, agg.Workers
	disagg.Replica = experiment.ReplicaSpace{Devices: []int{1, 2, 4, 8, 16, 24, 32}, MaxDevices: 128}
	if d := cmp.Diff([]experiment.Experiment{agg, disagg}, p.Experiments); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	want := "Effective parameters: isl=4000, osl=1000, ttft=1000 ms, tpot=20 ms, backend=trtllm" +
		" (assumed, with the defaults of the old generation: isl, osl, ttft, tpot, backend)"
	if p.Effective != want || p.Generation != nvidia.Old {
		t.Errorf("want %s\ngot  %s", want, p.Effective)
	}
	if d := cmp.Diff([]string{"QWEN3_32B on h200_sxm means weights in fp8_block, KV cache in fp8, as AIConfigurator chose them"}, p.Notes); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	f = nvidia.Flags{
		Model: "QWEN3_32B", System: "h200_sxm", TotalGPUs: 32, Backend: "trtllm", Input: 3000, Output: 512, TTFT: 1000, TPOT: 10, Prefix: 10,
	}
	if p, err = f.Plan(); err != nil {
		t.Fatal(err)
	}
	if want := "Effective parameters: isl=3000, osl=512, prefix=10, ttft=1000 ms, tpot=10 ms, backend=trtllm"; p.Effective != want {
		t.Errorf("want %s\ngot  %s", want, p.Effective)
	}
	for _, e := range p.Experiments {
		roundTrip(t, e)
	}
}

// TestPlanByGeneration: engines, modes, limits and drafts by how flags are spelled.
func TestPlanByGeneration(t *testing.T) {
	t.Parallel()
	two, accepted, auto := 2, 1.2, nvidia.AutoNextN
	for _, c := range []struct {
		f         nvidia.Flags
		names     string
		effective string
	}{
		{nvidia.Flags{Model: "Qwen/Qwen3-32B", TotalGPUs: 8}, "agg disagg", "ttft=2000 ms, tpot=30 ms"},
		{nvidia.Flags{Model: "Qwen/Qwen3-32B", TotalGPUs: 8, Underscores: true}, "agg disagg", "ttft=1000 ms, tpot=20 ms"},
		{nvidia.Flags{Model: "Qwen/Qwen3-32B", TotalGPUs: 1}, "agg", "the new generation"},
		{nvidia.Flags{Model: "Qwen/Qwen3-32B", TotalGPUs: 8, ServingMode: "disagg", DecodeSystem: "gb200_sxm"}, "disagg", ""},
		{
			nvidia.Flags{Model: "Qwen/Qwen3-32B", TotalGPUs: 8, Backend: "auto"},
			"agg_trtllm agg_sglang agg_vllm disagg_trtllm disagg_sglang disagg_vllm", "tpot=30 ms (assumed",
		},
		{nvidia.Flags{Model: "DEEPSEEK_V3", TotalGPUs: 8}, "agg disagg", "nextn=1"},
		{nvidia.Flags{Model: "deepseek-ai/DeepSeek-V3", TotalGPUs: 8, NextN: &two, NextNAccepted: &accepted}, "agg disagg", "nextn=2"},
		{nvidia.Flags{Model: "deepseek-ai/DeepSeek-V3", TotalGPUs: 8, NextN: &auto, NextNAccepted: new(0.8)}, "agg disagg", "nextn=1"},
		{nvidia.Flags{Model: "Qwen/Qwen3-32B", TotalGPUs: 8, NextN: &auto}, "agg disagg", "tpot=30 ms, backend"},
		{nvidia.Flags{Model: "Qwen/Qwen3-32B", TotalGPUs: 8, RequestLatency: 9000}, "agg disagg", "osl=1000, request_latency=9000 ms"},
		{nvidia.Flags{Model: "Qwen/Qwen3-32B", TotalGPUs: 8, TTFT: math.Inf(1)}, "agg disagg", "osl=1000, tpot=30 ms"},
	} {
		c.f.System = "h200_sxm"
		p, err := c.f.Plan()
		if err != nil {
			t.Errorf("%+v: %v", c.f, err)
			continue
		}
		var names []string
		for _, e := range p.Experiments {
			names = append(names, e.Name)
			roundTrip(t, e)
			if other := e.DecodeSystem; (other == "gb200") != (c.f.DecodeSystem != "") {
				t.Errorf("%+v: decode on %q", c.f, other)
			}
		}
		if got := strings.Join(names, " "); got != c.names {
			t.Errorf("%+v: want %s, got %s", c.f, c.names, got)
		}
		if !strings.Contains(p.Effective, c.effective) {
			t.Errorf("%+v: want %s in %s", c.f, c.effective, p.Effective)
		}
	}
}

// TestPlanMistakes: all mistakes of a command, in the words of its flags.
func TestPlanMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		f    nvidia.Flags
		want []string
	}{
		{nvidia.Flags{}, []string{"--model_path is missing", "--system is missing", "--total_gpus is missing"}},
		{
			nvidia.Flags{
				Model: "x", System: "h200_smx", DecodeSystem: "h100_smx", TotalGPUs: -1, Input: -4, ServingMode: "afd", Backend: "auto", BackendVersion: "1.0",
				TTFT: -1, TPOT: math.NaN(),
			},
			[]string{
				"--serving_mode must be one of auto, agg, disagg, got \"afd\"", "--backend_version 1.0 is for one engine", "--total_gpus must be between 1 and 1000000, got -1",
				"--isl must be between", "--ttft must be a positive", "--tpot must be a positive", "--system: unknown device", "--decode_system: unknown device",
			},
		},
		{nvidia.Flags{Model: "x", System: "h200_sxm", TotalGPUs: 8, Backend: "vlm"}, []string{"--backend: unknown engine \"vlm\"; nearest: vllm"}},
		{nvidia.Flags{Model: "x", System: "h200_sxm", TotalGPUs: 8, Input: 10, Prefix: 10}, []string{"--prefix: must be less than isl 10, got 10"}},
		{nvidia.Flags{Model: "x", System: "h200_sxm", TotalGPUs: 8, NextN: new(1)}, []string{"--nextn: 1 needs nextn_accepted"}},
		{nvidia.Flags{Model: "x", System: "h200_sxm", TotalGPUs: 8, NextN: new(-2)}, []string{"--nextn must be auto or between 0 and 9"}},
		{
			nvidia.Flags{
				Model: "x", System: "h200_sxm", TotalGPUs: 8, FreeGPUMemoryFraction: 2, MaxSeqLen: -1, Modes: nvidia.Modes{GEMM: "fp8block", KVCache: "nvfp4"},
			},
			[]string{
				"--free_gpu_memory_fraction must be above 0", "--max_seq_len must be between", "got \"fp8block\"; nearest: fp8_block",
				"--kvcache_quant_mode must be one of",
			},
		},
		{nvidia.Flags{Model: "x", System: "h200_sxm", TotalGPUs: 1, ServingMode: "disagg"}, []string{"--total_gpus: must be at least 2 for disagg"}},
	} {
		_, err := c.f.Plan()
		if err == nil {
			t.Errorf("%+v: want %q", c.f, c.want)
			continue
		}
		got := field.Say(err, func(n field.Name) string { return "--" + string(n) })
		for _, want := range c.want {
			if strings.Count(got, want) != 1 {
				t.Errorf("%+v: want %s once in\n%s", c.f, want, got)
			}
		}
	}
}

// TestFlagsAsFiles: flags and a file that say the same ask for the same.
func TestFlagsAsFiles(t *testing.T) {
	t.Parallel()
	f := nvidia.Flags{
		Model: "Qwen/Qwen3-30B-A3B", System: "h200_sxm", TotalGPUs: 8, ServingMode: "agg", Backend: "vllm", BackendVersion: "0.11.0", Prefix: 3,
		TTFT: 1000, TPOT: 50, FreeGPUMemoryFraction: 0.8, MaxSeqLen: 9000, EnableChunkedPrefill: true, EnableWideEP: true,
		Modes: nvidia.Modes{GEMM: "float16", MoE: "w4afp8", KVCache: "fp8"},
	}
	p, err := f.Plan()
	if err != nil {
		t.Fatal(err)
	}
	e, _ := read(t, strings.NewReplacer("a:", "agg:", "Qwen3-32B", "Qwen3-30B-A3B").Replace(base)+`
  backend_name: vllm
  backend_version: 0.11.0
  prefix: 3
  free_gpu_memory_fraction: 0.8
  max_seq_len: 9000
  enable_chunked_prefill: true
  enable_wideep: true
  gemm_quant_mode: bfloat16
  moe_quant_mode: w4afp8
  kvcache_quant_mode: fp8
`)
	if d := cmp.Diff(e, p.Experiments[0]); d != "" {
		t.Errorf("(-file +flags):\n%s", d)
	}
}

// TestFormats: the formats of one deployment are those of an experiment.
func TestFormats(t *testing.T) {
	t.Parallel()
	got, notes, err := nvidia.Formats("QWEN3_32B", "h200_sxm", nvidia.Modes{GEMM: "fp8"})
	if want := (deployment.Formats{GEMM: "fp8", MoE: "fp8_block", KV: "fp8"}); err != nil || got != want || len(notes) != 1 {
		t.Errorf("want %+v, got %+v, %q, %v", want, got, notes, err)
	}
	if _, _, err := nvidia.Formats("QWEN3_32B", "h2", nvidia.Modes{MoE: "fp7"}); err == nil ||
		!strings.Contains(err.Error(), "unknown device") || !strings.Contains(err.Error(), "moe_quant_mode must be one of") {
		t.Errorf("got %v", err)
	}
}
