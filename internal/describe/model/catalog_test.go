package model

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

func TestCatalogParses(t *testing.T) {
	ids := 0
	for _, e := range IDs() {
		m, err := Lookup(e.ID)
		if err != nil {
			t.Error(err)
			continue
		}
		want := e.ID
		if e.AliasOf != "" {
			want = e.AliasOf
		} else {
			ids++
		}
		if m.ID != want || m.Family != e.Family {
			t.Errorf("%s: want %s of family %s, got %s of family %s", e.ID, want, e.Family, m.ID, m.Family)
		}
		if len(m.Layers) == 0 || len(m.Kinds) == 0 || m.DType == 0 || m.MTP.Kind >= len(m.Kinds) {
			t.Errorf("%s: incomplete: %+v", e.ID, m)
		}
	}
	if ids < 900 {
		t.Errorf("want at least 900 ids, got %d", ids)
	}
}

// Every line of the index names files that are there, and every file is used.
func TestCatalogFiles(t *testing.T) {
	used := map[string]bool{"catalog/index.txt": true, "catalog/names.txt": true}
	seen := map[string]bool{}
	for _, r := range index() {
		if key := strings.ToLower(r.id); seen[key] {
			t.Errorf("%s: listed twice", r.id)
		} else {
			seen[key] = true
		}
		if r.aliasOf != "" {
			if to, ok := find(r.aliasOf); !ok || to.aliasOf != "" {
				t.Errorf("alias %s: %s is not an id", r.id, r.aliasOf)
			}
			continue
		}
		used["catalog/shape/"+r.shape+".json"] = true
		if r.quant != "" {
			used["catalog/quant/"+r.quant+".json"] = true
		}
	}
	for _, q := range readNameRules().quants {
		if q.quant != "" {
			used["catalog/quant/"+q.quant+".json"] = true
		}
	}
	err := fs.WalkDir(catalogFiles, "catalog", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !used[name] {
			t.Errorf("%s: no line of the index uses it", path.Base(name))
		}
		delete(used, name)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	for name := range used {
		t.Errorf("%s: not there", name)
	}
}

// shapeSource is what a shape was compared with, a line of shapes.txt.
type shapeSource struct {
	cut  bool
	keys []string // of froms, or "unchecked"
}

// from is a source of shapes.
type from struct{ key, kind, text string }

// kinds of sources, the best first.
var kinds = []string{"config", "sizes", "total"}

// readShapes reads shapes.txt.
func readShapes(t *testing.T) (map[string]shapeSource, []from) {
	t.Helper()
	shapes, froms := map[string]shapeSource{}, []from{}
	for line := range strings.Lines(shapeSources) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		var s shapeSource
		switch {
		case f[0] == "from" && len(f) > 3 && slices.Contains(kinds, f[2]):
			froms = append(froms, from{f[1], f[2], strings.Join(f[3:], " ")})
			continue
		case f[0] == "cut" && len(f) == 3:
			s = shapeSource{true, []string{"aiconfigurator"}}
			if strings.HasPrefix(f[2], "msm/") {
				s.keys[0] = "msmodeling"
			}
		case f[0] == "written" && len(f) == 4:
			s.keys = strings.Split(f[3], ",")
		case f[0] == "from", f[0] == "cut", f[0] == "written":
			t.Errorf("%q", line)
			continue
		default:
			continue
		}
		if _, twice := shapes[f[1]]; twice {
			t.Errorf("%s: twice", f[1])
		}
		shapes[f[1]] = s
	}
	return shapes, froms
}

// shapes.txt says of every shape, and of no other, what it was compared with, and
// names every source.
func TestShapesHaveSources(t *testing.T) {
	shapes, froms := readShapes(t)
	unused := map[string]bool{}
	for _, f := range froms {
		unused[f.key] = true
	}
	known := maps.Clone(unused)
	for name, s := range shapes {
		for _, key := range s.keys {
			if delete(unused, key); !known[key] && (key != "unchecked" || len(s.keys) > 1) {
				t.Errorf("%s: no source is called %s", name, key)
			}
		}
	}
	if len(unused) > 0 {
		t.Errorf("no shape comes from %v", unused)
	}
	files, err := fs.Glob(catalogFiles, "catalog/shape/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(path.Base(file), ".json")
		if _, ok := shapes[name]; !ok {
			t.Errorf("%s has no source", name)
		}
		delete(shapes, name)
	}
	for name := range shapes {
		t.Errorf("%s is no shape", name)
	}
}

// A model says when its shape was compared with nothing.
func TestUncheckedNote(t *testing.T) {
	shapes, _ := readShapes(t)
	seen := 0
	for _, r := range index() {
		if r.aliasOf != "" {
			continue
		}
		want := shapes[r.shape].keys[0] == "unchecked"
		if want {
			seen++
		}
		m, err := r.load()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(m.Notes, " "), "was not compared with its config.json"); got != want {
			t.Errorf("%s: want a note: %v, got %q", r.id, want, m.Notes)
		}
	}
	if seen == 0 {
		t.Error("no shape is unchecked: nothing was tested")
	}
}

// Names that users of the two Python tools come with.
func TestCatalogCovers(t *testing.T) {
	for name := range strings.FieldsSeq(`
		MiniMaxAI/MiniMax-M2.5 MiniMaxAI/MiniMax-M2.7 MiniMaxAI/MiniMax-M3 Qwen/Qwen3-0.6B Qwen/Qwen3-1.7B
		Qwen/Qwen3-235B-A22B-FP8 Qwen/Qwen3-235B-A22B Qwen/Qwen3-30B-A3B-FP8 Qwen/Qwen3-30B-A3B
		Qwen/Qwen3-32B-FP8-Static-PerTensor Qwen/Qwen3-32B-FP8 Qwen/Qwen3-32B Qwen/Qwen3-8B
		Qwen/Qwen3-Coder-480B-A35B-Instruct Qwen/Qwen3-VL-235B-A22B-Instruct Qwen/Qwen3-VL-2B-Instruct
		Qwen/Qwen3-VL-30B-A3B-Instruct Qwen/Qwen3-VL-32B-Instruct Qwen/Qwen3-VL-32B-Thinking
		Qwen/Qwen3-VL-4B-Instruct Qwen/Qwen3-VL-8B-Instruct Qwen/Qwen3.5-122B-A10B Qwen/Qwen3.5-27B
		Qwen/Qwen3.5-35B-A3B Qwen/Qwen3.5-397B-A17B XiaomiMiMo/MiMo-7B-Base XiaomiMiMo/MiMo-V2-Flash
		deepseek-ai/DeepSeek-R1 deepseek-ai/DeepSeek-V3 deepseek-ai/DeepSeek-V3.2 deepseek-ai/DeepSeek-V4-Flash
		deepseek-ai/DeepSeek-V4-Pro google/gemma-4-26B-A4B meta-llama/Llama-4-Maverick-17B-128E-Instruct
		meta-llama/Llama-4-Scout-17B-16E-Instruct meta-llama/Meta-Llama-3.1-405B meta-llama/Meta-Llama-3.1-70B
		meta-llama/Meta-Llama-3.1-8B meta-llama/Llama-3.1-70B meta-llama/Llama-3.1-8B-Instruct
		mistralai/Mixtral-8x22B-v0.1 mistralai/Mixtral-8x7B-v0.1 moonshotai/Kimi-K2-Instruct moonshotai/Kimi-K2.5
		moonshotai/Kimi-K3 nvidia/DeepSeek-R1-NVFP4 nvidia/DeepSeek-V3.1-NVFP4 nvidia/DeepSeek-V3.2-NVFP4
		nvidia/DeepSeek-V4-Flash-NVFP4 nvidia/DeepSeek-V4-Pro-NVFP4 nvidia/GLM-5-NVFP4 nvidia/GLM-5.1-NVFP4
		nvidia/GLM-5.2-NVFP4 nvidia/Gemma-4-26B-A4B-NVFP4 nvidia/Gemma-4-31B-IT-NVFP4 nvidia/Kimi-K2.5-NVFP4
		nvidia/Kimi-K2.6-NVFP4 nvidia/Kimi-K2.7-Code-NVFP4 nvidia/Llama-3.1-70B-Instruct-FP8
		nvidia/Llama-3.1-8B-Instruct-FP8 nvidia/Llama-3_3-Nemotron-Super-49B-v1 nvidia/MiniMax-M2.5-NVFP4
		nvidia/MiniMax-M2.7-NVFP4 nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16
		nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-NVFP4 nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-FP8
		nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-NVFP4 nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B-BF16
		nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B-FP8 nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B-NVFP4
		nvidia/NVIDIA-Nemotron-3.5-Lightning-30B-A3B-NVFP4 nvidia/Nemotron-H-56B-Base-8K
		nvidia/Qwen3-235B-A22B-NVFP4 nvidia/Qwen3-32B-NVFP4 nvidia/Qwen3.5-122B-A10B-NVFP4
		nvidia/Qwen3.5-397B-A17B-NVFP4 nvidia/Qwen3.6-27B-NVFP4 nvidia/Qwen3.6-35B-A3B-NVFP4 openai/gpt-oss-120b
		openai/gpt-oss-20b sgl-project/DeepSeek-V4-Flash-FP8 sgl-project/DeepSeek-V4-Pro-FP8
		stepfun-ai/Step-3.7-Flash-FP8 stepfun-ai/Step-3.7-Flash zai-org/GLM-5-FP8 zai-org/GLM-5.1-FP8
		zai-org/GLM-5.1 zai-org/GLM-5.2-FP8 zai-org/GLM-5.2 zai-org/GLM-5
		qwen3_dense_4b qwen3_dense_8b qwen3_dense_14b qwen3_dense_32b qwen3_moe_30b_a3b qwen3_moe_235b_a22b
		deepseek_v31 glm5 minimax_m2
		LLAMA2_7B LLAMA2_13B LLAMA2_70B LLAMA3.1_8B LLAMA3.1_70B LLAMA3.1_405B MOE_Mixtral8x7B MOE_Mixtral8x22B
		DEEPSEEK_V3 KIMI_K2 QWEN2.5_1.5B QWEN2.5_7B QWEN2.5_32B QWEN2.5_72B QWEN3_0.6B QWEN3_1.7B QWEN3_8B
		QWEN3_32B QWEN3_30B_A3B QWEN3_235B QWEN3_480B Nemotron_super_v1.1 GPT_OSS_120B GPT_OSS_20B`) {
		if _, err := Lookup(name); err != nil {
			t.Error(err)
		}
	}
}

// The models that are downloaded most have names that are understood.
func TestUsedMost(t *testing.T) {
	b, err := os.ReadFile("testdata/used.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for name := range strings.FieldsSeq(line) {
			if _, err := (Source{}).Open(name); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestLookupNames(t *testing.T) {
	for name, want := range map[string]string{
		"qwen/qwen3-32b": "Qwen/Qwen3-32B",
		"LLAMA3.1_70B":   "meta-llama/Meta-Llama-3.1-70B",
		"llama3.1_70b":   "meta-llama/Meta-Llama-3.1-70B",
		"deepseek_v31":   "deepseek-ai/DeepSeek-V3.1",
	} {
		m, err := Lookup(name)
		if err != nil {
			t.Error(err)
		} else if m.ID != want {
			t.Errorf("%s: want %s, got %s", name, want, m.ID)
		}
	}
	m, err := Lookup("Qwen/Qwen3-4B-Instruct-2507")
	if err != nil || m.MaxPosition != 262144 {
		t.Errorf("want 262144 positions, got %v, %v", m, err)
	}
}

func TestIDsSorted(t *testing.T) {
	ids := IDs()
	if !slices.IsSortedFunc(ids, func(a, b Entry) int { return strings.Compare(strings.ToLower(a.ID), strings.ToLower(b.ID)) }) {
		t.Error("not sorted")
	}
	for _, e := range ids {
		if e.Family == "" {
			t.Errorf("%s: no family", e.ID)
		}
	}
}

func BenchmarkLookup(b *testing.B) {
	for _, id := range []string{"Qwen/Qwen3-32B", "nvidia/Kimi-K2.5-NVFP4", "nvidia/Llama-3_3-Nemotron-Super-49B-v1"} {
		b.Run("model="+path.Base(id), func(b *testing.B) {
			for b.Loop() {
				if _, err := Lookup(id); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
