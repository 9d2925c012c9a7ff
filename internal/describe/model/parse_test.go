package model

import (
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// qwen3Config is a small valid config; edit replaces parts of it.
const qwen3Config = `{
	"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3",
	"hidden_size": 4096, "num_hidden_layers": 2, "num_attention_heads": 64, "num_key_value_heads": 8,
	"head_dim": 128, "intermediate_size": 12288, "vocab_size": 1000, "max_position_embeddings": 40960
}`

// qwenNextConfig is a small valid config whose linear layers are counted off.
const qwenNextConfig = `{
	"architectures": ["Qwen3_5ForCausalLM"], "model_type": "qwen3_5_text",
	"hidden_size": 64, "num_hidden_layers": 8, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
	"linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 16, "linear_value_head_dim": 16, "linear_conv_kernel_dim": 4,
	"intermediate_size": 128, "vocab_size": 1000, "max_position_embeddings": 4096
}`

// deepseekConfig is a small valid config with experts.
const deepseekConfig = `{
	"architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3",
	"hidden_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4,
	"q_lora_rank": 16, "kv_lora_rank": 16, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4, "v_head_dim": 8,
	"intermediate_size": 128, "moe_intermediate_size": 32, "n_routed_experts": 8, "n_shared_experts": 1,
	"num_experts_per_tok": 2, "first_k_dense_replace": 1, "vocab_size": 1000, "max_position_embeddings": 4096
}`

func edit(config string, pairs ...string) string {
	return strings.NewReplacer(pairs...).Replace(config)
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ name, config, want string }{
		{
			"unknown architecture", edit(qwen3Config, "Qwen3ForCausalLM", "Qwen4ForCausalLM"),
			`config.json: architecture "Qwen4ForCausalLM" is not supported; as_family reads it as another family: qwen3, qwen2, qwen, generic (any decoder)`,
		},
		{
			"unknown model type", `{"model_type": "gemma5"}`,
			`config.json: architecture "gemma5" is not supported; as_family reads it as another family: gemma4, gemma3, gemma2, generic (any decoder)`,
		},
		{
			"nothing", `{}`,
			`config.json: neither architectures nor model_type is given: not a language model's config`,
		},
		{
			"diffusers", `{"_class_name": "FluxTransformer2DModel", "_diffusers_version": "0.30.0"}`,
			`config.json: a diffusers pipeline (FluxTransformer2DModel), not a language model`,
		},
		{
			"missing", edit(qwen3Config, `"hidden_size": 4096, `, ""),
			`config.json: hidden_size: missing (family qwen3)`,
		},
		{
			"several", edit(qwen3Config, `"vocab_size": 1000`, `"vocab_size": -5`, `"intermediate_size": 12288, `, ""),
			"config.json: vocab_size: -5 is negative\nconfig.json: intermediate_size: missing (family qwen3)",
		},
		{
			"interval", edit(qwenNextConfig, `"vocab_size"`, `"full_attention_interval": 0, "vocab_size"`),
			`config.json: full_attention_interval: missing (family qwen3_5)`,
		},
		{
			"absurd", edit(qwen3Config, `"num_hidden_layers": 2`, `"num_hidden_layers": 2000000000`),
			`config.json: num_hidden_layers: 2000000000 is implausible, at most 1024 is allowed`,
		},
		{
			"kv heads", edit(qwen3Config, `"num_key_value_heads": 8`, `"num_key_value_heads": 7`),
			`config.json: num_key_value_heads: 7 does not divide num_attention_heads 64`,
		},
		{
			"wrong type", edit(qwen3Config, `"hidden_size": 4096`, `"hidden_size": "big"`),
			`config.json: hidden_size: want an integer, got string`,
		},
		{
			"fraction", edit(qwen3Config, `"hidden_size": 4096`, `"hidden_size": 4096.5`),
			`config.json: hidden_size: want an integer, got number 4096.5`,
		},
		{
			"list length", edit(qwen3Config, `"vocab_size"`, `"layer_types": ["full_attention"], "vocab_size"`),
			`config.json: layer_types: 1 entries, want num_hidden_layers = 2`,
		},
		{
			"layer type", edit(qwen3Config, `"vocab_size"`, `"layer_types": ["full_attention", "odd"], "vocab_size"`),
			`config.json: layer_types: entry 1: "odd" is not one of [full_attention sliding_attention]`,
		},
		{
			"number format", edit(qwen3Config, `"vocab_size"`, `"torch_dtype": "int3", "vocab_size"`),
			`config.json: dtype: "int3" is not a known number format`,
		},
		{
			"rotary", edit(qwen3Config, `"vocab_size"`, `"partial_rotary_factor": 7, "vocab_size"`),
			`config.json: partial_rotary_factor: 7 is not between 0 and 1`,
		},
		{
			"too many chosen", edit(deepseekConfig, `"num_experts_per_tok": 2`, `"num_experts_per_tok": 9`),
			`config.json: num_experts_per_tok: 9 is more than n_routed_experts 8`,
		},
		{
			"latent", edit(deepseekConfig, `"kv_lora_rank": 16, `, ""),
			`config.json: kv_lora_rank: missing (family deepseek_v3)`,
		},
		{
			"embedded field", edit(deepseekConfig, `"kv_lora_rank": 16`, `"kv_lora_rank": []`),
			`config.json: kv_lora_rank: want an integer, got array`,
		},
		{
			"nested", `{"architectures": ["Gemma3ForConditionalGeneration"], "text_config": {"num_hidden_layers": 2, "intermediate_size": 64}}`,
			`config.json: text_config.hidden_size: missing (family gemma3)`,
		},
		{
			"pattern letter", `{"model_type": "nemotron_h", "hidden_size": 64, "vocab_size": 100, "max_position_embeddings": 64,
				"num_hidden_layers": 2, "hybrid_override_pattern": "MX"}`,
			"config.json: hybrid_override_pattern: letter 1: \"X\" is not M, *, - or E\n" +
				"config.json: hybrid_override_pattern: missing (family nemotron_h)",
		},
		{
			"too many parameters", edit(qwen3Config, `"hidden_size": 4096`, `"hidden_size": 1048576`,
				`"intermediate_size": 12288`, `"intermediate_size": 4194304`, `"num_hidden_layers": 2`, `"num_hidden_layers": 1024`),
			`config.json: its fields give 1.35e+16 parameters, more than any model has`,
		},
		{"not an object", `[1]`, `config.json: top level: want an object, got array`},
		{"cut short", `{"architectures": [`, `config.json: not valid JSON at byte 19: unexpected end of JSON input`},
		{"too large", strings.Repeat(" ", int(bound.Config.Bytes())+1), `config.json: too large with 8.1 MiB; a config.json may have at most 8 MiB`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Parse([]byte(c.config), nil)
			if err == nil {
				t.Fatalf("want an error, got %+v", m)
			}
			if err.Error() != c.want {
				t.Errorf("want %s\ngot  %s", c.want, err)
			}
		})
	}
}

// Python writes NaN and Infinity, which JSON does not know.
func TestNonFiniteLiterals(t *testing.T) {
	config := edit(qwen3Config, `"vocab_size"`, `"time_step_limit": [0.0, Infinity], "a": NaN, "b": -Infinity, "note": "Infinity \"NaN\"", "vocab_size"`)
	if _, err := Parse([]byte(config), nil); err != nil {
		t.Error(err)
	}
	for in, want := range map[string]string{
		`[Infinity,-Infinity,NaN]`:      `[null,null,null]`,
		`{"NaN": "a \" NaN", "b": NaN}`: `{"NaN": "a \" NaN", "b": null}`,
		`"\\" NaN`:                      `"\\" null`,
		`{"a": 1}`:                      `{"a": 1}`,
		`"NaN`:                          `"NaN`,
		`"NaN\`:                         `"NaN\`,
	} {
		if got := string(plainJSON([]byte(in))); got != want {
			t.Errorf("%s: want %s, got %s", in, want, got)
		}
	}
}

func TestModelTypeAlone(t *testing.T) {
	m, err := Parse([]byte(edit(qwen3Config, `"architectures": ["Qwen3ForCausalLM"], `, "")), nil)
	if err != nil {
		t.Fatal(err)
	}
	if m.Family != "qwen3" || m.Architecture != "Qwen3ForCausalLM" {
		t.Errorf("got %s, %s", m.Family, m.Architecture)
	}
}

// Kimi K2 carries DeepSeek's architecture and a model_type of its own.
func TestModelTypeDecides(t *testing.T) {
	m, err := Parse([]byte(edit(deepseekConfig, `"deepseek_v3"`, `"kimi_k2"`)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if m.Family != "kimi_k2" {
		t.Errorf("got %s", m.Family)
	}
	m, err = Parse([]byte(edit(deepseekConfig, `"deepseek_v3"`, `"something"`)), nil)
	if err != nil || m.Family != "deepseek_v3" {
		t.Errorf("got %v, %v", m, err)
	}
}

// An unknown wrapper of a known language model is read as that, and says so.
func TestUnknownWrapper(t *testing.T) {
	config := `{"architectures": ["OddVLForConditionalGeneration"], "vision_config": {}, "torch_dtype": "float16", "llm_config": ` + qwen3Config + `}`
	m, err := Parse([]byte(config), nil)
	if err != nil {
		t.Fatal(err)
	}
	if m.Family != "qwen3" || m.Vision != nil || m.DType != dtype.F16 || len(m.Notes) != 1 {
		t.Errorf("got %+v", m)
	}
}

func TestDefaults(t *testing.T) {
	m, err := Parse([]byte(edit(qwen3Config, `"head_dim": 128, `, "", `"num_key_value_heads": 8`, `"num_key_value_heads": null`)), nil)
	if err != nil {
		t.Fatal(err)
	}
	a := m.Kinds[0].Attention
	if a.HeadDim != 64 || a.KVHeads != 64 || m.DType != dtype.BF16 || m.Tied {
		t.Errorf("got %+v, %v, tied %v", a, m.DType, m.Tied)
	}
}
