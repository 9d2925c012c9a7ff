package model

import (
	"slices"
	"testing"
)

// TestConversions: published checkpoints of a model in other formats are found by their names, and no other model is.
func TestConversions(t *testing.T) {
	ids := func(name string) []string {
		t.Helper()
		m, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, c := range m.Conversions() {
			out = append(out, c.ID)
		}
		return out
	}
	for _, c := range []struct {
		name string
		has  string
		not  string
	}{
		{"Qwen/Qwen3-32B", "Qwen/Qwen3-32B-FP8", ""},
		{"Qwen/Qwen3-32B", "nvidia/Qwen3-32B-NVFP4", ""},
		{"QWEN3_32B", "Qwen/Qwen3-32B-FP8-Static-PerTensor", ""},
		{"LLAMA3.1_8B", "nvidia/Llama-3.1-8B-Instruct-FP8", ""},
		{"meta-llama/Meta-Llama-3.1-8B", "", "nvidia/Llama-3.1-8B-Instruct-FP8"}, // other weights
		{"DEEPSEEK_V3", "nvidia/DeepSeek-V3-0324-NVFP4", "nvidia/DeepSeek-V3.1-NVFP4"},
		{"deepseek-ai/DeepSeek-V3", "", "nvidia/DeepSeek-V3-0324-NVFP4"},
		{"deepseek-ai/DeepSeek-R1", "nvidia/DeepSeek-R1-NVFP4", "nvidia/DeepSeek-R1-0528-NVFP4"},
		{"Qwen/Qwen3-30B-A3B", "Qwen/Qwen3-30B-A3B-FP8", "Qwen/Qwen3-30B-A3B-Instruct-2507-FP8"},
	} {
		got := ids(c.name)
		if c.has != "" && !slices.Contains(got, c.has) || slices.Contains(got, c.not) {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
