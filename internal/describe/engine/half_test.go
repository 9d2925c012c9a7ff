package engine_test

import (
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// TestHalf: devices before Ampere compute in fp16, which some models do not, and have no kernels for latent attention.
func TestHalf(t *testing.T) {
	for _, c := range []struct {
		model, device, refused string
		half                   bool
	}{
		{"Qwen/Qwen3-8B", "t4", "", true},
		{"Qwen/Qwen3-8B", "v100_sxm_32gb", "", true},
		{"Qwen/Qwen3-8B", "a10", "", false},
		{"deepseek-ai/DeepSeek-V3", "t4", "latent attention needs compute capability 8.0", true},
		{"deepseek-ai/DeepSeek-V3", "a100_sxm", "", false},
		{"google/gemma-3-12b-it", "t4", "not stable in fp16", true},
		{"google/gemma-3-12b-it", "l4", "", false},
	} {
		m, err := model.Lookup(c.model)
		if err != nil {
			t.Fatal(err)
		}
		d, err := device.Lookup(c.device)
		if err != nil {
			t.Fatal(err)
		}
		p, err := engine.LookupVersion("vllm", "0.19.0")
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Refuses(m, d); got == "" != (c.refused == "") || !strings.Contains(got, c.refused) {
			t.Errorf("%s on %s: %q, want %q", c.model, c.device, got, c.refused)
		}
		if got := engine.HalfOnly(d); got != c.half {
			t.Errorf("%s computes in fp16 alone: %v", c.device, got)
		}
	}
}
