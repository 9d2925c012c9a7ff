package engine_test

import (
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
)

// TestSlower: formats that engines multiplied by slow kernels on AMD's devices in older releases.
func TestSlower(t *testing.T) {
	mx := dtype.Scheme{Weight: dtype.FP8, Activation: dtype.FP8, Group: 32, Scale: dtype.FP8}
	block := dtype.Scheme{Weight: dtype.FP8, Activation: dtype.FP8, Group: 128, Rows: 128, Scale: dtype.F32}
	ints := dtype.Scheme{Weight: dtype.INT4, Activation: dtype.BF16, Group: 32, Scale: dtype.BF16}
	wide := dtype.Unquantized(dtype.BF16)
	for _, c := range []struct {
		engine, release, generation string
		width                       int
		dense, routed               dtype.Scheme
		products, experts           bool // slower
	}{
		{"vllm", "0.24", "cdna4", 6144, mx, mx, true, true},
		{"vllm", "0.24", "cdna3", 6144, mx, mx, false, false},
		{"vllm", "0.24", "blackwell", 6144, mx, mx, false, false},
		{"vllm", "0.25", "cdna4", 6144, mx, mx, false, false},
		{"vllm", "0.16", "cdna3", 3072, block, block, true, false},
		{"vllm", "0.16", "cdna3", 7168, block, block, false, false},
		{"vllm", "0.16", "hopper", 3072, block, block, false, false},
		{"vllm", "0.25", "cdna4", 3072, block, block, false, false},
		{"vllm", "0.18", "cdna4", 7168, wide, ints, false, true},
		{"vllm", "0.24", "cdna4", 7168, wide, ints, false, false},
		{"vllm", "0.18", "cdna4", 8192, wide, wide, false, false},
		{"sglang", "0.5.9", "cdna4", 4096, block, block, true, false},
		{"sglang", "0.5.10rc0", "cdna4", 4096, block, block, false, false},
	} {
		p, err := engine.LookupVersion(c.engine, c.release)
		if err != nil {
			t.Fatal(err)
		}
		products, experts, prompts := p.Slower(c.generation, c.width, c.dense, c.routed)
		if (products > 1) != c.products || (experts > 1) != c.experts || products < 1 || experts < 1 || prompts < experts {
			t.Errorf("%+v: %g and %g times as long", c, products, experts)
		}
	}
}

// TestSharesAttention: vLLM does on Ampere, where it has FlashAttention 2 and a small L2.
func TestSharesAttention(t *testing.T) {
	t.Parallel()
	for engineName, want := range map[string]bool{"vllm": true, "sglang": false, "trtllm": false} {
		p, err := engine.LookupVersion(engineName, "")
		if err != nil {
			t.Fatal(err)
		}
		if p.SharesAttention("ampere") != want || p.SharesAttention("hopper") || p.SharesAttention("ada") {
			t.Errorf("%s: %v", engineName, p.SharedAttention)
		}
	}
}

// TestUnsplitHeads: ATOM's model code does not split the keys of decodes on AMD's devices, under its own server and vLLM's.
func TestUnsplitHeads(t *testing.T) {
	t.Parallel()
	for engineName, want := range map[string]int{"atom": 128, "atom-vllm": 128, "vllm": 0, "sglang": 0} {
		p, err := engine.LookupVersion(engineName, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := p.UnsplitHeads("cdna4"); got != want || p.UnsplitHeads("hopper") != 0 {
			t.Errorf("%s: heads of %d", engineName, got)
		}
	}
}

// TestReducesNarrow: AMD's recipes for vLLM 0.10 send large all-reduces in 4 bits, but not those of gpt-oss; vLLM does not by default.
func TestReducesNarrow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version, family string
		want            float64
	}{{"0.10.1", "llama", 0.33}, {"0.10.1", "gpt_oss", 0}, {"0.9.2", "llama", 0.33}, {"0.9.1", "llama", 0}, {"0.19", "llama", 0}, {"", "llama", 0}} {
		p, err := engine.LookupVersion("vllm", c.version)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Reduces("cdna4", c.family).Two.Share; got != c.want || p.Reduces("hopper", c.family).Two.Share != 0 {
			t.Errorf("vLLM %s, %s: %g of the time", c.version, c.family, got)
		}
	}
}

// TestFusesShared: SGLang computes DeepSeek-V3's shared expert among the others on AMD's devices since 0.5.6.
func TestFusesShared(t *testing.T) {
	for _, c := range []struct {
		engine, release, generation string
		experts                     int
		want                        bool
	}{
		{"sglang", "", "cdna4", 256, true},
		{"sglang", "0.5.6", "cdna3", 256, true},
		{"sglang", "0.5.5", "cdna4", 256, false},
		{"sglang", "", "cdna4", 384, false},
		{"sglang", "", "hopper", 256, false},
		{"vllm", "", "cdna4", 256, false},
	} {
		p, err := engine.LookupVersion(c.engine, c.release)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.FusesShared(c.generation, c.experts); got != c.want {
			t.Errorf("%+v: got %t", c, got)
		}
	}
}

// TestPlugged: ATOM's model code in the servers of vLLM and SGLang has their scheduler, and kernels of its own.
func TestPlugged(t *testing.T) {
	for _, c := range []struct{ name, version string }{{"atom-vllm", "0.19.0"}, {"atom-vllm", "0.24.0"}, {"atom-sglang", "0.5.10"}} {
		p, err := engine.LookupVersion(c.name, c.version)
		if err != nil {
			t.Fatal(err)
		}
		of, err := engine.LookupVersion(engine.Server(c.name), c.version)
		if err != nil {
			t.Fatal(err)
		}
		if p.Name != c.name || p.Policy != of.Policy || p.MemoryShare != of.MemoryShare || len(p.Slow) > 0 {
			t.Errorf("%s %s: %+v", c.name, c.version, p)
		}
		own, its := p.Hosts[engine.Generic], of.Hosts[engine.Generic]
		if own.PerStep != its.PerStep || own.Floor.Latent >= its.Floor.Latent {
			t.Errorf("%s %s: host %+v, that of the server %+v", c.name, c.version, own, its)
		}
		if r := p.Reduces("cdna4", "deepseek_v3"); r.Two.Share != 0.33 || r.Eight.Least != 8*units.MiB {
			t.Errorf("%s: %+v", c.name, r)
		}
		if r := p.Reduces("cdna4", "deepseek_v4"); r.Two.Share != 0 {
			t.Errorf("%s with DeepSeek-V4: %+v", c.name, r)
		}
		if r := of.Reduces("cdna4", "deepseek_v3"); r.Two.Share != 0 {
			t.Errorf("%s: %+v", of.Name, r)
		}
	}
	if _, err := engine.LookupVersion("atom-vllm", "0.16.0"); err == nil {
		t.Error("no error for a release before the plugin")
	}
}

// TestNewestOfPlugins: without a release a plugin is that of its newest known one, which files start, and not of a newer server.
func TestNewestOfPlugins(t *testing.T) {
	for _, name := range []string{"vllm-ascend", "sglang-npu", "atom-vllm", "atom-sglang"} {
		newest, err := engine.LookupVersion(name, "")
		if err != nil {
			t.Fatal(err)
		}
		known, err := engine.LookupVersion(name, newest.Known)
		if err != nil {
			t.Fatal(err)
		}
		if newest.Versions != known.Versions || newest.Versions.Until != "" {
			t.Errorf("%s: settings of %s without a release, of %s for %s", name, newest.Versions, known.Versions, newest.Known)
		}
	}
}

// TestWidensExperts: vLLM multiplies gpt-oss's experts by matmul_ogs of triton_kernels 3.5.1 on Hopper since 0.22, and takes longer to launch
// them than those of other models.
func TestWidensExperts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		engine, release, generation, family string
		want                                bool
	}{
		{"vllm", "", "hopper", "gpt_oss", true},
		{"vllm", "0.22.0", "hopper", "gpt_oss", true},
		{"vllm", "0.21.0", "hopper", "gpt_oss", false},
		{"vllm", "0.18.0", "hopper", "gpt_oss", false},
		{"vllm", "", "blackwell", "gpt_oss", false},
		{"vllm", "", "hopper", "qwen3_moe", false},
		{"trtllm", "", "hopper", "gpt_oss", false},
	} {
		p, err := engine.LookupVersion(c.engine, c.release)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.WidensExperts(c.generation, c.family); got != c.want {
			t.Errorf("%+v: got %t", c, got)
		}
		if h := p.HostFor(c.generation, engine.MoE); c.want && h.Widened <= h.PerLayerFloor {
			t.Errorf("%+v: launched in %s, other experts in %s", c, h.Widened, h.PerLayerFloor)
		}
	}
}
