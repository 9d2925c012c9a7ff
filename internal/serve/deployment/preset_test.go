package deployment_test

import (
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// TestPreset: it gives what the deployment does not, by role, weights and whatever form a setting was given in.
func TestPreset(t *testing.T) {
	t.Parallel()
	l := parallel.Layout{Devices: 8, TP: 8}
	for _, c := range []struct {
		name   string
		engine deployment.Engine
		format deployment.Formats
		model  string
		budget int
		kv     dtype.Format
	}{
		{"drawn", deployment.Engine{Preset: "inferencex"}, deployment.Formats{}, "deepseek-ai/DeepSeek-V3", 16384, dtype.FP8},
		{"a setting", deployment.Engine{Preset: "inferencex", Settings: []string{"token-budget=4096"}}, deployment.Formats{}, "deepseek-ai/DeepSeek-V3", 4096, dtype.FP8},
		{"a format", deployment.Engine{Preset: "InferenceX"}, deployment.Formats{KV: "bf16"}, "deepseek-ai/DeepSeek-V3", 16384, dtype.BF16},
		{"wide weights", deployment.Engine{Preset: "inferencex"}, deployment.Formats{}, "Qwen/Qwen3-8B", 16384, dtype.BF16},
		{"converted weights", deployment.Engine{Preset: "inferencex"}, deployment.Formats{Checkpoint: "fp8"}, "Qwen/Qwen3-8B", 16384, dtype.FP8},
		{"no preset", deployment.Engine{}, deployment.Formats{}, "deepseek-ai/DeepSeek-V3", 8192, dtype.BF16},
	} {
		asked := deployment.Deployment{Engine: c.engine, Formats: c.format, Pools: pool(l)}
		r, err := asked.Resolve(parts(t, c.model, "b200_sxm", "trtllm"))
		if err != nil {
			t.Fatal(err)
		}
		e := r.Generates().Engine
		if e.TokenBudget != c.budget || r.Generates().Spec.Quant.KV != c.kv {
			t.Errorf("%s: want %d tokens and a cache in %v, got %d and %v", c.name, c.budget, c.kv, e.TokenBudget, r.Generates().Spec.Quant.KV)
		}
		if said := strings.Contains(strings.Join(r.Notes, "\n"), "preset inferencex ("); said != (c.engine.Preset != "") {
			t.Errorf("%s: notes %q", c.name, r.Notes)
		}
		if len(asked.Pools[0].Settings) > 0 {
			t.Errorf("%s: the requested deployment is changed", c.name)
		}
	}
	asked := deployment.Deployment{Engine: deployment.Engine{Preset: "inferencex"}, Pools: pool(l)}
	if _, err := asked.Resolve(parts(t, "Qwen/Qwen3-8B", "b200_sxm", "")); err == nil || err.Error() != "engine_preset inferencex needs engine" {
		t.Errorf("without an engine: %v", err)
	}
}
