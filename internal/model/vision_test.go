package model

import (
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
		{"Qwen/Qwen3-32B", 448, 448, 0}, // no tower
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
		Out: 3584, Window: 112, FullLayers: 4, Bias: true,
	}
	if got := lookup(t, "Qwen/Qwen2.5-VL-7B-Instruct").Vision; *got != *want {
		t.Errorf("want %+v\ngot  %+v", want, got)
	}
	want = &Vision{
		Layers: 27, Hidden: 1152, Intermediate: 4304, Heads: 16, Patch: 16, TemporalPatch: 2, Merge: 2,
		Out: 4096, Ungated: true, DeepStack: 3, Positions: 2304, Bias: true,
	}
	if got := lookup(t, "Qwen/Qwen3-VL-8B-Instruct").Vision; *got != *want {
		t.Errorf("want %+v\ngot  %+v", want, got)
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
