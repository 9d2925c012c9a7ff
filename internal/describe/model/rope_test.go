package model

import (
	"strings"
	"testing"
)

// TestRopeScaling: how many tokens a sequence may have.
func TestRopeScaling(t *testing.T) {
	config := func(rope string) string {
		return `{"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "hidden_size": 1024, "num_hidden_layers": 2,
			"num_attention_heads": 8, "intermediate_size": 3072, "vocab_size": 1000, "max_position_embeddings": 4096` + rope + `}`
	}
	for _, c := range []struct {
		name, rope string
		want       int
	}{
		{"none", ``, 4096},
		{"null", `, "rope_scaling": null`, 4096},
		{"yarn", `, "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096}`, 16384},
		{"yarn, the stretched length in max_position_embeddings", `, "rope_scaling": {"type": "yarn", "factor": 4, "original_max_position_embeddings": 1024}`, 4096},
		{"yarn without the original", `, "rope_scaling": {"type": "yarn", "factor": 2}`, 8192},
		{"linear", `, "rope_scaling": {"type": "linear", "factor": 2}`, 8192},
		{"llama3", `, "rope_scaling": {"rope_type": "llama3", "factor": 8, "original_max_position_embeddings": 1024}`, 4096},
		{"newer name", `, "rope_parameters": {"rope_type": "yarn", "factor": 4}`, 16384},
		{"absurd", `, "rope_scaling": {"type": "linear", "factor": 1e300}`, maxPositions},
		{"below one", `, "rope_scaling": {"type": "linear", "factor": -3}`, 4096},
		{"something else", `, "rope_scaling": ["yarn"]`, 4096},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Parse([]byte(config(c.rope)), nil)
			if err != nil {
				t.Fatal(err)
			}
			if m.Context() != c.want || m.MaxPosition != 4096 {
				t.Errorf("want %d, got %d", c.want, m.Context())
			}
		})
	}
	if _, err := Parse([]byte(strings.Replace(config(""), "4096", "0", 1)), nil); err == nil {
		t.Error("want an error without positions")
	}
}
