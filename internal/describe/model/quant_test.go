package model

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// schemes are those that checkpoints use, by short names.
var schemes = map[string]dtype.Scheme{
	"bf16":          {Weight: dtype.BF16, Activation: dtype.BF16},
	"f16":           {Weight: dtype.F16, Activation: dtype.F16},
	"fp8":           {Weight: dtype.FP8, Activation: dtype.FP8},
	"fp8 static":    {Weight: dtype.FP8, Activation: dtype.FP8, Static: true},
	"fp8 block":     {Weight: dtype.FP8, Activation: dtype.FP8, Group: 128, Rows: 128, Scale: dtype.F32},
	"nvfp4":         {Weight: dtype.FP4, Activation: dtype.FP4, Group: 16, Scale: dtype.FP8},
	"nvfp4 w4a16":   {Weight: dtype.FP4, Activation: dtype.BF16, Group: 16, Scale: dtype.FP8},
	"mxfp4":         {Weight: dtype.FP4, Activation: dtype.FP4, Group: 32, Scale: dtype.FP8},
	"mxfp4 w4a16":   {Weight: dtype.FP4, Activation: dtype.BF16, Group: 32, Scale: dtype.FP8},
	"mxfp4 w4a8":    {Weight: dtype.FP4, Activation: dtype.FP8, Group: 32, Scale: dtype.FP8},
	"int4 g32":      {Weight: dtype.INT4, Activation: dtype.BF16, Group: 32, Scale: dtype.BF16},
	"int4 g128":     {Weight: dtype.INT4, Activation: dtype.BF16, Group: 128, Scale: dtype.BF16},
	"int4 a8":       {Weight: dtype.INT4, Activation: dtype.FP8, Group: 128, Scale: dtype.BF16},
	"int4 g128 f16": {Weight: dtype.INT4, Activation: dtype.F16, Group: 128, Scale: dtype.F16},
	"int8 w8a16":    {Weight: dtype.INT8, Activation: dtype.BF16},
	"int8 g128":     {Weight: dtype.INT8, Activation: dtype.BF16, Group: 128, Scale: dtype.BF16},
	"int8":          {Weight: dtype.INT8, Activation: dtype.INT8},
	"nf4":           {Weight: dtype.INT4, Activation: dtype.BF16, Group: 64, Scale: dtype.F32},
}

// spell prints a Quantization in the names above, its five parts in order.
func spell(q Quantization) string {
	var out []string
	for _, s := range []dtype.Scheme{q.Attention, q.Dense, q.Experts, q.Shared, q.Head} {
		name := fmt.Sprintf("%+v", s)
		for n, t := range schemes {
			if s == t {
				name = n
			}
		}
		out = append(out, name)
	}
	if q.KV != dtype.None {
		out = append(out, "kv "+q.KV.String())
	}
	return strings.Join(out, " | ")
}

// The catalog's checkpoints: attention, dense, experts, shared, head, KV.
func TestCatalogQuantization(t *testing.T) {
	for id, want := range map[string]string{
		"Qwen/Qwen3-32B":                                 "bf16 | bf16 | bf16 | bf16 | bf16",
		"Qwen/Qwen3-32B-FP8":                             "fp8 block | fp8 block | fp8 block | fp8 block | bf16",
		"nvidia/Llama-3.1-8B-Instruct-FP8":               "fp8 static | fp8 static | fp8 static | fp8 static | bf16 | kv fp8",
		"nvidia/Qwen3-32B-NVFP4":                         "nvfp4 | nvfp4 | nvfp4 | nvfp4 | bf16 | kv fp8",
		"nvidia/DeepSeek-R1-NVFP4":                       "bf16 | nvfp4 | nvfp4 | nvfp4 | bf16 | kv fp8",
		"nvidia/Kimi-K2.6-NVFP4":                         "bf16 | bf16 | nvfp4 | bf16 | bf16 | kv fp8",
		"nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-NVFP4": "nvfp4 | nvfp4 | nvfp4 | nvfp4 | bf16 | kv fp8",
		"nvidia/Qwen3.6-35B-A3B-NVFP4":                   "fp8 static | bf16 | nvfp4 w4a16 | nvfp4 w4a16 | nvfp4 w4a16 | kv fp8",
		"moonshotai/Kimi-K2.5":                           "bf16 | bf16 | int4 g32 | bf16 | bf16",
		"moonshotai/Kimi-K3":                             "bf16 | bf16 | mxfp4 w4a16 | bf16 | bf16",
		"openai/gpt-oss-120b":                            "bf16 | bf16 | mxfp4 w4a16 | bf16 | bf16",
		"deepseek-ai/DeepSeek-V4-Pro":                    "fp8 block | fp8 block | mxfp4 w4a8 | fp8 block | bf16",
		"nvidia/DeepSeek-V4-Pro-NVFP4":                   "fp8 block | fp8 block | nvfp4 | fp8 block | bf16",
		"zai-org/GLM-4.5-FP8":                            "fp8 | fp8 | fp8 | fp8 | bf16",
		"Qwen/Qwen3-32B-AWQ":                             "int4 g128 | int4 g128 | int4 g128 | int4 g128 | bf16",
	} {
		if d := cmp.Diff(want, spell(lookup(t, id).Quant)); d != "" {
			t.Errorf("%s (want -, got +):\n%s", id, d)
		}
	}
}

// Notes as checkpoints write them, on a small DeepSeek with one dense layer of
// three.
func TestQuantizationNotes(t *testing.T) {
	every := func(s string) string { return strings.Repeat(s+" | ", 4) + "bf16" }
	for _, c := range []struct{ name, config, file, want string }{
		{"fp8 per tensor", `{"quant_method": "fp8", "activation_scheme": "static"}`, "", every("fp8 static")},
		{"names", `{"quant_method": "fp8", "modules_to_not_convert": ["gate", "lm_head", "self_attn"]}`, "", "bf16 | fp8 | fp8 | fp8 | bf16"},
		{"gptq", `{"quant_method": "gptq", "bits": 4, "group_size": 128}`, "", every("int4 g128")},
		{"bitsandbytes", `{"quant_method": "bitsandbytes", "load_in_4bit": true}`, "", every("nf4")},
		{"bitsandbytes 8", `{"quant_method": "bitsandbytes", "load_in_8bit": true}`, "", every("int8")},
		{
			"compressed int8", `{"quant_method": "compressed-tensors", "config_groups": {"g": {"targets": ["Linear"],
				"weights": {"num_bits": 8, "type": "int", "strategy": "channel"},
				"input_activations": {"num_bits": 8, "type": "int", "dynamic": true}}}, "ignore": ["lm_head"]}`, "", every("int8"),
		},
		{
			"compressed by target", `{"quant_method": "compressed-tensors", "config_groups": {
				"a": {"targets": ["re:.*self_attn.*"], "weights": {"num_bits": 8, "type": "float"}, "input_activations": {"num_bits": 8, "type": "float", "dynamic": true}},
				"b": {"targets": ["re:.*mlp.experts.*"], "weights": {"num_bits": 4, "type": "int", "group_size": 128}}},
				"kv_cache_scheme": {"num_bits": 8, "type": "float"}}`, "", "fp8 | bf16 | int4 g128 | bf16 | bf16 | kv fp8",
		},
		{
			"compressed block", `{"quant_method": "compressed-tensors", "config_groups": {"g": {"targets": ["Linear"],
				"weights": {"num_bits": 8, "type": "float", "strategy": "block", "block_structure": [128, 128]},
				"input_activations": {"num_bits": 8, "type": "float", "dynamic": true}}}}`, "", every("fp8 block"),
		},
		{
			"quark by layer", `{"quant_method": "quark", "exclude": ["lm_head", "*shared_experts*"],
				"global_quant_config": {"weight": {"dtype": "fp4", "qscheme": "per_group", "group_size": 32}, "input_tensors": {"dtype": "fp4", "qscheme": "per_group", "group_size": 32, "is_dynamic": true}},
				"layer_quant_config": {
					"*q_*": {"weight": {"dtype": "fp8_e4m3", "qscheme": "per_channel"}, "input_tensors": {"dtype": "fp8_e4m3", "qscheme": "per_channel", "is_dynamic": true}},
					"*kv_*": {"weight": {"dtype": "fp8_e4m3", "qscheme": "per_channel"}, "input_tensors": {"dtype": "fp8_e4m3", "qscheme": "per_channel", "is_dynamic": true}}},
				"kv_cache_quant_config": {"*k_proj": {"output_tensors": {"dtype": "fp8_e4m3", "qscheme": "per_tensor"}}}}`, "", "fp8 | mxfp4 | mxfp4 | bf16 | bf16 | kv fp8",
		},
		{"quark int8", `{"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "int8", "qscheme": "per_channel"}, "input_tensors": {"dtype": "int8", "is_dynamic": true}}}`, "", every("int8")},
		{"fp8 with static scales of the cache", `{"quant_method": "fp8", "activation_scheme": "static", "kv_cache_scheme": "static"}`, "", every("fp8 static") + " | kv fp8"},
		{"modelopt in config", `{"quant_algo": "FP8", "kv_cache_scheme": "FP8", "ignore": ["lm_head"]}`, "", every("fp8 static") + " | kv fp8"},
		{"modelopt file", "", `{"quantization": {"quant_algo": "W4A8_AWQ", "kv_cache_quant_algo": "INT8"}}`, every("int4 a8") + " | kv int8"},
		{
			"by layer", "", `{"quantization": {"quant_algo": "NVFP4", "group_size": 16, "kv_cache_quant_algo": "NVFP4",
				"exclude_modules": ["lm_head", "model.layers.0*", "model.layers.1.self_attn*", "model.layers.2.self_attn*", "mtp.layers.1*", "model.visual.layers.2*"]}}`,
			"bf16 | bf16 | nvfp4 | nvfp4 | bf16 | kv fp4",
		},
		{
			"file over config", `{"quant_method": "fp8", "weight_block_size": [128, 128]}`,
			`{"quantization": {"quant_algo": "MIXED_PRECISION", "quantized_layers": {
				"layers.1.mlp.experts": {"quant_algo": "NVFP4", "group_size": 16}, "lm_head": {"quant_algo": "FP8"}}, "exclude_modules": ["*.attn.*"]}}`,
			"fp8 block | fp8 block | nvfp4 | fp8 block | fp8 static",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := deepseekConfig
			if c.config != "" {
				config = edit(config, `"vocab_size"`, `"quantization_config": `+c.config+`, "vocab_size"`)
			}
			m, err := Parse([]byte(config), []byte(c.file))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, spell(m.Quant)); d != "" {
				t.Errorf("(want -, got +):\n%s", d)
			}
		})
	}
}

func TestPartlyQuantizedIsNoted(t *testing.T) {
	m := lookup(t, "nvidia/DeepSeek-V3.1-NVFP4")
	want := []string{"Only some matrices of the attention part are quantized; all are modelled as unquantized."}
	if d := cmp.Diff(want, m.Notes); d != "" {
		t.Error(d)
	}
}

func TestQuantizationErrors(t *testing.T) {
	for note, want := range map[string]string{
		`{"quant_method": "aqlm"}`:                                                            `config.json: quantization_config.quant_method: "aqlm" is not supported; known: fp8, fbgemm_fp8, mxfp4, awq, gptq, bitsandbytes, compressed-tensors, modelopt, quark`,
		`{"quant_method": "modelopt", "quant_algo": "ODD"}`:                                   `quantization: quant_algo: "ODD" is not supported; known: FP8, MXFP8, NVFP4, MXFP4, W4A8_AWQ, W4A16_AWQ, W8A8_SQ, MIXED_PRECISION`,
		`{"quant_method": "gptq", "bits": 3}`:                                                 `config.json: quantization_config.bits: 3 is not supported; known: 4, 8`,
		`{"quant_method": "fp8", "kv_cache_quant_algo": "ODD"}`:                               `quantization: kv_cache_quant_algo: "ODD" is not supported; known: FP8, INT8, NVFP4`,
		`{"quant_method": "quark"}`:                                                           `config.json: quantization_config: quark needs global_quant_config or layer_quant_config, which say how weights are stored`,
		`{"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "bfloat16"}}}`: `config.json: quantization_config: Quark's dtype "bfloat16" is not supported; known: fp4, fp8_e4m3, fp8_e5m2, int4, uint4, int8, uint8`,
		`{"quant_method": "quark", "layer_quant_config": {"*": {"weight": {"dtype": "fp4"}, "input_tensors": {"dtype": "mx6"}}}}`:          `config.json: quantization_config: Quark's dtype "mx6" is not supported; known: fp4, fp8_e4m3, fp8_e5m2, int4, uint4, int8, uint8`,
		`{"quant_method": "quark", "global_quant_config": {}, "kv_cache_quant_config": {"*k_proj": {"output_tensors": {"dtype": "mx9"}}}}`: `config.json: quantization_config: Quark's dtype "mx9" is not supported; known: fp4, fp8_e4m3, fp8_e5m2, int4, uint4, int8, uint8`,
		`{"quant_method": 7}`: `config.json: quantization_config.quant_method: want a string, got number`,
	} {
		config := edit(qwen3Config, `"vocab_size"`, `"quantization_config": `+note+`, "vocab_size"`)
		if _, err := Parse([]byte(config), nil); err == nil || err.Error() != want {
			t.Errorf("want %s\ngot  %v", want, err)
		}
	}
	if _, err := Parse([]byte(qwen3Config), []byte(`{}`)); err == nil || err.Error() != "hf_quant_config.json: quantization: missing" {
		t.Errorf("got %v", err)
	}
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"a*", "abc", true},
		{"*c", "abc", true},
		{"*", "", true},
		{"a*b*c", "aXbYc", true},
		{"a*b*c", "acb", false},
		{"abc", "abcd", false},
		{"*.b.*", "a.b.c", true},
		{"*.b.*", "b.c", false},
	} {
		if got := glob(c.pattern, c.s); got != c.want {
			t.Errorf("glob(%q, %q) = %v", c.pattern, c.s, got)
		}
	}
}
