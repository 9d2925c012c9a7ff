package model

import (
	"math"
	"testing"
)

// published are parameter counts as their makers give them. Where the figure is
// exact it is the total of the checkpoint's safetensors index; rounded ones are
// from the model card or technical report named. Towers are included except
// where the card counts the text model alone.
var published = []struct {
	id       string
	count    float64
	textOnly bool
	withMTP  bool
}{
	{id: "meta-llama/Llama-2-7b-hf", count: 6738415616},          // safetensors
	{id: "meta-llama/Llama-2-13b-hf", count: 13015864320},        // safetensors
	{id: "meta-llama/Llama-2-70b-hf", count: 68976648192},        // safetensors
	{id: "meta-llama/Llama-3.1-8B", count: 8030261248},           // safetensors
	{id: "meta-llama/Llama-3.1-70B", count: 70553706496},         // safetensors
	{id: "meta-llama/Llama-3.1-405B", count: 405853388800},       // safetensors
	{id: "meta-llama/Llama-3.2-1B", count: 1235814400},           // safetensors
	{id: "meta-llama/Llama-3.2-3B", count: 3212749824},           // safetensors
	{id: "meta-llama/Llama-4-Scout-17B-16E", count: 109e9},       // model card
	{id: "meta-llama/Llama-4-Maverick-17B-128E", count: 400e9},   // model card
	{id: "mistralai/Mistral-7B-v0.1", count: 7241732096},         // safetensors
	{id: "mistralai/Mistral-Nemo-Base-2407", count: 12247782400}, // safetensors
	{id: "mistralai/Mistral-Small-24B-Base-2501", count: 23572403200},
	{id: "mistralai/Mistral-Large-Instruct-2407", count: 122610069504},
	{id: "mistralai/Mixtral-8x7B-v0.1", count: 46702792704},   // safetensors
	{id: "mistralai/Mixtral-8x22B-v0.1", count: 140620634112}, // safetensors
	{id: "microsoft/Phi-3-mini-4k-instruct", count: 3821079552},
	{id: "microsoft/phi-4", count: 14659507200},
	{id: "Qwen/Qwen2.5-0.5B", count: 494032768},    // safetensors
	{id: "Qwen/Qwen2.5-1.5B", count: 1543714304},   // safetensors
	{id: "Qwen/Qwen2.5-3B", count: 3085938688},     // safetensors
	{id: "Qwen/Qwen2.5-7B", count: 7615616512},     // safetensors
	{id: "Qwen/Qwen2.5-14B", count: 14770033664},   // safetensors
	{id: "Qwen/Qwen2.5-32B", count: 32763876352},   // safetensors
	{id: "Qwen/Qwen2.5-72B", count: 72706203648},   // safetensors
	{id: "Qwen/Qwen1.5-MoE-A2.7B", count: 14.3e9},  // model card
	{id: "Qwen/Qwen2-57B-A14B", count: 57.4e9},     // Qwen2 technical report
	{id: "Qwen/Qwen3-0.6B", count: 596049920},      // safetensors, tied head once
	{id: "Qwen/Qwen3-4B", count: 4022468096},       // safetensors
	{id: "Qwen/Qwen3-8B", count: 8190735360},       // safetensors
	{id: "Qwen/Qwen3-14B", count: 14768307200},     // safetensors
	{id: "Qwen/Qwen3-32B", count: 32762123264},     // safetensors
	{id: "Qwen/Qwen3-30B-A3B", count: 30532122624}, // safetensors
	{id: "Qwen/Qwen3-235B-A22B", count: 235093634560},
	{id: "Qwen/Qwen3-Coder-480B-A35B-Instruct", count: 480154875392},
	{id: "Qwen/Qwen3-Next-80B-A3B-Instruct", count: 79674391296}, // transformers, without MTP
	{id: "Qwen/Qwen2.5-VL-3B-Instruct", count: 3754622976},       // safetensors
	{id: "Qwen/Qwen2.5-VL-7B-Instruct", count: 8292166656},       // safetensors
	{id: "Qwen/Qwen2.5-VL-72B-Instruct", count: 73410777344},     // safetensors
	{id: "Qwen/Qwen3-VL-2B-Instruct", count: 2127532032},         // safetensors
	{id: "Qwen/Qwen3-VL-8B-Instruct", count: 8767123696},         // safetensors
	{id: "Qwen/Qwen3-VL-30B-A3B-Instruct", count: 31070754032},   // safetensors
	{id: "Qwen/Qwen3.5-397B-A17B", count: 397e9},                 // model card
	{id: "deepseek-ai/DeepSeek-V2", count: 235741434880},         // safetensors
	{id: "deepseek-ai/DeepSeek-V2-Lite", count: 15706484224},     // safetensors
	{id: "deepseek-ai/DeepSeek-V3", count: 671e9},                // technical report, without MTP
	{id: "deepseek-ai/DeepSeek-V4-Flash", count: 284e9},          // model card
	{id: "moonshotai/Kimi-K2-Instruct", count: 1.03e12},          // safetensors, rounded
	{id: "moonshotai/Kimi-K3", count: 2.8e12},                    // technical report
	{id: "zai-org/GLM-4.5", count: 355e9},                        // technical report
	{id: "zai-org/GLM-4.5-Air", count: 106e9},                    // technical report
	{id: "zai-org/GLM-5", count: 744e9},                          // technical report
	{id: "MiniMaxAI/MiniMax-M2", count: 229e9},                   // safetensors, rounded
	{id: "MiniMaxAI/MiniMax-M3", count: 428e9},                   // model card
	{id: "openai/gpt-oss-20b", count: 20.91e9},                   // model card
	{id: "openai/gpt-oss-120b", count: 116.83e9},                 // model card
	{id: "google/gemma-3-1b-it", count: 999885952},               // safetensors
	{id: "google/gemma-3-4b-it", count: 4300079472},              // safetensors
	{id: "google/gemma-3-12b-it", count: 12187325040},            // safetensors
	{id: "google/gemma-3-27b-it", count: 27432406640},            // safetensors
	{id: "google/gemma-4-31B", count: 30.7e9, textOnly: true},    // model card
	{id: "google/gemma-4-26B-A4B", count: 25.2e9, textOnly: true},
	{id: "nvidia/Nemotron-H-8B-Base-8K", count: 8.1e9}, // technical report
	{id: "nvidia/Nemotron-H-47B-Base-8K", count: 46.8e9},
	{id: "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", count: 31.6e9}, // model card
	{id: "nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-BF16", count: 120.6e9},
	{id: "nvidia/Llama-3_3-Nemotron-Super-49B-v1", count: 49867145216}, // safetensors
	{id: "XiaomiMiMo/MiMo-7B-Base", count: 7833409536, withMTP: true},  // safetensors
	{id: "XiaomiMiMo/MiMo-V2-Flash", count: 309e9},                     // model card
	{id: "stepfun-ai/Step-3.5-Flash", count: 196e9},                    // model card
}

func TestPublishedParameters(t *testing.T) {
	worst := 0.0
	for _, c := range published {
		m, err := Lookup(c.id)
		if err != nil {
			t.Error(err)
			continue
		}
		p := m.Parameters()
		got := p.total()
		if c.textOnly {
			got -= p.Vision
		}
		if c.withMTP {
			got += p.MTP
		}
		off := math.Abs(got/c.count - 1)
		worst = max(worst, off)
		if off > 0.01 {
			t.Errorf("%s: want %.4g parameters, got %.4g (%+.2f %%)", c.id, c.count, got, 100*(got/c.count-1))
		}
	}
	t.Logf("%d models, largest error %.2f %%", len(published), 100*worst)
}

func TestPublishedActiveParameters(t *testing.T) {
	for _, c := range []struct {
		id    string
		count float64
		// The card leaves out the input embedding, which a token reads one row of.
		noEmbedding bool
	}{
		{"mistralai/Mixtral-8x7B-v0.1", 12.9e9, false},               // Mixtral paper
		{"mistralai/Mixtral-8x22B-v0.1", 39e9, false},                // announcement
		{"Qwen/Qwen1.5-MoE-A2.7B", 2.7e9, false},                     // model card
		{"Qwen/Qwen2-57B-A14B", 14e9, false},                         // model card
		{"Qwen/Qwen3-30B-A3B", 3.3e9, false},                         // model card
		{"Qwen/Qwen3-235B-A22B", 22e9, false},                        // model card
		{"Qwen/Qwen3-Coder-480B-A35B-Instruct", 35e9, false},         // model card
		{"Qwen/Qwen3.5-397B-A17B", 17e9, false},                      // model card
		{"meta-llama/Llama-4-Scout-17B-16E", 17e9, false},            // model card
		{"meta-llama/Llama-4-Maverick-17B-128E", 17e9, false},        // model card
		{"deepseek-ai/DeepSeek-V2", 21e9, false},                     // technical report
		{"deepseek-ai/DeepSeek-V3", 37e9, false},                     // technical report
		{"moonshotai/Kimi-K2-Instruct", 32.6e9, false},               // technical report
		{"openai/gpt-oss-20b", 3.61e9, true},                         // model card
		{"openai/gpt-oss-120b", 5.13e9, true},                        // model card
		{"google/gemma-4-26B-A4B", 3.8e9, false},                     // model card
		{"nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", 3.6e9, false}, // technical report
		{"nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-BF16", 12.7e9, false},
		{"zai-org/GLM-5", 40e9, true},                 // technical report
		{"deepseek-ai/DeepSeek-V4-Flash", 13e9, true}, // model card
	} {
		m, err := Lookup(c.id)
		if err != nil {
			t.Error(err)
			continue
		}
		p := m.Parameters()
		got := p.active()
		if c.noEmbedding {
			got -= p.Embedding
		}
		if off := math.Abs(got/c.count - 1); off > 0.03 {
			t.Errorf("%s: want %.3g active parameters, got %.4g (%+.2f %%)", c.id, c.count, got, 100*(got/c.count-1))
		}
	}
}

// DeepSeek's README_WEIGHTS gives the module 11.5 B parameters of its own.
func TestMTPParameters(t *testing.T) {
	m, err := Lookup("deepseek-ai/DeepSeek-V3")
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Parameters().MTP; math.Abs(got/11.5e9-1) > 0.01 {
		t.Errorf("want 11.5 B, got %.4g", got)
	}
}

func TestPartsAddUp(t *testing.T) {
	for _, e := range IDs() {
		m, err := Lookup(e.ID)
		if err != nil {
			t.Fatal(err)
		}
		p := m.Parameters()
		h := float64(m.Hidden)
		sum := p.Embedding + p.Head + p.Vision + h
		for _, k := range m.Layers {
			sum += m.Kinds[k].parameters(h).decoder()
		}
		if s := streams(m); s > 1 {
			sum += s * s * h
		}
		if math.Abs(sum-p.total()) > 0.5 {
			t.Errorf("%s: layers sum to %.0f, total is %.0f", e.ID, sum, p.total())
		}
		if p.active() > p.total() || p.active() <= 0 {
			t.Errorf("%s: active %.0f of %.0f", e.ID, p.active(), p.total())
		}
	}
}
