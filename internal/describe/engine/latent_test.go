package engine_test

import (
	"reflect"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
)

// TestLatentKernels: SGLang has AITER's kernels for 16 and 128 heads on AMD's devices.
func TestLatentKernels(t *testing.T) {
	for _, c := range []struct {
		engine, generation string
		heads              int
		slow               bool
	}{
		{"sglang", "cdna4", 16, false},
		{"sglang", "cdna4", 128, false},
		{"sglang", "cdna4", 32, true},
		{"sglang", "cdna3", 8, true},
		{"sglang", "hopper", 32, false},
		{"atom", "cdna4", 32, false},
		{"vllm", "cdna4", 32, false},
	} {
		p, err := engine.LookupVersion(c.engine, "")
		if err != nil {
			t.Fatal(err)
		}
		decode, prefill := p.LatentKernels(c.generation, c.heads)
		if (decode > 1) != c.slow || (prefill > 1) != c.slow {
			t.Errorf("%s on %s with %d heads: %g and %g times as long", c.engine, c.generation, c.heads, decode, prefill)
		}
	}
}

// TestSparseKernels: both engines run kernels for 64 heads on Hopper; vLLM's compute all keys before 0.24, SGLang's only prompts.
func TestSparseKernels(t *testing.T) {
	for _, c := range []struct {
		engine, version, generation string
		want                        engine.SparseRule
	}{
		{"vllm", "0.13", "hopper", engine.SparseRule{Heads: 64, Decode: true, Whole: true}},
		{"vllm", "0.24", "hopper", engine.SparseRule{Heads: 64, Decode: true}},
		{"vllm", "0.24", "blackwell", engine.SparseRule{}},
		{"sglang", "0.5.6", "hopper", engine.SparseRule{Heads: 64, Dense: true}},
		{"trtllm", "", "hopper", engine.SparseRule{}},
	} {
		p, err := engine.LookupVersion(c.engine, c.version)
		if err != nil {
			t.Fatal(err)
		}
		got := p.SparseKernels(c.generation)
		got.Generations = nil
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %s on %s: %+v, want %+v", c.engine, c.version, c.generation, got, c.want)
		}
	}
}
