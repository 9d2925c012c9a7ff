package model

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// What the parts of a model are stored in, as spell prints them; parts it does not
// have are as the rest.
const (
	wide      = "bf16 | bf16 | bf16 | bf16 | bf16"
	half      = "f16 | f16 | f16 | f16 | f16"
	blocks    = "fp8 block | fp8 block | fp8 block | fp8 block | bf16"
	channels  = "fp8 | fp8 | fp8 | fp8 | bf16"
	static    = "fp8 static | fp8 static | fp8 static | fp8 static | bf16"
	four      = "nvfp4 | nvfp4 | nvfp4 | nvfp4 | bf16"
	fourLeft  = "nvfp4 w4a16 | nvfp4 w4a16 | nvfp4 w4a16 | nvfp4 w4a16 | bf16"
	mlpFour   = "bf16 | nvfp4 | nvfp4 | nvfp4 | bf16 | kv fp8"
	int4      = "int4 g128 | int4 g128 | int4 g128 | int4 g128 | bf16"
	int4Half  = "int4 g128 f16 | int4 g128 f16 | int4 g128 f16 | int4 g128 f16 | f16"
	int8Both  = "int8 | int8 | int8 | int8 | bf16"
	int8Left  = "int8 w8a16 | int8 w8a16 | int8 w8a16 | int8 w8a16 | bf16"
	int8Group = "int8 g128 | int8 g128 | int8 g128 | int8 g128 | bf16"
	nf4       = "nf4 | nf4 | nf4 | nf4 | bf16"
	mx        = "mxfp4 | mxfp4 | mxfp4 | mxfp4 | bf16 | kv fp8"
	mlpMX     = "bf16 | mxfp4 | mxfp4 | mxfp4 | bf16"
	kv        = " | kv fp8"
)

// TestNames: what names that are not in the catalog are taken as.
func TestNames(t *testing.T) {
	for _, c := range []struct{ name, id, quant string }{
		// Renamed organisations.
		{"zhipuai/GLM-5", "zai-org/GLM-5", wide},
		{"ZhipuAI/GLM-5-FP8", "zai-org/GLM-5-FP8", blocks},
		{"THUDM/GLM-4.5", "zai-org/GLM-4.5", wide},
		{"z-ai/glm-4.6", "zai-org/GLM-4.6", wide},
		{"meta/llama-3.3-70b-instruct", "meta-llama/Llama-3.3-70B-Instruct", wide},
		{"deepseek/deepseek-r1", "deepseek-ai/DeepSeek-R1", blocks},
		{"MiniMax/MiniMax-M2", "MiniMaxAI/MiniMax-M2", blocks},
		{"openai-mirror/gpt-oss-120b", "openai/gpt-oss-120b", "bf16 | bf16 | mxfp4 w4a16 | bf16 | bf16"},
		{"mistral-community/Mixtral-8x22B-v0.1", "mistralai/Mixtral-8x22B-v0.1", wide},
		{"nv-community/Llama-3.1-8B-Instruct-FP8", "nvidia/Llama-3.1-8B-Instruct-FP8", static + kv},
		// Copies.
		{"unsloth/Meta-Llama-3.1-8B-Instruct", "meta-llama/Meta-Llama-3.1-8B-Instruct", wide},
		{"unsloth/gemma-3-27b-it", "google/gemma-3-27b-it", wide},
		{"unsloth/Qwen3-8B-FP8", "Qwen/Qwen3-8B-FP8", blocks},
		{"unsloth/mistral-7b-instruct-v0.3", "mistralai/Mistral-7B-Instruct-v0.3", wide},
		{"NousResearch/Meta-Llama-3-8B-Instruct", "meta-llama/Meta-Llama-3-8B-Instruct", wide},
		{"NousResearch/Llama-2-7b-chat-hf", "meta-llama/Llama-2-7b-chat-hf", half},
		{"LLM-Research/Meta-Llama-3.1-70B-Instruct", "meta-llama/Meta-Llama-3.1-70B-Instruct", wide},
		{"LLM-Research/Llama-4-Scout-17B-16E-Instruct", "meta-llama/Llama-4-Scout-17B-16E-Instruct", wide},
		{"AI-ModelScope/Mixtral-8x7B-Instruct-v0.1", "mistralai/Mixtral-8x7B-Instruct-v0.1", wide},
		{"RedHatAI/Llama-3.1-8B-Instruct", "meta-llama/Llama-3.1-8B-Instruct", wide},
		// Old spellings of ids.
		{"meta-llama/Llama-3-8B-Instruct", "meta-llama/Meta-Llama-3-8B-Instruct", wide},
		{"meta-llama/Meta-Llama-3.3-70B-Instruct", "meta-llama/Llama-3.3-70B-Instruct", wide},
		{"meta-llama/Llama-2-13b", "meta-llama/Llama-2-13b-hf", half},
		{"meta-llama/Llama-3.3-70B", "meta-llama/Llama-3.3-70B-Instruct", wide},
		{"nvidia/DeepSeek-R1-FP4", "nvidia/DeepSeek-R1-NVFP4", mlpFour},
		{"nvidia/Qwen3-30B-A3B-FP4", "nvidia/Qwen3-30B-A3B-NVFP4", four + kv},
		{"nvidia/Gemma-4-26B-A4B-it-NVFP4", "nvidia/Gemma-4-26B-A4B-NVFP4", "bf16 | bf16 | nvfp4 | nvfp4 | bf16 | kv fp8"},
		// Bare names.
		{"Qwen3-32B", "Qwen/Qwen3-32B", wide},
		{"qwen3-32b", "Qwen/Qwen3-32B", wide},
		{"QWEN3-32B-FP8", "Qwen/Qwen3-32B-FP8", blocks},
		{"GLM-5", "zai-org/GLM-5", wide},
		{"DeepSeek-V3.1", "deepseek-ai/DeepSeek-V3.1", blocks},
		{"deepseek-v3_1", "deepseek-ai/DeepSeek-V3.1", blocks},
		{"Llama-3.3-70B", "meta-llama/Llama-3.3-70B-Instruct", wide},
		{"Llama-3_3-Nemotron-Super-49B-v1.5", "nvidia/Llama-3_3-Nemotron-Super-49B-v1_5", wide},
		{"Phi-4-mini", "microsoft/Phi-4-mini-instruct", wide},
		{"NVIDIA-Nemotron-3-Nano-30B-A3B", "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", wide},
		{"Qwen3-14B-NVFP4", "Qwen/Qwen3-14B", four},
		{"Qwen3-VL-4B-Instruct-FP8", "Qwen/Qwen3-VL-4B-Instruct", blocks},
		// NVIDIA ModelOpt.
		{"nvidia/Qwen3-14B-FP8", "Qwen/Qwen3-14B", static + kv},
		{"nvidia/Llama-3.3-70B-FP8", "meta-llama/Llama-3.3-70B-Instruct", static + kv},
		{"nvidia/Qwen3-235B-A22B-FP8", "Qwen/Qwen3-235B-A22B", static + kv},
		{"nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-FP8", "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", static + kv},
		{"nvidia/Qwen3-14B-FP4", "Qwen/Qwen3-14B", four + kv},
		{"nvidia/DeepSeek-R1-0528-NVFP4-v2", "deepseek-ai/DeepSeek-R1-0528", mlpFour},
		{"nvidia/DeepSeek-R1-0528-FP4-v2", "deepseek-ai/DeepSeek-R1-0528", mlpFour},
		{"nvidia/GLM-4.7-NVFP4", "zai-org/GLM-4.7", mlpFour},
		{"nvidia/Kimi-K2-Instruct-NVFP4", "moonshotai/Kimi-K2-Instruct", mlpFour},
		{"nvidia/Qwen3.5-35B-A3B-NVFP4", "Qwen/Qwen3.5-35B-A3B", "bf16 | nvfp4 | nvfp4 | bf16 | bf16 | kv fp8"},
		// LLM Compressor.
		{"RedHatAI/Llama-3.3-70B-Instruct-FP8-dynamic", "meta-llama/Llama-3.3-70B-Instruct", channels},
		{"RedHatAI/Qwen3-30B-A3B-FP8-dynamic", "Qwen/Qwen3-30B-A3B", channels},
		{"RedHatAI/Qwen3-32B-FP8-dynamic", "Qwen/Qwen3-32B", channels},
		{"RedHatAI/Qwen3-32B-NVFP4", "Qwen/Qwen3-32B", four},
		{"RedHatAI/Qwen3-8B-NVFP4A16", "Qwen/Qwen3-8B", fourLeft},
		{"RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w4a16", "meta-llama/Meta-Llama-3.1-8B-Instruct", int4},
		{"RedHatAI/Qwen2.5-7B-Instruct-quantized.w8a8", "Qwen/Qwen2.5-7B-Instruct", int8Both},
		{"RedHatAI/Qwen2.5-7B-Instruct-quantized.w8a16", "Qwen/Qwen2.5-7B-Instruct", int8Left},
		{"neuralmagic/Meta-Llama-3.1-70B-Instruct-FP8", "meta-llama/Meta-Llama-3.1-70B-Instruct", static},
		{"neuralmagic/Meta-Llama-3-70B-Instruct-FP8-KV", "meta-llama/Meta-Llama-3-70B-Instruct", static + kv},
		{"neuralmagic/DeepSeek-R1-quantized.w4a16", "deepseek-ai/DeepSeek-R1", int4},
		{"unsloth/Llama-3.2-3B-Instruct-FP8-Dynamic", "meta-llama/Llama-3.2-3B-Instruct", channels},
		// AMD Quark.
		{"amd/Llama-3.1-8B-Instruct-FP8-KV", "meta-llama/Llama-3.1-8B-Instruct", static + kv},
		{"amd/Llama-3.1-405B-Instruct-MXFP4-Preview", "meta-llama/Llama-3.1-405B-Instruct", mx},
		{"amd/DeepSeek-R1-0528-MXFP4", "deepseek-ai/DeepSeek-R1-0528", mlpMX},
		{"amd/Qwen3.5-397B-A17B-MoE-MXFP4", "Qwen/Qwen3.5-397B-A17B", mlpMX},
		{"amd/DeepSeek-R1-0528-MXFP4-MTP-MoEFP4", "deepseek-ai/DeepSeek-R1-0528", "fp8 | mxfp4 | mxfp4 | mxfp4 | bf16"},
		{"amd/DeepSeek-R1-0528-MXFP4-v2", "deepseek-ai/DeepSeek-R1-0528", "mxfp4 | mxfp4 | mxfp4 | mxfp4 | bf16"},
		{"amd/Kimi-K2.5-MXFP4", "moonshotai/Kimi-K2.5", "bf16 | bf16 | mxfp4 | bf16 | bf16"},
		{"amd/Kimi-K2.5-MXFP4-AttnFP8", "moonshotai/Kimi-K2.5", "fp8 | bf16 | mxfp4 | bf16 | bf16"},
		{"amd/DeepSeek-V3.2-mtp-ptpc", "deepseek-ai/DeepSeek-V3.2", channels},
		// The publishers' own.
		{"Qwen/Qwen3-VL-4B-Instruct-FP8", "Qwen/Qwen3-VL-4B-Instruct", blocks},
		{"Qwen/Qwen2.5-14B-Instruct-GPTQ-Int4", "Qwen/Qwen2.5-14B-Instruct", int4},
		{"Qwen/Qwen2.5-14B-Instruct-GPTQ-Int8", "Qwen/Qwen2.5-14B-Instruct", int8Group},
		{"Qwen/Qwen2.5-14B-Instruct-AWQ", "Qwen/Qwen2.5-14B-Instruct", int4},
		{"meta-llama/Llama-3.1-405B-Instruct-FP8", "meta-llama/Llama-3.1-405B-Instruct", "bf16 | fp8 | fp8 | fp8 | bf16"},
		{"meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8", "meta-llama/Llama-4-Maverick-17B-128E-Instruct", "bf16 | bf16 | fp8 | bf16 | bf16"},
		// Anyone's.
		{"cognitivecomputations/DeepSeek-R1-AWQ", "deepseek-ai/DeepSeek-R1", int4},
		{"hugging-quants/Meta-Llama-3.1-70B-Instruct-AWQ-INT4", "meta-llama/Meta-Llama-3.1-70B-Instruct", int4},
		{"TheBloke/Llama-2-70B-Chat-AWQ", "meta-llama/Llama-2-70b-chat-hf", int4Half},
		{"TheBloke/Llama-2-7B-fp16", "meta-llama/Llama-2-7b-hf", half},
		{"Intel/Qwen3-30B-A3B-Instruct-2507-int4-AutoRound", "Qwen/Qwen3-30B-A3B-Instruct-2507", int4},
		{"unsloth/Qwen3-32B-unsloth-bnb-4bit", "Qwen/Qwen3-32B", nf4},
		{"unsloth/Meta-Llama-3.1-8B-Instruct-bnb-4bit", "meta-llama/Meta-Llama-3.1-8B-Instruct", nf4},
		{"unsloth/DeepSeek-R1-BF16", "deepseek-ai/DeepSeek-R1", wide},
		{"unsloth/gpt-oss-20b-BF16", "openai/gpt-oss-20b", wide},
		{"vllm-ascend/Qwen3-30B-A3B-W8A8", "Qwen/Qwen3-30B-A3B", int8Both},
		{"someone/Qwen3-4B-FP8", "Qwen/Qwen3-4B", channels},
		{"Firworks/Qwen3-14B-nvfp4", "Qwen/Qwen3-14B", four},
		// AIConfigurator's old names.
		{"QWEN3_32B", "Qwen/Qwen3-32B", wide},
		{"qwen3_235b", "Qwen/Qwen3-235B-A22B", wide},
		{"LLAMA3.1_70B", "meta-llama/Meta-Llama-3.1-70B", wide},
		{"MOE_Mixtral8x7B", "mistralai/Mixtral-8x7B-v0.1", wide},
		{"DEEPSEEK_V3", "deepseek-ai/DeepSeek-V3", blocks},
		{"Nemotron_super_v1.1", "nvidia/Llama-3_3-Nemotron-Super-49B-v1", wide},
	} {
		m, err := Source{}.Open(c.name)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := spell(m.Quant); m.ID != c.id || got != c.quant {
			t.Errorf("%s:\nwant %s in %s\ngot  %s in %s", c.name, c.id, c.quant, m.ID, got)
		}
		if m.Asked != c.name || m.Name() != c.name || len(m.Notes) == 0 || !strings.HasPrefix(m.Notes[0], c.name+": resolved to "+c.id) {
			t.Errorf("%s: asked as %q, notes %q", c.name, m.Asked, m.Notes)
		}
	}
}

func TestNameNotes(t *testing.T) {
	for name, want := range map[string]string{
		"zhipuai/GLM-5":              "zhipuai/GLM-5: resolved to zai-org/GLM-5.",
		"QWEN3_32B":                  "QWEN3_32B: resolved to Qwen/Qwen3-32B in its own number formats (AIConfigurator chooses them by device).",
		"glm5":                       "glm5: resolved to zai-org/GLM-5.",
		"nvidia/Qwen3-14B-FP8":       "nvidia/Qwen3-14B-FP8: resolved to Qwen/Qwen3-14B with linear layers in fp8; KV cache in fp8 (the usual scheme of NVIDIA ModelOpt).",
		"amd/DeepSeek-R1-0528-MXFP4": "amd/DeepSeek-R1-0528-MXFP4: resolved to deepseek-ai/DeepSeek-R1-0528 with attention in bf16; dense layers, experts, shared experts in mxfp4 (the usual scheme of AMD Quark).",
		"unsloth/DeepSeek-R1-BF16":   "unsloth/DeepSeek-R1-BF16: resolved to deepseek-ai/DeepSeek-R1 with linear layers in bf16.",
		"neuralmagic/DeepSeek-R1-quantized.w4a16": "neuralmagic/DeepSeek-R1-quantized.w4a16: resolved to deepseek-ai/DeepSeek-R1 with linear layers in w4a16 int4 (the usual scheme of LLM Compressor).",
	} {
		m, err := Source{}.Open(name)
		if err != nil {
			t.Error(err)
		} else if d := cmp.Diff(want, m.Notes[0]); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// TestNamesOfTheCatalog: an id is itself, without a note, in any case.
func TestNamesOfTheCatalog(t *testing.T) {
	for i, e := range IDs() {
		names := []string{e.ID}
		if i%8 == 0 { // case is the same for all
			names = append(names, strings.ToLower(e.ID), strings.ToUpper(e.ID))
		}
		for _, name := range names {
			m, err := Source{}.Open(name)
			if err != nil {
				t.Error(err)
				continue
			}
			said := len(m.Notes) > 0 && strings.Contains(m.Notes[0], ": resolved to ")
			switch alias := e.AliasOf != ""; {
			case alias && (m.ID != e.AliasOf || m.Asked != name || !said):
				t.Errorf("%s: want %s with a note, got %s asked as %q, notes %q", name, e.AliasOf, m.ID, m.Asked, m.Notes)
			case !alias && (m.ID != e.ID || m.Asked != "" || m.Name() != e.ID || said):
				t.Errorf("%s: want %s without a note, got %s asked as %q, notes %q", name, e.ID, m.ID, m.Asked, m.Notes)
			}
		}
		// Without its organisation it still is.
		if _, short, ok := strings.Cut(e.ID, "/"); ok && e.AliasOf == "" {
			if m, err := (Source{}).Open(short); err != nil || m.ID != e.ID {
				t.Errorf("%s: want %s, got %v, %v", short, e.ID, m, err)
			}
		}
	}
}

func TestNamesAmbiguous(t *testing.T) {
	for name, want := range map[string]string{
		"gemma-3-27b":            `model "gemma-3-27b" is ambiguous; candidates: google/gemma-3-27b-it, google/gemma-3-27b-pt`,
		"google/gemma-3-27b":     `model "google/gemma-3-27b" is ambiguous; candidates: google/gemma-3-27b-it, google/gemma-3-27b-pt`,
		"someone/gemma-3-4b-AWQ": `model "someone/gemma-3-4b-AWQ" is ambiguous; candidates: google/gemma-3-4b-it, google/gemma-3-4b-pt`,
		"nemotron":               `model "nemotron" is ambiguous; candidates: nvidia/Nemotron-H-8B-Base-8K, nvidia/Nemotron-H-47B-Base-8K, nvidia/Nemotron-H-56B-Base-8K, nvidia/Nemotron-Mini-4B-Instruct, nvidia/Nemotron-Cascade-2-30B-A3B`,
		"gpt-oss":                `model "gpt-oss" is ambiguous; candidates: openai/gpt-oss-20b, openai/gpt-oss-120b, openai/gpt-oss-safeguard-20b, openai/gpt-oss-safeguard-120b`,
		"deepseek-coder-33b":     `model "deepseek-coder-33b" is ambiguous; candidates: deepseek-ai/deepseek-coder-33b-base, deepseek-ai/deepseek-coder-33b-instruct`,
		"mixtral-8x7b":           `model "mixtral-8x7b" is ambiguous; candidates: mistralai/Mixtral-8x7B-v0.1, mistralai/Mixtral-8x7B-Instruct-v0.1`,
	} {
		_, err := Source{}.Open(name)
		if _, ok := errors.AsType[*AmbiguousError](err); !ok || err.Error() != want {
			t.Errorf("%s:\nwant %s\ngot  %v", name, want, err)
		}
	}
	_, err := Source{}.Open("Qwen3")
	if many, ok := errors.AsType[*AmbiguousError](err); !ok || len(many.Candidates) <= maxListed || !strings.Contains(err.Error(), " more") || strings.Count(err.Error(), "/") != maxListed {
		t.Errorf("want %d of many candidates, got %v", maxListed, err)
	}
}

func TestNamesUnknown(t *testing.T) {
	for name, nearest := range map[string][]string{
		"Qwen/Qwen3-33B":      {"Qwen/Qwen3-32B"},
		"someone/Qwen3-8B":    {"Qwen/Qwen3-8B"}, // a stranger's weights may be anything
		"DeepSeek-V3x":        {"deepseek-ai/DeepSeek-V3"},
		"meta/LLama-3.4-8B":   {"meta-llama/Llama-3.1-8B"},
		"maverick":            {"meta-llama/Llama-4-Maverick-17B-128E"},
		"Qwen/Qwen3-32B-GGUF": {"Qwen/Qwen3-32B"},
		"llama4":              {"meta-llama/Llama-4-Scout-17B-16E"},
		// Nothing is near these.
		"org/absent":                   nil,
		"x":                            nil,
		"":                             nil,
		"alias":                        nil,
		"#":                            nil,
		"-fp8":                         nil,
		"nvidia/-FP8":                  nil,
		"zhipuai/":                     nil,
		"random words without sense":   nil,
		strings.Repeat("glm-5/", 1000): nil,
	} {
		_, err := Source{}.Open(name)
		unknown, ok := errors.AsType[*UnknownError](err)
		switch {
		case !ok:
			t.Errorf("%.80q: want an UnknownError, got %v", name, err)
		case strings.Contains(err.Error(), "\n"):
			t.Errorf("%.80q: more than a line", name)
		case len(nearest) == 0 && len(unknown.Nearest) > 0, len(nearest) > 0 && !slices.Contains(unknown.Nearest, nearest[0]):
			t.Errorf("%.80q: want %v, got %v", name, nearest, unknown.Nearest)
		}
	}
	want := `model "org/absent" is not in the catalog, nor is a similar name`
	if _, err := Lookup("org/absent"); err == nil || err.Error() != want {
		t.Errorf("want %s, got %v", want, err)
	}
	want = `model "Qwen/Qwen3-33B" is not in the catalog; nearest: Qwen/Qwen3-32B, `
	if _, err := Lookup("Qwen/Qwen3-33B"); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("want %s…, got %v", want, err)
	}
}

// TestNamesYield: a catalog's id comes before a local model, a local model before
// what a name may mean.
func TestNamesYield(t *testing.T) {
	const upload = "nvidia/Qwen3-14B-FP8"
	here := fstest.MapFS{"config.json": file(qwen3Config)}
	s := Source{Dir: func(path string) fs.FS {
		if path == upload || path == "Qwen3-32B" || path == "Qwen/Qwen3-32B" {
			return here
		}
		return fstest.MapFS{}
	}}
	for name, id := range map[string]string{"Qwen/Qwen3-32B": "Qwen/Qwen3-32B", upload: upload, "Qwen3-32B": "Qwen3-32B", "nvidia/Qwen3-4B-FP8": "Qwen/Qwen3-4B"} {
		m, err := s.Open(name)
		if err != nil || m.ID != id {
			t.Errorf("%s: want %s, got %v, %v", name, id, m, err)
		}
	}
	cached := Source{Hub: fstest.MapFS{"models--nvidia--Qwen3-14B-FP8/snapshots/a/config.json": file(qwen3Config)}}
	if m, err := cached.Open(upload); err != nil || m.ID != upload || len(m.Layers) != 2 {
		t.Errorf("want the cached model, got %v, %v", m, err)
	}
}

// TestNameFile: every line of names.txt is of a kind and names what is there.
func TestNameFile(t *testing.T) {
	publishers, families := map[string]bool{}, map[string]bool{}
	for _, r := range index() {
		org, _, _ := strings.Cut(r.id, "/")
		publishers[org], families[r.family] = true, true
	}
	for line := range strings.Lines(nameFile) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" || strings.HasPrefix(f[0], "#") {
			continue
		}
		ok := false
		switch f[0] {
		case "same":
			ok = len(f) == 4 && f[2] == "=" && strings.Count(f[1], "*") == strings.Count(f[3], "*") && strings.Count(f[1], "*") <= 1
		case "copies", "words", "formats", "optional":
			ok = len(f) > 1
		case "quant":
			ok = len(f) >= 4
		}
		if !ok {
			t.Errorf("names.txt: %q", line)
		}
	}
	rules := readNameRules()
	for i := range rules.quants {
		q := &rules.quants[i]
		for _, suffix := range q.suffixes {
			if suffix == "" || suffix != spelled(suffix) {
				t.Errorf("suffix %q is not spelled as names are", suffix)
			}
		}
		for _, f := range q.families {
			if !families[f] {
				t.Errorf("%v %v: no family %s", q.orgs, q.suffixes, f)
			}
		}
	}
	for _, w := range slices.Concat(rules.words, rules.optional) {
		if w != spelled(w) {
			t.Errorf("%q is not spelled as names are", w)
		}
	}
	for _, s := range rules.same {
		if org, _, _ := strings.Cut(s.to, "/"); !publishers[org] && org != "RedHatAI" {
			t.Errorf("same %s = %s: %s publishes nothing in the catalog", s.from, s.to, org)
		}
	}
}

// FuzzNames looks for names that panic, or give a model whose own name is not in
// them.
func FuzzNames(f *testing.F) {
	for _, name := range []string{"Qwen3-32B", "nvidia/Qwen3-14B-FP4-v2", "zhipuai/GLM-5", "a/b-awq", "-", "/", "-hf", "meta-", "unsloth/-bf16", "K2"} {
		f.Add(name)
	}
	f.Fuzz(checkName)
}

func checkName(t *testing.T, name string) {
	found, err := understand(name)
	if err != nil {
		if strings.Contains(err.Error(), "\n") {
			t.Fatalf("%q: more than a line: %v", name, err)
		}
		return
	}
	rules := readNameRules()
	_, repo, _ := strings.Cut(found.row.id, "/")
	own := rules.trimmed(spelled(repo))
	for _, word := range rules.words {
		own = strings.TrimSuffix(own, "-"+word)
	}
	if !strings.Contains(spelled(rules.renamed(name)), own) {
		t.Fatalf("%q taken as %s", name, found.row.id)
	}
	if _, err := found.load(name); err != nil {
		t.Fatal(err)
	}
}

// TestNamesMadeUp: names put together from the pieces of real ones give a model
// only where they name it, and always the same.
func TestNamesMadeUp(t *testing.T) {
	pieces := []string{"unsloth", "nvidia", "Qwen", "meta-llama", "zhipuai", "x", "/", "-", "_", ".", "Qwen3", "32B", "8B", "Llama", "3", "1", "GLM", "5", "Instruct", "FP8", "AWQ", "NVFP4", "hf", "it", "Meta", "*", "=", "é", "\x00", " "}
	rapid.Check(t, func(rt *rapid.T) {
		name := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 10).Draw(rt, "pieces"), "")
		checkName(t, name)
		one, err := understand(name)
		two, again := understand(name)
		if (err == nil) != (again == nil) || err == nil && one.row != two.row {
			rt.Fatalf("%q: %v, then %v", name, one, two)
		}
	})
}

func BenchmarkNames(b *testing.B) {
	for _, name := range []string{"zhipuai/GLM-5", "RedHatAI/Qwen3-32B-FP8-dynamic", "org/absent"} {
		b.Run("name="+strings.ReplaceAll(name, "/", ":"), func(b *testing.B) {
			for b.Loop() {
				_, _ = understand(name)
			}
		})
	}
}

func TestNamedBy(t *testing.T) {
	for name, want := range map[string]string{
		"QWEN3_32B": "AIConfigurator", "moe_mixtral8x7b": "AIConfigurator", "Qwen/Qwen3-32B": "", "qwen3_dense_4b": "", "no model": "",
	} {
		if got := NamedBy(name); got != want {
			t.Errorf("%s: want %q, got %q", name, want, got)
		}
	}
}
