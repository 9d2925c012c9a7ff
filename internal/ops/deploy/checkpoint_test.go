package deploy_test

import (
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/launch/files"
	"github.com/plimsoll-project/plimsoll/internal/ops/deploy"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// TestCheckpoint: files name a checkpoint in the predicted formats, or the flag that converts to them, or are refused with the choices;
// and reading them without their comments gives those formats.
func TestCheckpoint(t *testing.T) {
	fp8, block := deployment.Formats{GEMM: "fp8", MoE: "fp8", KV: "fp8"}, deployment.Formats{GEMM: "fp8_block", MoE: "fp8_block", KV: "fp8"}
	fp4 := deployment.Formats{GEMM: "nvfp4", MoE: "nvfp4", KV: "fp8"}
	for _, c := range []struct {
		model, system, engine string
		formats               deployment.Formats
		loads                 string // the checkpoint, and the flag after it
		refused               string
	}{
		{model: "Qwen/Qwen3-32B", system: "h200_sxm", engine: "vllm", loads: "Qwen/Qwen3-32B"},
		{model: "QWEN3_32B", system: "h200_sxm", engine: "trtllm", formats: block, loads: "Qwen/Qwen3-32B-FP8"},
		{model: "QWEN3_32B", system: "h200_sxm", engine: "vllm", formats: fp8, loads: "Qwen/Qwen3-32B-FP8-Static-PerTensor"},
		{model: "QWEN3_32B", system: "b200_sxm", engine: "trtllm", formats: fp4, loads: "nvidia/Qwen3-32B-NVFP4"},
		{model: "LLAMA3.1_8B", system: "h200_sxm", engine: "sglang", formats: fp8, loads: "nvidia/Llama-3.1-8B-Instruct-FP8"},
		{model: "DEEPSEEK_V3", system: "gb200", engine: "trtllm", formats: fp4, loads: "nvidia/DeepSeek-V3-0324-NVFP4"},
		{model: "Qwen/Qwen3-30B-A3B", system: "h200_sxm", engine: "sglang", formats: deployment.Formats{Checkpoint: "fp8"}, loads: "Qwen/Qwen3-30B-A3B-FP8"},
		{model: "Qwen/Qwen2.5-7B", system: "h200_sxm", engine: "vllm", formats: fp8, loads: "Qwen/Qwen2.5-7B fp8"},
		{model: "Qwen/Qwen2.5-7B", system: "h200_sxm", engine: "trtllm", formats: fp8, refused: "Qwen/Qwen2.5-7B (bf16)"},
		{model: "Qwen/Qwen3-32B", system: "h200_sxm", engine: "vllm", formats: deployment.Formats{Linear: "W8A8_DYNAMIC"}, refused: "model_path"},
	} {
		devices := 1
		if c.model == "DEEPSEEK_V3" {
			devices = 8
		}
		o := &experiment.Option{Concurrency: 4, Deployment: deployment.Deployment{
			Model: c.model, System: c.system, Engine: deployment.Engine{Name: c.engine}, Formats: c.formats,
			Pools: []deployment.Pool{{Role: deployment.Both, Replicas: 1, Layout: parallel.Layout{Devices: devices, TP: devices}}},
		}}
		p, err := deploy.Plan(new(session.Session), &session.Sources{}, &experiment.Experiment{Input: 512, Output: 64}, o, launch.Site{})
		if c.refused != "" {
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s %s: %v", c.model, c.engine, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s %s: %v", c.model, c.engine, err)
			continue
		}
		v, err := p.Values()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(v[0].Model + " " + v[0].Checkpoint); got != c.loads {
			t.Errorf("%s %s: loads %s, want %s", c.model, c.engine, got, c.loads)
		}
		all, _, err := files.Write(p, files.Dynamo)
		if err != nil {
			t.Fatal(err)
		}
		for i := range all {
			all[i].Data = []byte(strings.ReplaceAll(string(all[i].Data), "# plimsoll:", "#"))
		}
		found, err := launch.Read(all...)
		if err != nil {
			t.Fatal(err)
		}
		if found.Deployment.Model != v[0].Model || found.Deployment.Formats.Checkpoint != v[0].Checkpoint {
			t.Errorf("%s %s: read as %s %+v", c.model, c.engine, found.Deployment.Model, found.Deployment.Formats)
		}
	}
}
