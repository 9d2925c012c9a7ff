package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/nearest"
)

// family is a group of architectures whose config.json has the same form.
type family struct {
	name          string
	architectures []string
	modelTypes    []string
	parse         func(*reader) *Model
	modules       modules
}

// families lists what is supported. The first entry that names an architecture
// has it, unless a later one also names the config's model_type.
func families() []family {
	self, block, mixer := selfAttnModules(), blockSparseModules(), mixerModules()
	return []family{
		{"llama", []string{"LlamaForCausalLM"}, []string{"llama"}, parseLlama, self},
		{"llama4", []string{"Llama4ForConditionalGeneration", "Llama4ForCausalLM"}, []string{"llama4", "llama4_text"}, parseLlama4, feedForwardModules()},
		{"mistral", []string{"MistralForCausalLM"}, []string{"mistral"}, parseMistral, self},
		{"mixtral", []string{"MixtralForCausalLM"}, []string{"mixtral"}, parseMixtral, block},
		{"phi3", []string{"Phi3ForCausalLM"}, []string{"phi3"}, parsePhi3, self},
		{"qwen2", []string{"Qwen2ForCausalLM"}, []string{"qwen2"}, parseQwen2, self},
		{"qwen2_moe", []string{"Qwen2MoeForCausalLM"}, []string{"qwen2_moe"}, parseQwen2MoE, self},
		{"qwen2_5_vl", []string{"Qwen2_5_VLForConditionalGeneration"}, []string{"qwen2_5_vl"}, parseQwen25VL, self},
		{"qwen3", []string{"Qwen3ForCausalLM"}, []string{"qwen3"}, parseQwen3, self},
		{"qwen3_moe", []string{"Qwen3MoeForCausalLM"}, []string{"qwen3_moe"}, parseQwen3MoE, self},
		{"qwen3_vl", []string{"Qwen3VLForConditionalGeneration"}, []string{"qwen3_vl", "qwen3_vl_text"}, parseQwen3VL, self},
		{"qwen3_vl_moe", []string{"Qwen3VLMoeForConditionalGeneration"}, []string{"qwen3_vl_moe", "qwen3_vl_moe_text"}, parseQwen3VLMoE, self},
		{"qwen3_next", []string{"Qwen3NextForCausalLM"}, []string{"qwen3_next"}, parseQwen3Next, self},
		{"qwen3_5", []string{"Qwen3_5ForConditionalGeneration", "Qwen3_5ForCausalLM"}, []string{"qwen3_5", "qwen3_5_text"}, parseQwen35, self},
		{"qwen3_5_moe", []string{"Qwen3_5MoeForConditionalGeneration", "Qwen3_5MoeForCausalLM"}, []string{"qwen3_5_moe", "qwen3_5_moe_text"}, parseQwen35MoE, self},
		{"deepseek_v2", []string{"DeepseekV2ForCausalLM"}, []string{"deepseek_v2"}, parseDeepSeekV2, self},
		{"deepseek_v3", []string{"DeepseekV3ForCausalLM"}, []string{"deepseek_v3"}, parseDeepSeekV3, self},
		{"deepseek_v32", []string{"DeepseekV32ForCausalLM"}, []string{"deepseek_v32"}, parseDeepSeekV32, self},
		{"deepseek_v4", []string{"DeepseekV4ForCausalLM"}, []string{"deepseek_v4"}, parseDeepSeekV4, attnFFNModules()},
		{"kimi_k2", []string{"DeepseekV3ForCausalLM"}, []string{"kimi_k2"}, parseDeepSeekV3, self},
		{"kimi_k25", []string{"KimiK25ForConditionalGeneration"}, []string{"kimi_k25"}, parseKimiK25, self},
		{"kimi_linear", []string{"KimiLinearForCausalLM"}, []string{"kimi_linear"}, parseKimiLinear, block},
		{"kimi_k3", []string{"KimiK3ForConditionalGeneration"}, []string{"kimi_k3"}, parseKimiK3, block},
		{"glm4_moe", []string{"Glm4MoeForCausalLM"}, []string{"glm4_moe"}, parseGLM4MoE, self},
		{"glm_moe_dsa", []string{"GlmMoeDsaForCausalLM"}, []string{"glm_moe_dsa"}, parseGLM5, self},
		{"minimax_m2", []string{"MiniMaxM2ForCausalLM"}, []string{"minimax_m2"}, parseMiniMaxM2, block},
		{"minimax_m3", []string{"MiniMaxM3ForCausalLM", "MiniMaxM3ForConditionalGeneration"}, []string{"minimax_m3", "minimax_m3_vl"}, parseMiniMaxM3, block},
		{"gpt_oss", []string{"GptOssForCausalLM"}, []string{"gpt_oss"}, parseGptOss, self},
		{"gemma3", []string{"Gemma3ForConditionalGeneration", "Gemma3ForCausalLM"}, []string{"gemma3", "gemma3_text"}, parseGemma3, self},
		{"gemma4", []string{"Gemma4ForConditionalGeneration", "Gemma4ForCausalLM"}, []string{"gemma4", "gemma4_text"}, parseGemma4, gemma4Modules()},
		{"nemotron_h", []string{"NemotronHForCausalLM"}, []string{"nemotron_h"}, parseNemotronH, mixer},
		{"nemotron_nas", []string{"DeciLMForCausalLM"}, []string{"nemotron-nas"}, parseNemotronNAS, self},
		{"step3", []string{"Step3p5ForCausalLM", "Step3p7FlashForCausalLM", "Step3p7ForConditionalGeneration"}, []string{"step3p5", "step3p7"}, parseStep3, self},
		{"mimo", []string{"MiMoForCausalLM"}, []string{"mimo"}, parseMiMo, self},
		{"mimo_v2", []string{"MiMoV2FlashForCausalLM"}, []string{"mimo_v2_flash"}, parseMiMoV2, self},
	}
}

// findFamily finds the family of a config and the name it goes by: its first
// architecture, or its model_type when it states none.
func findFamily(h header) (*family, string) {
	all := families()
	if len(h.Architectures) == 0 || h.Architectures[0] == "" {
		for i := range all {
			if slices.Contains(all[i].modelTypes, h.ModelType) {
				return &all[i], all[i].architectures[0]
			}
		}
		return nil, h.ModelType
	}
	name := h.Architectures[0]
	var found *family
	for i := range all {
		if !slices.Contains(all[i].architectures, name) {
			continue
		}
		if slices.Contains(all[i].modelTypes, h.ModelType) {
			return &all[i], name
		}
		if found == nil {
			found = &all[i]
		}
	}
	return found, name
}

// unknownArchitecture says which supported family is spelled most like name.
func unknownArchitecture(name string) error {
	if name == "" {
		return errors.New("config.json: neither architectures nor model_type is given: not a language model's config")
	}
	if len(name) > 128 {
		name = name[:128]
	}
	var best family
	least := -1
	for _, f := range families() {
		for _, s := range slices.Concat(f.architectures, f.modelTypes) {
			if d := nearest.Edits(strings.ToLower(name), strings.ToLower(s)); least < 0 || d < least {
				best, least = f, d
			}
		}
	}
	return fmt.Errorf("config.json: architecture %q is not supported; nearest supported family: %s (%s)",
		name, best.name, best.architectures[0])
}
