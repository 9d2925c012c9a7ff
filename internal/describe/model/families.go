package model

import "slices"

// families lists what is supported, by name. The first entry that names an
// architecture has it, unless a later one also names the config's model_type.
func families() []family {
	generic := family{genericFamily, "", "", parseGeneric, selfAttnModules}
	return append(slices.Concat(familiesAtoF(), familiesGtoL(), familiesMtoZ()), generic)
}

// styled reads configs of the common form whose family differs in style alone.
func styled(s style) func(*reader) *Model { return func(r *reader) *Model { return r.decoder(s) } }

func familiesAtoF() []family {
	return []family{
		{"afmoe", "AfmoeForCausalLM", "afmoe", styled(style{norms: 4, qkNorm: PerHead, outGate: true, routerBias: true, pattern: "LLLG"}), selfAttnModules},
		{"apertus", "ApertusForCausalLM", "apertus", styled(style{ungated: true, qkNorm: PerHead}), selfAttnModules},
		{"arcee", "ArceeForCausalLM", "arcee", parseUngated, selfAttnModules},
		{"arctic", "ArcticForCausalLM", "arctic", parseArctic, blockSparseModules},
		{"bailing_moe", "BailingMoeForCausalLM", "bailing_moe", parseLlama, selfAttnModules},
		{"bailing_moe_v2", "BailingMoeV2ForCausalLM", "bailing_moe_v2", parseNormed, selfAttnModules},
		{"bamba", "BambaForCausalLM", "bamba", parseBamba, selfAttnModules},
		{"bloom", "BloomForCausalLM", "bloom", parseBLOOM, selfAttnModules},
		{"chatglm", "ChatGLMModel ChatGLMForConditionalGeneration GLM4VForCausalLM", "chatglm", parseChatGLM, selfAttnModules},
		{"cohere", "CohereForCausalLM", "cohere", parseCohere, selfAttnModules},
		{"cohere2", "Cohere2ForCausalLM", "cohere2", parseCohere2, selfAttnModules},
		{"cohere2_vision", "Cohere2VisionForConditionalGeneration AyaVisionForConditionalGeneration", "cohere2_vision aya_vision", parseCohereVision, selfAttnModules},
		{"dbrx", "DbrxForCausalLM", "dbrx", parseDBRX, blockSparseModules},
		{"deepseek", "DeepseekForCausalLM", "deepseek", parseLlama, selfAttnModules},
		{"deepseek_v2", "DeepseekV2ForCausalLM", "deepseek_v2", parseDeepSeekV2, selfAttnModules},
		{"deepseek_v3", "DeepseekV3ForCausalLM AXK1ForCausalLM", "deepseek_v3 axk1", parseDeepSeekV3, selfAttnModules},
		{"deepseek_v32", "DeepseekV32ForCausalLM", "deepseek_v32", parseDeepSeekV32, selfAttnModules},
		{"deepseek_v4", "DeepseekV4ForCausalLM", "deepseek_v4", parseDeepSeekV4, attnFFNModules},
		{"dots1", "Dots1ForCausalLM", "dots1", parseNormed, selfAttnModules},
		{"ernie4_5", "Ernie4_5ForCausalLM Ernie4_5_ForCausalLM", "ernie4_5", parseERNIE, selfAttnModules},
		{"ernie4_5_moe", "Ernie4_5_MoeForCausalLM", "ernie4_5_moe", parseERNIE, selfAttnModules},
		{"exaone", "ExaoneForCausalLM", "exaone", parseLlama, selfAttnModules},
		{"exaone4", "Exaone4ForCausalLM", "exaone4", parseEXAONE4, selfAttnModules},
		{"exaone_moe", "ExaoneMoeForCausalLM ExaoneMoEForCausalLM", "exaone_moe", parseEXAONE4, selfAttnModules},
		{"falcon", "FalconForCausalLM RWForCausalLM", "falcon RefinedWeb RefinedWebModel", parseFalcon, selfAttnModules},
		{"falcon_h1", "FalconH1ForCausalLM", "falcon_h1", parseFalconH1, selfAttnModules},
		{"falcon_mamba", "FalconMambaForCausalLM", "falcon_mamba", parseMamba, mixerModules},
	}
}

func familiesGtoL() []family {
	return []family{
		{"gemma", "GemmaForCausalLM", "gemma", parseGemma, selfAttnModules},
		{"gemma2", "Gemma2ForCausalLM", "gemma2", parseGemma2, selfAttnModules},
		{"gemma3", "Gemma3ForConditionalGeneration Gemma3ForCausalLM", "gemma3 gemma3_text", parseGemma3, selfAttnModules},
		{"gemma3n", "Gemma3nForConditionalGeneration Gemma3nForCausalLM", "gemma3n gemma3n_text", parseGemma3n, selfAttnModules},
		{"gemma4", "Gemma4ForConditionalGeneration Gemma4ForCausalLM", "gemma4 gemma4_text", parseGemma4, gemma4Modules},
		{"gemma4_unified", "Gemma4UnifiedForConditionalGeneration", "gemma4_unified gemma4_unified_text", parseGemma4Unified, gemma4Modules},
		{"glm", "GlmForCausalLM", "glm", parseBiased, selfAttnModules},
		{"glm4", "Glm4ForCausalLM", "glm4", parseGLM4, selfAttnModules},
		{"glm4_moe", "Glm4MoeForCausalLM", "glm4_moe", parseGLM4MoE, selfAttnModules},
		{"glm4_moe_lite", "Glm4MoeLiteForCausalLM", "glm4_moe_lite", parseGLM4MoELite, selfAttnModules},
		{"glm4v", "Glm4vForConditionalGeneration Glm46VForConditionalGeneration", "glm4v glm4v_text glm46v", parseGLM4V, selfAttnModules},
		{"glm4v_moe", "Glm4vMoeForConditionalGeneration", "glm4v_moe glm4v_moe_text", parseGLM4VMoE, selfAttnModules},
		{"glm_moe_dsa", "GlmMoeDsaForCausalLM", "glm_moe_dsa", parseGLM5, selfAttnModules},
		{"gpt2", "GPT2LMHeadModel", "gpt2", parseGPT2, selfAttnModules},
		{"gpt_bigcode", "GPTBigCodeForCausalLM", "gpt_bigcode", parseBigCode, selfAttnModules},
		{"gpt_neo", "GPTNeoForCausalLM", "gpt_neo", parseGPTNeo, selfAttnModules},
		{"gpt_neox", "GPTNeoXForCausalLM", "gpt_neox", parseGPTNeoX, selfAttnModules},
		{"gpt_oss", "GptOssForCausalLM", "gpt_oss", styled(style{experts: true, mlpBias: true, sinks: true, pattern: "LG"}), selfAttnModules},
		{"gptj", "GPTJForCausalLM", "gptj", styled(style{mlpBias: true, ungated: true, fourfold: true, parallel: true, norms: 1}), selfAttnModules},
		{"granite", "GraniteForCausalLM", "granite", parseLlama, selfAttnModules},
		{"granitemoe", "GraniteMoeForCausalLM GraniteMoeSharedForCausalLM", "granitemoe granitemoeshared", parseLlama, blockSparseModules},
		{"granitemoehybrid", "GraniteMoeHybridForCausalLM", "granitemoehybrid", parseGraniteHybrid, blockSparseModules},
		{"grok", "Grok1ModelForCausalLM", "grok-1", parseSandwiched, blockSparseModules},
		{"hunyuan_v1_dense", "HunYuanDenseV1ForCausalLM", "hunyuan_v1_dense hunyuan", parseNormed, selfAttnModules},
		{"hunyuan_v1_moe", "HunYuanMoEV1ForCausalLM", "hunyuan_v1_moe", parseNormed, selfAttnModules},
		{"hy_v3", "HYV3ForCausalLM", "hy_v3", parseNormed, selfAttnModules},
		{"hyperclovax", "HyperCLOVAXForCausalLM", "hyperclovax", parseSandwiched, selfAttnModules},
		{"idefics3", "Idefics3ForConditionalGeneration SmolVLMForConditionalGeneration", "idefics3 smolvlm", parseIdefics3, selfAttnModules},
		{"internlm2", "InternLM2ForCausalLM", "internlm2", parseLlama, selfAttnModules},
		{"internvl", "InternVLChatModel InternVLForConditionalGeneration", "internvl_chat internvl", parseWrapper, selfAttnModules},
		{"jamba", "JambaForCausalLM", "jamba", parseJamba, selfAttnModules},
		{"kimi_k2", "DeepseekV3ForCausalLM", "kimi_k2", parseDeepSeekV3, selfAttnModules},
		{"kimi_k25", "KimiK25ForConditionalGeneration", "kimi_k25", parseKimiK25, selfAttnModules},
		{"kimi_k3", "KimiK3ForConditionalGeneration", "kimi_k3", parseKimiK3, blockSparseModules},
		{"kimi_linear", "KimiLinearForCausalLM", "kimi_linear", parseKimiLinear, blockSparseModules},
		{"kimi_vl", "KimiVLForConditionalGeneration", "kimi_vl", parseKimiVL, selfAttnModules},
		{"lfm2", "Lfm2ForCausalLM", "lfm2", parseLFM2, selfAttnModules},
		{"lfm2_moe", "Lfm2MoeForCausalLM", "lfm2_moe", parseLFM2MoE, selfAttnModules},
		{"lfm2_vl", "Lfm2VlForConditionalGeneration", "lfm2_vl lfm2-vl", parseWrapper, selfAttnModules},
		{
			"llama", "LlamaForCausalLM LLaMAForCausalLM AquilaForCausalLM AquilaModel BaichuanForCausalLM BaiChuanForCausalLM " +
				"CwmForCausalLM HeliumForCausalLM InternLMForCausalLM InternLM3ForCausalLM IQuestCoderForCausalLM OrionForCausalLM " +
				"SolarForCausalLM TeleChat3ForCausalLM XverseForCausalLM YiForCausalLM",
			"llama aquila baichuan cwm helium internlm internlm3 iquestcoder orion solar telechat3 xverse yi Yi",
			parseLlama, selfAttnModules,
		},
		{"llama4", "Llama4ForConditionalGeneration Llama4ForCausalLM", "llama4 llama4_text", parseLlama4, feedForwardModules},
		{"llava", "LlavaForConditionalGeneration", "llava", parseWholeImages, selfAttnModules},
		{"llava_next", "LlavaNextForConditionalGeneration LlavaOnevisionForConditionalGeneration", "llava_next llava_onevision", parseWrapper, selfAttnModules},
		{"longcat_flash", "LongcatFlashForCausalLM", "longcat_flash", parseLongcat, selfAttnModules},
	}
}

func familiesMtoZ() []family {
	return []family{
		{"mamba", "MambaForCausalLM", "mamba", parseMamba, mixerModules},
		{"mamba2", "Mamba2ForCausalLM", "mamba2", parseMamba2, mixerModules},
		{"mimo", "MiMoForCausalLM", "mimo", parseMiMo, selfAttnModules},
		{"mimo_v2", "MiMoV2FlashForCausalLM", "mimo_v2_flash", parseMiMoV2, selfAttnModules},
		{"minicpm", "MiniCPMForCausalLM MiniCPM4ForCausalLM", "minicpm minicpm4", styled(style{tied: true}), selfAttnModules},
		{"minicpm3", "MiniCPM3ForCausalLM", "minicpm3", parseMiniCPM3, selfAttnModules},
		{"minicpmv", "MiniCPMV", "minicpmv", parseMiniCPMV, selfAttnModules},
		{"minimax_m1", "MiniMaxM1ForCausalLM MiniMaxText01ForCausalLM MiniMaxForCausalLM", "minimax_m1 minimax_text_01 minimax", parseLightning, blockSparseModules},
		{"minimax_m2", "MiniMaxM2ForCausalLM", "minimax_m2", parseMiniMaxM2, blockSparseModules},
		{"minimax_m3", "MiniMaxM3ForCausalLM MiniMaxM3ForConditionalGeneration MiniMaxM3SparseForCausalLM MiniMaxM3SparseForConditionalGeneration", "minimax_m3 minimax_m3_vl", parseMiniMaxM3, blockSparseModules},
		{"mistral", "MistralForCausalLM MinistralForCausalLM Ministral3ForCausalLM GritLM", "mistral ministral ministral3", parseLlama, selfAttnModules},
		{"mistral3", "Mistral3ForConditionalGeneration", "mistral3", parseMistral3, selfAttnModules},
		{"mistral4", "Mistral4ForCausalLM", "mistral4", parseDeepSeekV2, selfAttnModules},
		{"mixtral", "MixtralForCausalLM", "mixtral", styled(style{experts: true}), blockSparseModules},
		{"mllama", "MllamaForConditionalGeneration", "mllama mllama_text_model", parseMllama, selfAttnModules},
		{"mpt", "MPTForCausalLM MptForCausalLM", "mpt", styled(style{ungated: true, fourfold: true, unrotated: true, tied: true}), selfAttnModules},
		{"nemotron", "NemotronForCausalLM", "nemotron", parseUngated, selfAttnModules},
		{"nemotron_h", "NemotronHForCausalLM", "nemotron_h", parseNemotronH, mixerModules},
		{"nemotron_nas", "DeciLMForCausalLM", "nemotron-nas", parseNemotronNAS, selfAttnModules},
		{"olmo", "OlmoForCausalLM", "olmo", parseLlama, selfAttnModules},
		{"olmo2", "Olmo2ForCausalLM", "olmo2", parseOLMo2, selfAttnModules},
		{"olmo3", "Olmo3ForCausalLM", "olmo3", styled(style{qkNorm: WholeVector, pattern: "LLLG"}), selfAttnModules},
		{"olmo_hybrid", "OlmoHybridForCausalLM", "olmo_hybrid", parseOLMoHybrid, selfAttnModules},
		{"olmoe", "OlmoeForCausalLM FlexOlmoForCausalLM", "olmoe flex_olmo", parseOLMo2, selfAttnModules},
		{"opt", "OPTForCausalLM", "opt", parseGPT2, selfAttnModules},
		{"paligemma", "PaliGemmaForConditionalGeneration", "paligemma", parsePaliGemma, selfAttnModules},
		{"phi", "PhiForCausalLM", "phi phi-msft", styled(style{bias: true, outBias: true, mlpBias: true, ungated: true, fourfold: true, parallel: true, norms: 1}), selfAttnModules},
		{"phi3", "Phi3ForCausalLM", "phi3", parseLlama, selfAttnModules},
		{"phi3_v", "Phi3VForCausalLM", "phi3_v", parsePhi3V, selfAttnModules},
		{"phi4mm", "Phi4MMForCausalLM Phi4MultimodalForCausalLM", "phi4mm phi4_multimodal", parsePhi4MM, selfAttnModules},
		{"phimoe", "PhiMoEForCausalLM PhimoeForCausalLM", "phimoe", parseLlama, blockSparseModules},
		{"qwen", "QWenLMHeadModel", "qwen", parseQwenV1, selfAttnModules},
		{"qwen2", "Qwen2ForCausalLM", "qwen2", parseQwen2, selfAttnModules},
		{"qwen2_5_omni", "Qwen2_5OmniModel Qwen2_5OmniForConditionalGeneration Qwen2_5OmniThinkerForConditionalGeneration", "qwen2_5_omni qwen2_5_omni_thinker", parseQwen25Omni, selfAttnModules},
		{"qwen2_5_vl", "Qwen2_5_VLForConditionalGeneration", "qwen2_5_vl qwen2_5_vl_text", parseQwen25VL, selfAttnModules},
		{"qwen2_moe", "Qwen2MoeForCausalLM", "qwen2_moe", parseQwen2MoE, selfAttnModules},
		{"qwen2_vl", "Qwen2VLForConditionalGeneration", "qwen2_vl qwen2_vl_text", parseQwen2VL, selfAttnModules},
		{"qwen3", "Qwen3ForCausalLM", "qwen3", parseQwen3, selfAttnModules},
		{"qwen3_5", "Qwen3_5ForConditionalGeneration Qwen3_5ForCausalLM", "qwen3_5 qwen3_5_text", parseQwen35, selfAttnModules},
		{"qwen3_5_moe", "Qwen3_5MoeForConditionalGeneration Qwen3_5MoeForCausalLM", "qwen3_5_moe qwen3_5_moe_text", parseQwen35MoE, selfAttnModules},
		{"qwen3_moe", "Qwen3MoeForCausalLM MellumForCausalLM", "qwen3_moe", parseQwen3MoE, selfAttnModules},
		{"qwen3_next", "Qwen3NextForCausalLM", "qwen3_next", parseQwen3Next, selfAttnModules},
		{"qwen3_omni_moe", "Qwen3OmniMoeForConditionalGeneration Qwen3OmniMoeThinkerForConditionalGeneration", "qwen3_omni_moe qwen3_omni_moe_thinker", parseQwen3Omni, selfAttnModules},
		{"qwen3_vl", "Qwen3VLForConditionalGeneration", "qwen3_vl qwen3_vl_text", parseQwen3VL, selfAttnModules},
		{"qwen3_vl_moe", "Qwen3VLMoeForConditionalGeneration", "qwen3_vl_moe qwen3_vl_moe_text", parseQwen3VLMoE, selfAttnModules},
		{"seed_oss", "SeedOssForCausalLM", "seed_oss", parseBiased, selfAttnModules},
		{"smollm3", "SmolLM3ForCausalLM", "smollm3", parseLlama, selfAttnModules},
		{"solar_open", "SolarOpenForCausalLM", "solar_open", parseLlama, selfAttnModules},
		{"stablelm", "StableLmForCausalLM StableLMEpochForCausalLM", "stablelm stablelm_epoch", parseStableLM, selfAttnModules},
		{"starcoder2", "Starcoder2ForCausalLM", "starcoder2", styled(style{mlpBias: true, ungated: true, tied: true}), selfAttnModules},
		{"step3", "Step3p5ForCausalLM Step3p7FlashForCausalLM Step3p7ForConditionalGeneration", "step3p5 step3p7", parseStep3, selfAttnModules},
	}
}
