package model

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// oddConfig is a config of an architecture that does not exist.
const oddConfig = `{
	"architectures": ["OddForCausalLM"], "hidden_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4,
	"intermediate_size": 256, "vocab_size": 1000, "max_position_embeddings": 4096
}`

// gptConfig says the same in the words of GPT-2.
const gptConfig = `{
	"architectures": ["OddForCausalLM"], "n_embd": 64, "n_layer": 3, "n_head": 4,
	"n_inner": 256, "vocab_size": 1000, "n_positions": 4096
}`

func TestGeneric(t *testing.T) {
	with := func(fields string) string { return edit(oddConfig, `"vocab_size"`, fields+`, "vocab_size"`) }
	for _, c := range []struct {
		name, config string
		want         []string // descriptions of the layers
	}{
		{"dense", oddConfig, []string{"4/4 heads of 16, MLP 256"}},
		{"other words", gptConfig, []string{"4/4 heads of 16, MLP 256"}},
		{"grouped", with(`"num_key_value_heads": 2, "head_dim": 32`), []string{"4/2 heads of 32, MLP 256"}},
		{"experts", with(`"num_local_experts": 8, "num_experts_per_tok": 2`), []string{"4/4 heads of 16, 2 of 8 experts of 256"}},
		{"one expert", with(`"num_experts": 1`), []string{"4/4 heads of 16, MLP 256"}},
		{
			"dense first", with(`"n_routed_experts": 8, "moe_topk": [2, 2, 2], "moe_intermediate_size": 32, "num_shared_experts": 2, "first_k_dense_replace": 1`),
			[]string{"4/4 heads of 16, MLP 256", "4/4 heads of 16, 2 of 8 experts of 32 + shared 64"},
		},
		{
			"latent", with(`"kv_lora_rank": 16, "q_lora_rank": 8, "qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "v_head_dim": 16`),
			[]string{"MLA 4 heads of 24, latent 16+8, MLP 256"},
		},
		{
			"windows", with(`"sliding_window": 128, "layer_types": ["sliding_attention", "sliding_attention", "full_attention"]`),
			[]string{"4/4 heads of 16, window 128, MLP 256", "4/4 heads of 16, MLP 256"},
		},
		{"unused window", with(`"sliding_window": 128, "use_sliding_window": false`), []string{"4/4 heads of 16, MLP 256"}},
	} {
		m, err := ParseAs([]byte(c.config), nil, "generic")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, k := range m.Kinds {
			got = append(got, k.String())
		}
		if !slices.Equal(c.want, got) {
			t.Errorf("%s: want %q, got %q", c.name, c.want, got)
		}
		if m.Architecture != "OddForCausalLM" || m.Family != "generic" || len(m.Layers) != 3 || len(m.Notes) < 2 {
			t.Errorf("%s: got %+v", c.name, m)
		}
	}
}

func TestReadAs(t *testing.T) {
	for _, c := range []struct{ name, config, as, want string }{
		{"fields of the family", oddConfig, "mixtral", "config.json: n_routed_experts: missing (family mixtral)"},
		{"a field by its other name", edit(gptConfig, `"n_layer": 3`, `"n_layer": -3`), "generic", "config.json: n_layer: -3 is negative"},
		{"a missing field", edit(oddConfig, `"intermediate_size": 256, `, ""), "generic", "config.json: intermediate_size: missing (family generic)"},
		{"no family", oddConfig, "lama", `as_family: "lama" is not a family; nearest: llama`},
		{"no family at all", oddConfig, "xyz", `as_family: "xyz" is not a family; the families are afmoe, `},
	} {
		_, err := ParseAs([]byte(c.config), nil, c.as)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: want %s\ngot  %v", c.name, c.want, err)
		}
	}
	if m, err := ParseAs([]byte(oddConfig), nil, "Llama"); err != nil || m.Family != "llama" {
		t.Errorf("got %+v, %v", m, err)
	}
}

// Models of the catalog keep the family they have there.
func TestOpenAs(t *testing.T) {
	s := Source{As: "llama", Hub: fstest.MapFS{"models--org--odd/snapshots/a/config.json": file(oddConfig)}}
	if m, err := s.Open("org/odd"); err != nil || m.Family != "llama" {
		t.Errorf("got %+v, %v", m, err)
	}
	if _, err := s.Open("meta-llama/Llama-3.1-8B"); err != nil {
		t.Error(err)
	}
	want := "as_family llama: Qwen/Qwen3-8B is in the catalog, as family qwen3; give a folder with its config.json to read it otherwise"
	for _, name := range []string{"Qwen/Qwen3-8B", "qwen3-8b"} {
		if _, err := s.Open(name); err == nil || err.Error() != want {
			t.Errorf("%s: want %s\ngot  %v", name, want, err)
		}
	}
}
