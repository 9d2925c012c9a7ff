package model

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

func lookup(t *testing.T, id string) *Model {
	t.Helper()
	m, err := Lookup(id)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The layers of one model of every family, as `plimsoll models ID` shows them.
func TestLayerKinds(t *testing.T) {
	type kinds map[string]int
	for id, want := range map[string]kinds{
		"meta-llama/Llama-3.1-70B": {"64/8 heads of 128, MLP 28672": 80},
		"meta-llama/Llama-4-Maverick-17B-128E-Instruct": {
			"40/8 heads of 128, chunks of 8192, MLP 16384":                              24,
			"40/8 heads of 128, chunks of 8192, 1 of 128 experts of 8192 + shared 8192": 12,
			"40/8 heads of 128, 1 of 128 experts of 8192 + shared 8192":                 12,
		},
		"mistralai/Mistral-7B-v0.1":      {"32/8 heads of 128, window 4096, MLP 14336": 32},
		"mistralai/Mixtral-8x7B-v0.1":    {"32/8 heads of 128, 2 of 8 experts of 14336": 32},
		"microsoft/phi-4":                {"40/10 heads of 128, MLP 17920": 40},
		"Qwen/Qwen2.5-7B":                {"28/4 heads of 128, MLP 18944": 28},
		"Qwen/Qwen2-57B-A14B":            {"28/4 heads of 128, 8 of 64 experts of 2560 + shared 20480": 28},
		"Qwen/Qwen3-32B":                 {"64/8 heads of 128, MLP 25600": 64},
		"Qwen/Qwen3-235B-A22B":           {"64/4 heads of 128, 8 of 128 experts of 1536": 94},
		"Qwen/Qwen2.5-VL-7B-Instruct":    {"28/4 heads of 128, MLP 18944": 28},
		"Qwen/Qwen3-VL-8B-Instruct":      {"32/8 heads of 128, MLP 12288": 36},
		"Qwen/Qwen3-VL-30B-A3B-Instruct": {"32/4 heads of 128, 8 of 128 experts of 768": 48},
		"Qwen/Qwen3-Next-80B-A3B-Instruct": {
			"gated delta 16/32 heads of 128, 10 of 512 experts of 512 + shared 512": 36,
			"16/2 heads of 256, 10 of 512 experts of 512 + shared 512":              12,
		},
		"Qwen/Qwen3.5-27B": {
			"gated delta 16/48 heads of 128, MLP 17408": 48,
			"24/4 heads of 256, MLP 17408":              16,
		},
		"Qwen/Qwen3.5-397B-A17B": {
			"gated delta 16/64 heads of 128, 10 of 512 experts of 1024 + shared 1024": 45,
			"32/2 heads of 256, 10 of 512 experts of 1024 + shared 1024":              15,
		},
		"deepseek-ai/DeepSeek-V2-Lite": {
			"MLA 16 heads of 192, latent 512+64, MLP 10944":                             1,
			"MLA 16 heads of 192, latent 512+64, 6 of 64 experts of 1408 + shared 2816": 26,
		},
		"deepseek-ai/DeepSeek-V3": {
			"MLA 128 heads of 192, latent 512+64, MLP 18432":                              3,
			"MLA 128 heads of 192, latent 512+64, 8 of 256 experts of 2048 + shared 2048": 58,
		},
		"deepseek-ai/DeepSeek-V3.2": {
			"MLA 128 heads of 192, latent 512+64, indexer top 2048, MLP 18432":                              3,
			"MLA 128 heads of 192, latent 512+64, indexer top 2048, 8 of 256 experts of 2048 + shared 2048": 58,
		},
		"deepseek-ai/DeepSeek-V4-Flash": {
			"MLA 64 heads of 512, latent 448+64, window 128, 6 of 256 experts of 2048 + shared 2048, 4 residual streams":                 2,
			"MLA 64 heads of 512, latent 448+64, 4:1 cache, indexer top 512, 6 of 256 experts of 2048 + shared 2048, 4 residual streams": 21,
			"MLA 64 heads of 512, latent 448+64, 128:1 cache, 6 of 256 experts of 2048 + shared 2048, 4 residual streams":                20,
		},
		"moonshotai/Kimi-K2.5": {
			"MLA 64 heads of 192, latent 512+64, MLP 18432":                              1,
			"MLA 64 heads of 192, latent 512+64, 8 of 384 experts of 2048 + shared 2048": 60,
		},
		"moonshotai/Kimi-K3": {
			"gated delta 96/96 heads of 128, MLP 33792":                                                  1,
			"gated delta 96/96 heads of 128, 16 of 896 experts of 3072 + shared 6144 in latent 3584":     68,
			"MLA 96 heads of 192, latent 512+64, 16 of 896 experts of 3072 + shared 6144 in latent 3584": 24,
		},
		"zai-org/GLM-4.5": {
			"96/8 heads of 128, MLP 12288":                              3,
			"96/8 heads of 128, 8 of 160 experts of 1536 + shared 1536": 89,
		},
		"zai-org/GLM-5.2": {
			"MLA 64 heads of 256, latent 512+64, indexer top 2048, MLP 12288":                              3,
			"MLA 64 heads of 256, latent 512+64, indexer top 2048, 8 of 256 experts of 2048 + shared 2048": 18,
			"MLA 64 heads of 256, latent 512+64, shared top 2048, 8 of 256 experts of 2048 + shared 2048":  57,
		},
		"MiniMaxAI/MiniMax-M2.5": {"48/8 heads of 128, 8 of 256 experts of 1536": 62},
		"MiniMaxAI/MiniMax-M3": {
			"64/4 heads of 128, MLP 12288": 3,
			"64/4 heads of 128, indexer top 2048, 4 of 128 experts of 3072 + shared 3072": 57,
		},
		"openai/gpt-oss-120b": {
			"64/8 heads of 64, window 128, 4 of 128 experts of 2880": 18,
			"64/8 heads of 64, 4 of 128 experts of 2880":             18,
		},
		"google/gemma-3-27b-it": {
			"32/16 heads of 128, window 1024, MLP 21504": 52,
			"32/16 heads of 128, MLP 21504":              10,
		},
		"google/gemma-4-26B-A4B": {
			"16/8 heads of 256, window 1024, 8 of 128 experts of 704 + MLP 2112": 25,
			"16/2 heads of 512, 8 of 128 experts of 704 + MLP 2112":              5,
		},
		"nvidia/Nemotron-H-56B-Base-8K": {
			"Mamba-2 256 heads of 64, state 256": 54, "MLP 32768": 54, "64/8 heads of 128": 10,
		},
		"nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-NVFP4": {
			"Mamba-2 128 heads of 64, state 128":                                        40,
			"22 of 512 experts of 2688 + shared 5376 in latent 1024":                    40,
			"32/2 heads of 128":                                                         8,
			"32/2 heads of 128, 22 of 512 experts of 2688 + shared 5376 in latent 1024": 0, // prediction only
		},
		"stepfun-ai/Step-3.7-Flash": {
			"64/8 heads of 128, MLP 11264":                                          1,
			"96/8 heads of 128, window 512, MLP 11264":                              2,
			"64/8 heads of 128, 8 of 288 experts of 1280 + shared 1280":             11,
			"96/8 heads of 128, window 512, 8 of 288 experts of 1280 + shared 1280": 31,
		},
		"ai21labs/Jamba-v0.1": {
			"Mamba 8192 channels, state 16, MLP 14336":                12,
			"Mamba 8192 channels, state 16, 2 of 16 experts of 14336": 16,
			"32/8 heads of 128, MLP 14336":                            4,
		},
		"allenai/Olmo-3-1025-7B": {
			"32/32 heads of 128, window 4096, MLP 11008": 24, "32/32 heads of 128, MLP 11008": 8,
		},
		"allenai/Olmo-Hybrid-7B": {
			"gated delta 30/30 heads of 192, MLP 11008": 24, "30/30 heads of 128, MLP 11008": 8,
		},
		"arcee-ai/Trinity-Mini": {
			"32/4 heads of 128, window 2048, MLP 6144":                               2,
			"32/4 heads of 128, window 2048, 8 of 128 experts of 1024 + shared 1024": 22,
			"32/4 heads of 128, 8 of 128 experts of 1024 + shared 1024":              8,
		},
		"baidu/ERNIE-4.5-21B-A3B-PT": {
			"20/4 heads of 128, MLP 12288": 1, "20/4 heads of 128, 6 of 64 experts of 1536 + shared 3072": 27,
		},
		"bigcode/starcoder": {"48/1 heads of 128, MLP 24576": 40},
		"CohereLabs/c4ai-command-r7b-12-2024": {
			"32/8 heads of 128, window 4096, MLP 14336": 24, "32/8 heads of 128, MLP 14336": 8,
		},
		"databricks/dbrx-base": {"48/8 heads of 128, 4 of 16 experts of 10752": 40},
		"EleutherAI/gpt-neo-125m": {
			"12/12 heads of 64, MLP 3072": 6, "12/12 heads of 64, window 256, MLP 3072": 6,
		},
		"google/gemma-2-9b": {
			"16/8 heads of 256, window 4096, MLP 14336": 21, "16/8 heads of 256, MLP 14336": 21,
		},
		"google/gemma-3n-E4B": {
			"8/2 heads of 256, window 512, MLP 16384, own input of 256, 4 residual streams":            16,
			"8/2 heads of 256, MLP 16384, own input of 256, 4 residual streams":                        4,
			"8/2 heads of 256, window 512, shared KV, MLP 16384, own input of 256, 4 residual streams": 12,
			"8/2 heads of 256, shared KV, MLP 16384, own input of 256, 4 residual streams":             3,
		},
		"google/gemma-4-E2B": {
			"8/1 heads of 256, window 512, MLP 6144, own input of 256":             12,
			"8/1 heads of 512, MLP 6144, own input of 256":                         3,
			"8/1 heads of 256, window 512, shared KV, MLP 12288, own input of 256": 16,
			"8/1 heads of 512, shared KV, MLP 12288, own input of 256":             4,
		},
		"ibm-granite/granite-4.0-h-tiny": {
			"Mamba-2 48 heads of 64, state 128, 6 of 64 experts of 512 + shared 1024": 36,
			"12/4 heads of 128, 6 of 64 experts of 512 + shared 1024":                 4,
		},
		"ibm-granite/granite-4.0-micro": {"40/8 heads of 64, MLP 8192": 40},
		"LGAI-EXAONE/K-EXAONE-236B-A23B": {
			"64/8 heads of 128, window 128, MLP 18432":                              1,
			"64/8 heads of 128, window 128, 8 of 128 experts of 2048 + shared 2048": 35,
			"64/8 heads of 128, 8 of 128 experts of 2048 + shared 2048":             12,
		},
		"LiquidAI/LFM2-1.2B": {"convolution of 3, MLP 8192": 10, "32/8 heads of 64, MLP 8192": 6},
		"LiquidAI/LFM2-8B-A1B": {
			"convolution of 3, MLP 7168":                2,
			"convolution of 3, 4 of 32 experts of 1792": 16,
			"32/8 heads of 64, 4 of 32 experts of 1792": 6,
		},
		"meituan-longcat/LongCat-Flash-Chat": {
			"MLA 64 heads of 192, latent 512+64, 8 of 512 experts of 2048 + MLP 12288": 28,
			"MLA 64 heads of 192, latent 512+64, MLP 12288":                            28,
		},
		"meta-llama/Llama-3.2-11B-Vision": {
			"32/8 heads of 128, MLP 14336": 32, "32/8 heads of 128 on images, MLP 14336": 8,
		},
		"MiniMaxAI/MiniMax-M1-40k": {
			"gated delta 64/64 heads of 128, 2 of 32 experts of 9216": 70,
			"64/8 heads of 128, 2 of 32 experts of 9216":              10,
		},
		"openbmb/MiniCPM3-4B":                 {"MLA 40 heads of 96, latent 256+32, MLP 6400": 62},
		"Qwen/Qwen-7B":                        {"32/32 heads of 128, MLP 11008": 32},
		"Qwen/Qwen3-Omni-30B-A3B-Instruct":    {"32/4 heads of 128, 8 of 128 experts of 768": 48},
		"Snowflake/snowflake-arctic-instruct": {"56/8 heads of 128, 2 of 128 experts of 4864 + MLP 7168": 35},
		"state-spaces/mamba-2.8b-hf":          {"Mamba 5120 channels, state 16": 64},
		"tencent/Hunyuan-A13B-Instruct":       {"32/8 heads of 128, 8 of 64 experts of 3072 + shared 3072": 32},
		"tiiuae/falcon-7b":                    {"71/1 heads of 64, MLP 18176": 32},
		"tiiuae/Falcon-H1-0.5B-Base":          {"Mamba-2 24 heads of 64, state 128": 36, "8/2 heads of 64, MLP 2048": 36},
		"XiaomiMiMo/MiMo-7B-Base":             {"32/8 heads of 128, MLP 11008": 36},
		"XiaomiMiMo/MiMo-V2-Flash": {
			"64/4 heads of 192, MLP 16384":                            1,
			"64/8 heads of 192, window 128, 8 of 256 experts of 2048": 39,
			"64/4 heads of 192, 8 of 256 experts of 2048":             8,
		},
	} {
		got := kinds{}
		for _, k := range lookup(t, id).Facts().Kinds {
			got[k.Description] += k.Count
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (want -, got +):\n%s", id, d)
		}
	}
}

func TestEveryFamilyHasAModel(t *testing.T) {
	have := map[string]bool{}
	for _, e := range IDs() {
		have[e.Family] = true
	}
	for _, f := range families() {
		if !have[f.Name] && f.Name != "generic" { // used only if a request names it
			t.Errorf("family %s: no model in the catalog", f.Name)
		}
	}
}

// Details that a layer's description does not show.
func TestAttentionDetails(t *testing.T) {
	for _, c := range []struct {
		id   string
		kind int
		want Attention
	}{
		{"Qwen/Qwen2.5-7B", 0, Attention{Kind: GQA, Heads: 28, KVHeads: 4, HeadDim: 128, ValueDim: 128, RopeDim: 128, Bias: true}},
		{"Qwen/Qwen3-32B", 0, Attention{Kind: GQA, Heads: 64, KVHeads: 8, HeadDim: 128, ValueDim: 128, RopeDim: 128, QKNorm: PerHead}},
		{"zai-org/GLM-4.5", 1, Attention{Kind: GQA, Heads: 96, KVHeads: 8, HeadDim: 128, ValueDim: 128, RopeDim: 64, QKNorm: PerHead, Bias: true}},
		{"MiniMaxAI/MiniMax-M2", 0, Attention{Kind: GQA, Heads: 48, KVHeads: 8, HeadDim: 128, ValueDim: 128, RopeDim: 64, RopeStated: true, QKNorm: WholeVector}},
		{"openai/gpt-oss-20b", 0, Attention{Kind: GQA, Heads: 64, KVHeads: 8, HeadDim: 64, ValueDim: 64, RopeDim: 64, Bias: true, OutBias: true, Sinks: true, Window: 128}},
		{"google/gemma-4-31B", 1, Attention{Kind: GQA, Heads: 32, KVHeads: 4, HeadDim: 512, ValueDim: 512, RopeDim: 128, QKNorm: PerHead, KeyIsVal: true}},
		{"XiaomiMiMo/MiMo-V2-Flash", 1, Attention{Kind: GQA, Heads: 64, KVHeads: 8, HeadDim: 192, ValueDim: 128, RopeDim: 64, Sinks: true, Window: 128}},
		{"CohereLabs/c4ai-command-r-plus", 0, Attention{Kind: GQA, Heads: 96, KVHeads: 8, HeadDim: 128, ValueDim: 128, RopeDim: 128, QKNorm: PerHead}},
		{"microsoft/phi-2", 0, Attention{Kind: GQA, Heads: 32, KVHeads: 32, HeadDim: 80, ValueDim: 80, RopeDim: 32, Bias: true, OutBias: true}},
		{"openai-community/gpt2", 0, Attention{Kind: GQA, Heads: 12, KVHeads: 12, HeadDim: 64, ValueDim: 64, Bias: true, OutBias: true}},
		{"zai-org/chatglm3-6b", 0, Attention{Kind: GQA, Heads: 32, KVHeads: 2, HeadDim: 128, ValueDim: 128, RopeDim: 64, Bias: true}},
		{"ByteDance-Seed/Seed-OSS-36B-Instruct", 0, Attention{Kind: GQA, Heads: 80, KVHeads: 8, HeadDim: 128, ValueDim: 128, RopeDim: 128, Bias: true}},
		{"allenai/OLMo-2-1124-7B", 0, Attention{Kind: GQA, Heads: 32, KVHeads: 32, HeadDim: 128, ValueDim: 128, RopeDim: 128, QKNorm: WholeVector}},
		{"LiquidAI/LFM2-350M", 0, Attention{Kind: ShortConv, Recurrent: Recurrent{ValueHeads: 1024, ValueDim: 1, Conv: 3, StateFormat: dtype.F32}}},
		{"tiiuae/falcon-mamba-7b", 0, Attention{Kind: Mamba1, Recurrent: Recurrent{ValueHeads: 8192, ValueDim: 1, KeyDim: 16, Conv: 4, GateRank: 256, StateFormat: dtype.F32}}},
		{"Qwen/Qwen3.5-27B", 1, Attention{Kind: GQA, Heads: 24, KVHeads: 4, HeadDim: 256, ValueDim: 256, RopeDim: 64, QKNorm: PerHead, OutGate: true}},
		{"Qwen/Qwen3.5-27B", 0, Attention{Kind: GatedDelta, Recurrent: Recurrent{KeyHeads: 16, ValueHeads: 48, KeyDim: 128, ValueDim: 128, Conv: 4, StateFormat: dtype.F32}}},
		{"deepseek-ai/DeepSeek-V3", 0, Attention{Kind: MLA, Heads: 128, KVHeads: 128, HeadDim: 192, ValueDim: 128, RopeDim: 64, QRank: 1536, KVRank: 512}},
		{"moonshotai/Kimi-K3", 2, Attention{Kind: MLA, Heads: 96, KVHeads: 96, HeadDim: 192, ValueDim: 128, RopeDim: 64, QRank: 1536, KVRank: 512, OutGate: true}},
		{"moonshotai/Kimi-K3", 0, Attention{Kind: GatedDelta, Recurrent: Recurrent{KeyHeads: 96, ValueHeads: 96, KeyDim: 128, ValueDim: 128, Conv: 4, ChannelDecay: true, StateFormat: dtype.F32}}},
		{"deepseek-ai/DeepSeek-V4-Pro", 1, Attention{
			Kind: MLA, Heads: 128, KVHeads: 1, HeadDim: 512, ValueDim: 512, RopeDim: 64, Sinks: true, KeyIsVal: true,
			QRank: 1536, KVRank: 448, OutRank: 1024, OutGroup: 16, Compress: 4, Local: 128,
			Indexer: Indexer{Heads: 64, Dim: 128, TopK: 1024},
		}},
		{"MiniMaxAI/MiniMax-M3", 1, Attention{
			Kind: GQA, Heads: 64, KVHeads: 4, HeadDim: 128, ValueDim: 128, RopeDim: 64, RopeStated: true, QKNorm: PerHead,
			Indexer: Indexer{Heads: 4, Dim: 128, TopK: 2048},
		}},
		{"nvidia/Nemotron-H-8B-Base-8K", 0, Attention{Kind: Mamba2, Recurrent: Recurrent{ValueHeads: 128, KeyDim: 128, ValueDim: 64, Groups: 8, Conv: 4, StateFormat: dtype.F32}}},
	} {
		if d := cmp.Diff(c.want, lookup(t, c.id).Kinds[c.kind].Attention); d != "" {
			t.Errorf("%s kind %d (want -, got +):\n%s", c.id, c.kind, d)
		}
	}
}

func TestFFNDetails(t *testing.T) {
	for _, c := range []struct {
		id   string
		kind int
		want FFN
	}{
		{"Qwen/Qwen2-57B-A14B", 0, FFN{Kind: MoE, Experts: 64, TopK: 8, ExpertIntermediate: 2560, SharedIntermediate: 20480, SharedGate: true}},
		{"Qwen/Qwen3-235B-A22B", 0, FFN{Kind: MoE, Experts: 128, TopK: 8, ExpertIntermediate: 1536}},
		{"deepseek-ai/DeepSeek-V3.1", 1, FFN{Kind: MoE, Experts: 256, TopK: 8, ExpertIntermediate: 2048, SharedIntermediate: 2048, RouterBias: true, Router: RawRouter}},
		{"deepseek-ai/DeepSeek-V2", 1, FFN{Kind: MoE, Experts: 160, TopK: 6, ExpertIntermediate: 1536, SharedIntermediate: 3072, Router: RawRouter}},
		{"openai/gpt-oss-20b", 0, FFN{Kind: MoE, Experts: 32, TopK: 4, ExpertIntermediate: 2880, Bias: true}},
		{"nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", 1, FFN{Kind: MoE, Ungated: true, Experts: 128, TopK: 6, ExpertIntermediate: 1856, SharedIntermediate: 3712, RouterBias: true, Router: RawRouter}},
		{"google/gemma-4-26B-A4B", 0, FFN{Kind: MoE, Intermediate: 2112, Experts: 128, TopK: 8, ExpertIntermediate: 704}},
	} {
		if d := cmp.Diff(c.want, lookup(t, c.id).Kinds[c.kind].FFN); d != "" {
			t.Errorf("%s kind %d (want -, got +):\n%s", c.id, c.kind, d)
		}
	}
}

func TestPredictionModules(t *testing.T) {
	for id, want := range map[string]MTP{
		"deepseek-ai/DeepSeek-V3":       {Layers: 1, Kind: 1},
		"MiniMaxAI/MiniMax-M2":          {Layers: 3, Kind: 0},
		"Qwen/Qwen3.5-27B":              {Layers: 1, Kind: 1},
		"zai-org/GLM-4.5":               {Layers: 1, Kind: 1},
		"deepseek-ai/DeepSeek-V4-Flash": {Layers: 1, Kind: 0}, // a window alone, as its first layers
		"deepseek-ai/DeepSeek-V4-Pro":   {Layers: 1, Kind: 2}, // a kind no decoder layer has
		"moonshotai/Kimi-K2-Instruct":   {},
		"Qwen/Qwen3-32B":                {},
	} {
		if got := lookup(t, id).MTP; got != want {
			t.Errorf("%s: want %+v, got %+v", id, want, got)
		}
	}
}

// Some layers of the searched Llama have no attention, some a narrower MLP.
func TestNemotronNAS(t *testing.T) {
	m := lookup(t, "nvidia/Llama-3_3-Nemotron-Super-49B-v1")
	without, widths := 0, map[int]int{}
	for _, k := range m.Layers {
		l := m.Kinds[k]
		if l.Attention.Kind == NoAttention {
			without++
			if l.Norms != 1 {
				t.Errorf("a block without attention has %d norms", l.Norms)
			}
		}
		widths[l.FFN.Intermediate]++
	}
	if without != 31 || len(m.Layers) != 80 || widths[28672] == 0 || widths[14336] == 0 {
		t.Errorf("%d of %d blocks without attention, widths %v", without, len(m.Layers), widths)
	}
}

// Attention and feed-forward part beside each other have one input.
func TestParallelParts(t *testing.T) {
	for id, want := range map[string]Layer{
		"CohereLabs/c4ai-command-r-v01": {Parallel: true, Norms: 1},
		"tiiuae/falcon-7b":              {Parallel: true, Norms: 1},
		"tiiuae/falcon-40b":             {Parallel: true, Norms: 2},
		"EleutherAI/gpt-neox-20b":       {Parallel: true, Norms: 2},
		"stabilityai/stablelm-2-12b":    {Parallel: true, Norms: 1},
		"stabilityai/stablelm-2-1_6b":   {Norms: 2},
		"zai-org/GLM-4-9B-0414":         {Norms: 4},
	} {
		if l := lookup(t, id).Kinds[0]; l.Parallel != want.Parallel || l.Norms != want.Norms {
			t.Errorf("%s: want %+v, got %+v", id, want, l)
		}
	}
}

// What approximates must say so.
func TestApproximationsAreStated(t *testing.T) {
	for _, id := range []string{
		"meituan-longcat/LongCat-Flash-Chat", "meta-llama/Llama-3.2-11B-Vision", "MiniMaxAI/MiniMax-Text-01", "tiiuae/Falcon-H1-7B-Base",
		"google/gemma-3n-E2B", "Qwen/Qwen2.5-Omni-7B", "microsoft/Phi-4-multimodal-instruct", "openai-community/gpt2",
		"deepseek-ai/DeepSeek-V4-Pro", "moonshotai/Kimi-K3", "MiniMaxAI/MiniMax-M3", "stepfun-ai/Step-3.7-Flash",
	} {
		if len(lookup(t, id).Notes) == 0 {
			t.Errorf("%s: no notes", id)
		}
	}
}
