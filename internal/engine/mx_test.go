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
