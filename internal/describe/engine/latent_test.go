package engine_test

import (
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
