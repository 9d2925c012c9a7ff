package deployment_test

import (
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// TestNarrowFormats: quantization on devices without arithmetic for it gets a note
// where kernels widen it, and is refused where there are none.
func TestNarrowFormats(t *testing.T) {
	m, err := model.Lookup("Qwen/Qwen3-8B")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		device, generation string
		formats            deployment.Formats
		note, err          string
	}{
		{"h100_sxm", "", deployment.Formats{Linear: dtype.FP8Action}, "", ""},
		{"h100_sxm", "", deployment.Formats{Linear: dtype.W8A8Dynamic, NonExpert: dtype.MXFP4Action}, "no arithmetic in fp4, which MXFP4 asks for", ""},
		{"a100_sxm", "", deployment.Formats{Checkpoint: "fp8"}, "no arithmetic in fp8, which fp8 asks for: weights are widened", ""},
		{"a100_sxm", "", deployment.Formats{Checkpoint: "int4"}, "", ""},
		{"a100_sxm", "", deployment.Formats{Linear: dtype.W8A16Dynamic}, "", ""},
		{"gaudi3", "", deployment.Formats{Linear: dtype.W8A8Dynamic}, "no arithmetic in int8", ""},
		{"TEST_DEVICE", "", deployment.Formats{Linear: dtype.MXFP4Action}, "", ""},
		{"ATLAS_800_A2_313T_64G", "", deployment.Formats{Linear: dtype.MXFP4Action}, "counts its products as free", ""},
		{"a100_sxm", "volta", deployment.Formats{Linear: dtype.FP8Action}, "", "has neither arithmetic in fp8 nor kernels that widen it"},
		{"a100_sxm", "volta", deployment.Formats{Checkpoint: "fp4"}, "", "checkpoint fp4: a100_sxm has neither arithmetic in fp4"},
		{"a100_sxm", "volta", deployment.Formats{}, "", ""},
		{"h100_sxm", "", deployment.Formats{GEMM: "fp8_block", MoE: "w4afp8", KV: "int8"}, "", ""},
		{"h100_sxm", "", deployment.Formats{GEMM: "nvfp4", MoE: "nvfp4"}, "no arithmetic in fp4, which nvfp4 asks for", ""},
		{"b200_sxm", "", deployment.Formats{GEMM: "nvfp4", MoE: "w4a16_mxfp4"}, "", ""},
		{"a100_sxm", "volta", deployment.Formats{MoE: "fp8"}, "", "moe_quant_mode fp8: a100_sxm has neither arithmetic in fp8"},
		{"h100_sxm", "", deployment.Formats{GEMM: "fp9"}, "", "gemm_quant_mode must be one of bf16, fp8"},
		{"h100_sxm", "", deployment.Formats{MXFP4Group: 16}, "", "mxfp4_group_size 16 needs"},
		{"h100_sxm", "", deployment.Formats{MXFP4Group: 32}, "", ""},
	} {
		d, err := device.Lookup(c.device)
		if err != nil {
			t.Fatal(err)
		}
		if c.generation != "" {
			other := *d
			other.Generation = c.generation
			d = &other
		}
		asked := deployment.Deployment{Formats: c.formats}
		b, err := asked.Base(deployment.Parts{Model: m, Device: d})
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%+v: want %q, got %v", c, c.err, err)
			}
		case err != nil:
			t.Errorf("%+v: %v", c, err)
		case len(b.Notes) == 0 != (c.note == "") || !strings.Contains(strings.Join(b.Notes, "\n"), c.note):
			t.Errorf("%+v: notes %q", c, b.Notes)
		}
	}
}

// TestMXFP8: MiniMax-M3's 8-bit conversion keeps its format where matrix units take its scales, has 16-bit inputs on older devices
// of NVIDIA, and 16-bit weights on CDNA 3.
func TestMXFP8(t *testing.T) {
	m, err := model.Lookup("MiniMaxAI/MiniMax-M3")
	if err != nil {
		t.Fatal(err)
	}
	for system, want := range map[string]string{
		"b200_sxm": "fp8 block", "mi355x": "fp8 block", "h200_sxm": "w8a16 fp8", "a100_sxm": "w8a16 fp8", "mi300x": "bf16", "mi325x": "bf16",
	} {
		d, err := device.Lookup(system)
		if err != nil {
			t.Fatal(err)
		}
		asked := deployment.Deployment{Formats: deployment.Formats{Checkpoint: "fp8"}}
		b, err := asked.Base(deployment.Parts{Model: m, Device: d})
		if err != nil {
			t.Fatal(err)
		}
		if q := b.Spec(parallel.Layout{Devices: 8, TP: 8}, 0).Quant; q.Attention.Name() != want || q.Experts.Name() != want || q.Shared.Name() != want || q.Dense.Name() != want {
			t.Errorf("%s: want %s, got %+v", system, want, q)
		}
	}
}

// TestFP4: products in 4 bits where matrix units have them, elsewhere of 16-bit inputs.
func TestFP4(t *testing.T) {
	m, err := model.Lookup("Qwen/Qwen3-32B")
	if err != nil {
		t.Fatal(err)
	}
	for system, want := range map[string]string{"b200_sxm": "nvfp4", "rtx_5090": "nvfp4", "mi355x": "nvfp4", "h200_sxm": "nvfp4 w4a16", "l40s": "nvfp4 w4a16", "a100_sxm": "nvfp4 w4a16", "mi300x": "nvfp4 w4a16"} {
		d, err := device.Lookup(system)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []deployment.Formats{{Checkpoint: "fp4"}, {GEMM: "nvfp4"}} {
			asked := deployment.Deployment{Formats: f}
			b, err := asked.Base(deployment.Parts{Model: m, Device: d})
			if err != nil {
				t.Fatal(err)
			}
			if q := b.Spec(parallel.Layout{Devices: 1}, 0).Quant; q.Dense.Name() != want {
				t.Errorf("%s %+v: want %s, got %s", system, f, want, q.Dense.Name())
			}
		}
	}
}

// TestExpertTile: AITER's MXFP4 experts have widths of 256 on AMD's devices, others any.
func TestExpertTile(t *testing.T) {
	m, err := model.Lookup("MiniMaxAI/MiniMax-M2.5")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		system, weights string
		tp              int
		width           float64
	}{
		{"mi355x", "fp4", 2, 768}, {"mi355x", "fp4", 4, 512}, {"mi355x", "fp4", 8, 256}, {"mi355x", "fp8", 4, 384}, {"b200_sxm", "fp4", 4, 384},
	} {
		d, err := device.Lookup(c.system)
		if err != nil {
			t.Fatal(err)
		}
		asked := deployment.Deployment{Formats: deployment.Formats{Checkpoint: c.weights}}
		b, err := asked.Base(deployment.Parts{Model: m, Device: d})
		if err != nil {
			t.Fatal(err)
		}
		s := b.Spec(parallel.Layout{Devices: c.tp, TP: c.tp}, 0)
		s.Layout = s.Layout.Complete(m)
		if got := s.ExpertWidth(&m.Kinds[0].FFN); got != c.width {
			t.Errorf("%+v: got %g", c, got)
		}
	}
}

// TestWeightFormats: the words for weights go over the checkpoint and its conversions,
// experts apart from the rest; the head stays as it was.
func TestWeightFormats(t *testing.T) {
	m, err := model.Lookup("deepseek-ai/DeepSeek-V3")
	if err != nil {
		t.Fatal(err)
	}
	d, err := device.Lookup("b200_sxm")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		formats              deployment.Formats
		attention, expertsIn string
		kv                   dtype.Format
	}{
		{deployment.Formats{}, "fp8 block", "fp8 block", dtype.BF16},
		{deployment.Formats{GEMM: "fp8"}, "fp8", "fp8 block", dtype.BF16},
		{deployment.Formats{MoE: "w4afp8", KV: "int8"}, "fp8 block", "w4a8 int4 fp8", dtype.INT8},
		{deployment.Formats{Checkpoint: "fp4", GEMM: "nvfp4", MoE: "fp8_block", KV: "bf16"}, "nvfp4", "fp8 block", dtype.BF16},
		{deployment.Formats{GEMM: "bf16", MoE: "bf16"}, "bf16", "bf16", dtype.BF16},
		{deployment.Formats{GEMM: "int8_wo", MoE: "int4_wo"}, "w8a16 int8", "w4a16 int4", dtype.BF16},
		{deployment.Formats{GEMM: "sq", MoE: "w4a16_mxfp4"}, "w8a8 int8", "mxfp4 w4a16", dtype.BF16},
		{deployment.Formats{GEMM: "fp8_static", MoE: "w4a8_mxfp4_mxfp8"}, "fp8", "mxfp4", dtype.BF16},
	} {
		asked := deployment.Deployment{Formats: c.formats}
		b, err := asked.Base(deployment.Parts{Model: m, Device: d})
		if err != nil {
			t.Errorf("%+v: %v", c.formats, err)
			continue
		}
		q := b.Spec(parallel.Layout{Devices: 8, TP: 8}, 0).Quant
		if q.Attention.Name() != c.attention || q.Shared != q.Attention || q.Experts.Name() != c.expertsIn || q.KV != c.kv || q.Head.Quantized() {
			t.Errorf("%+v: got %s, shared %s, experts %s, KV %s, head %s", c.formats,
				q.Attention.Name(), q.Shared.Name(), q.Experts.Name(), q.KV, q.Head.Name())
		}
	}
}

// TestOwnFormats: weights that a checkpoint has in 8-bit or 4-bit floats run where a device computes in them, or an engine's kernels widen them.
func TestOwnFormats(t *testing.T) {
	for _, c := range []struct{ model, device, engine, err string }{
		{"Qwen/Qwen3-8B-FP8", "v100_sxm_32gb", "vllm", "Qwen/Qwen3-8B-FP8 has weights in fp8: v100_sxm_32gb has neither arithmetic in it nor kernels that widen it"},
		{"Qwen/Qwen3-8B-FP8", "mi250x_gcd", "vllm", "weights in fp8"},
		{"Qwen/Qwen3-8B-FP8", "t4", "vllm", ""},
		{"Qwen/Qwen3-8B-FP8", "t4", "sglang", "weights in fp8"},
		{"Qwen/Qwen3-8B-FP8", "a100_sxm", "sglang", ""},
		{"openai/gpt-oss-20b", "t4", "vllm", "openai/gpt-oss-20b has weights in fp4"},
		{"openai/gpt-oss-20b", "v100_sxm_32gb", "vllm", "weights in fp4"},
		{"openai/gpt-oss-20b", "a100_sxm", "vllm", ""},
		{"Qwen/Qwen3-8B", "v100_sxm_32gb", "vllm", ""},
	} {
		m, err := model.Lookup(c.model)
		if err != nil {
			t.Fatal(err)
		}
		d, err := device.Lookup(c.device)
		if err != nil {
			t.Fatal(err)
		}
		e, err := engine.LookupVersion(c.engine, "")
		if err != nil {
			t.Fatal(err)
		}
		_, err = new(deployment.Deployment).Base(deployment.Parts{Model: m, Device: d, Engine: e})
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
