package engine_test

import (
	"testing"

	"plimsoll/internal/engine"
)

// TestMXFP8Kernels: vLLM had slow kernels for MXFP8 on CDNA 4 until 0.25.
func TestMXFP8Kernels(t *testing.T) {
	for _, c := range []struct {
		engine, release, generation string
		slow                        bool
	}{
		{"vllm", "0.24", "cdna4", true},
		{"vllm", "0.24", "cdna3", false},
		{"vllm", "0.24", "blackwell", false},
		{"vllm", "0.25", "cdna4", false},
		{"sglang", "", "cdna4", false},
	} {
		p, err := engine.LookupVersion(c.engine, c.release)
		if err != nil {
			t.Fatal(err)
		}
		if products, experts := p.MXFP8Kernels(c.generation); (products > 1) != c.slow || (experts > 1) != c.slow {
			t.Errorf("%+v: %g and %g times as long", c, products, experts)
		}
	}
}

// TestBlockKernels: products with blocks of scales are slow on AMD's devices in older releases, but DeepSeek-V3's.
func TestBlockKernels(t *testing.T) {
	for _, c := range []struct {
		engine, release, generation string
		width                       int
		slow                        bool
	}{
		{"vllm", "0.16", "cdna3", 3072, true},
		{"vllm", "0.16", "cdna3", 7168, false},
		{"vllm", "0.16", "hopper", 3072, false},
		{"vllm", "0.25", "cdna4", 3072, false},
		{"sglang", "0.5.9", "cdna4", 4096, true},
		{"sglang", "0.5.10rc0", "cdna4", 4096, false},
	} {
		p, err := engine.LookupVersion(c.engine, c.release)
		if err != nil {
			t.Fatal(err)
		}
		if x := p.BlockKernels(c.generation, c.width); (x > 1) != c.slow {
			t.Errorf("%+v: %g times as long", c, x)
		}
	}
}
