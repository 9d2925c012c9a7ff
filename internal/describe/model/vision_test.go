package model

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestVisionTokens(t *testing.T) {
	for _, c := range []struct {
		id            string
		height, width int
		want          int
	}{
		{"Qwen/Qwen2.5-VL-7B-Instruct", 1092, 1932, 39 * 69}, // multiples of 28
		{"Qwen/Qwen2.5-VL-7B-Instruct", 1080, 1920, 39 * 69}, // rounded to the nearest
		{"Qwen/Qwen3-VL-8B-Instruct", 1024, 1024, 32 * 32},   // multiples of 32
		{"Qwen/Qwen3-VL-8B-Instruct", 1, 1, 1},               // at least one
		{"Qwen/Qwen3-VL-8B-Instruct", 0, 100, 0},
		{"google/gemma-3-27b-it", 896, 896, 256},
		{"google/gemma-3-27b-it", 100, 3000, 256}, // whatever the size
		{"google/gemma-4-31B", 500, 500, 280},
		{"meta-llama/Llama-4-Scout-17B-16E", 336, 336, 144}, // one tile
		{"moonshotai/Kimi-K2.5", 448, 448, 16 * 16},
		{"mistralai/Mistral-Small-3.1-24B-Instruct-2503", 1540, 1540, 55 * 55},
		{"mistral-community/pixtral-12b", 1024, 1024, 64 * 64},
		{"OpenGVLab/InternVL3-8B", 448, 448, 256},
		{"llava-hf/llava-1.5-7b-hf", 1000, 50, 576}, // whatever the size
		{"google/paligemma-3b-pt-224", 50, 50, 256},
		{"HuggingFaceTB/SmolVLM-256M-Instruct", 512, 512, 64},
		{"openbmb/MiniCPM-V-2_6", 448, 448, 64},
		{"microsoft/Phi-3.5-vision-instruct", 336, 336, 144},
		{"zai-org/GLM-4.1V-9B-Thinking", 336, 336, 144},
		{"meta-llama/Llama-3.2-11B-Vision", 500, 500, 1}, // seen by layers of its own
		{"Qwen/Qwen3-32B", 448, 448, 0},                  // no tower
	} {
		v := lookup(t, c.id).Vision
		if got := v.Tokens(c.height, c.width); got != c.want {
			t.Errorf("%s %d × %d: want %d tokens, got %d", c.id, c.height, c.width, c.want, got)
		}
	}
}

func TestVisionShape(t *testing.T) {
	want := &Vision{
		Layers: 32, Hidden: 1280, Intermediate: 3420, Heads: 16, Patch: 14, TemporalPatch: 2, Merge: 2,
		Out: 3584, Window: 112, FullLayers: 4, Bias: true, PlainHidden: 1280,
	}
	if got := lookup(t, "Qwen/Qwen2.5-VL-7B-Instruct").Vision; *got != *want {
		t.Errorf("want %+v\ngot  %+v", want, got)
	}
	want = &Vision{
		Layers: 27, Hidden: 1152, Intermediate: 4304, Heads: 16, Patch: 16, TemporalPatch: 2, Merge: 2,
		Out: 4096, Ungated: true, DeepStack: 3, Positions: 2304, Bias: true, PlainHidden: 1152,
	}
	if got := lookup(t, "Qwen/Qwen3-VL-8B-Instruct").Vision; *got != *want {
		t.Errorf("want %+v\ngot  %+v", want, got)
	}
}

// Four tiles of 40 × 40 patches, each with one that stands for the whole.
func TestVisionPatches(t *testing.T) {
	if got := lookup(t, "meta-llama/Llama-3.2-11B-Vision").Vision.Patches(100, 100); got != 4*1601 {
		t.Errorf("want 6404 patches, got %d", got)
	}
}

// A wrapper's language model keeps its own form, and what its nested config leaves
// out is the class's default.
func TestWrapper(t *testing.T) {
	const config = `{"architectures": ["LlavaForConditionalGeneration"], "model_type": "llava",
		"text_config": {"model_type": "llama", "vocab_size": 32064, "max_position_embeddings": 4096},
		"vision_config": {"model_type": "clip_vision_model", "hidden_size": 1024, "intermediate_size": 4096,
			"num_hidden_layers": 24, "num_attention_heads": 16, "image_size": 336, "patch_size": 14}}`
	m, err := Parse([]byte(config), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := lookup(t, "llava-hf/llava-1.5-7b-hf")
	if m.Family != "llava" || m.Kinds[0] != want.Kinds[0] || len(m.Layers) != len(want.Layers) || *m.Vision != *want.Vision {
		t.Errorf("want %+v %+v\ngot  %+v %+v", want, want.Vision, m, m.Vision)
	}
	for _, c := range [][2]string{
		{edit(config, `"model_type": "llama"`, `"model_type": "odd"`), `config.json: architecture "odd" is not supported; `},
		{edit(config, "text_config", "other_config"), "config.json: text_config: missing (family llava)"},
		{edit(config, `"patch_size": 14`, `"patch_size": -14`), "config.json: vision_config.patch_size: -14 is negative"},
	} {
		if _, err := Parse([]byte(c[0]), nil); err == nil || !strings.HasPrefix(err.Error(), c[1]) {
			t.Errorf("want %s\ngot  %v", c[1], err)
		}
	}
}

// A larger image never becomes fewer tokens, sides can be exchanged, and each
// token stands for a whole number of patches.
func TestVisionTokensLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := &Vision{Patch: rapid.IntRange(1, 32).Draw(t, "patch"), Merge: rapid.IntRange(1, 4).Draw(t, "merge")}
		h, w := rapid.IntRange(1, 8192).Draw(t, "height"), rapid.IntRange(1, 8192).Draw(t, "width")
		n := v.Tokens(h, w)
		if n < 1 || v.Tokens(h+1, w) < n || v.Tokens(w, h) != n {
			t.Fatalf("%d × %d: %d tokens", h, w, n)
		}
		if p := v.Patches(h, w); p != n*v.Merge*v.Merge {
			t.Fatalf("%d × %d: %d patches for %d tokens", h, w, p, n)
		}
	})
}
