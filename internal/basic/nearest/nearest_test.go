package nearest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/nearest"
)

func TestMatch(t *testing.T) {
	models := []string{"Qwen/Qwen3-32B", "Qwen/Qwen3-8B", "deepseek-ai/DeepSeek-V3.1", "meta-llama/Llama-3.1-8B"}
	flags := []string{"device", "num-devices", "tp-sizes", "ep-sizes", "n"}
	tests := []struct {
		word  string
		among []string
		want  string // "" for none
	}{
		{"devcie", flags, "device"},
		{"Device", flags, "device"},
		{"tp_size", flags, "tp-sizes"},
		{"num-device", flags, "num-devices"},
		{"quantize", flags, ""},
		{"m", flags, ""},
		{"", flags, ""},
		{"qwen/qwen3_32b", models, "Qwen/Qwen3-32B"},
		{"Qwen3-8B", models, "Qwen/Qwen3-8B"},
		{"deepseek", models, "deepseek-ai/DeepSeek-V3.1"},
		{"gpt-oss", models, ""},
	}
	for _, tt := range tests {
		got, ok := nearest.Match(tt.word, tt.among)
		if got != tt.want || ok != (tt.want != "") {
			t.Errorf("Match(%q): want %q, got %q, %v", tt.word, tt.want, got, ok)
		}
	}
}

func TestMatchesAreEquallyNear(t *testing.T) {
	among := []string{"b300-sxm", "h100-sxm", "h200-sxm", "l40s"}
	for word, want := range map[string][]string{
		"h300-sxm": {"h100-sxm", "h200-sxm", "b300-sxm"}, // one letter each; those that begin alike first
		"h10O-sxm": {"h100-sxm"},
		"rtx-3090": nil, // half of it is no misspelling
		"sxm":      {"b300-sxm", "h100-sxm", "h200-sxm"},
		"":         nil,
	} {
		if d := cmp.Diff(want, nearest.Matches(word, among)); d != "" {
			t.Errorf("%q (-want +got):\n%s", word, d)
		}
	}
}

// TestMatchesLaw: no other word is nearer than those returned, and none of them is far.
func TestMatchesLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-c]{1,8}`)
		word, among := text.Draw(t, "word"), rapid.SliceOfN(text, 0, 6).Draw(t, "among")
		got := nearest.Matches(word, among)
		if first, ok := nearest.Match(word, among); ok != (len(got) > 0) || ok && first != got[0] {
			t.Fatalf("Match(%q, %q) = %q, %t; Matches %q", word, among, first, ok, got)
		}
		for _, w := range got {
			d := nearest.Distance(word, w)
			if part := strings.Contains(w, word) || strings.Contains(word, w); 3*d > max(len(word), len(w)) && !part {
				t.Fatalf("Matches(%q, %q) = %q: %q is %d edits away", word, among, got, w, d)
			}
			for _, other := range among {
				if e := nearest.Distance(word, other); 3*e <= max(len(word), len(other)) && e < d {
					t.Fatalf("Matches(%q, %q) = %q, but %q is nearer", word, among, got, other)
				}
			}
		}
	})
}

func TestDistanceLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-cé]{0,8}`)
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		d := nearest.Distance(a, b)
		longest, shortest := max(len([]rune(a)), len([]rune(b))), min(len([]rune(a)), len([]rune(b)))
		switch {
		case (d == 0) != (a == b):
			t.Fatalf("Distance(%q, %q) = %d", a, b, d)
		case d != nearest.Distance(b, a):
			t.Fatalf("Distance(%q, %q) is not symmetric", a, b)
		case d > longest || d < longest-shortest:
			t.Fatalf("Distance(%q, %q) = %d, out of bounds", a, b, d)
		}
		if r := []rune(a); len(r) > 1 && r[0] != r[1] {
			swapped := slices.Clone(r)
			swapped[0], swapped[1] = r[1], r[0]
			if got := nearest.Distance(a, string(swapped)); got != 1 {
				t.Fatalf("Distance(%q, %q): want 1 for a swap, got %d", a, string(swapped), got)
			}
		}
	})
}
