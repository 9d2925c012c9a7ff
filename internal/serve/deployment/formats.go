package deployment

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/compat/tensorcast"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// resolve finds the format of every part of a model.
func (f *Formats) resolve(at *Parts, p graph.Policy) (graph.Quant, error) {
	m, d := at.Model, at.Device
	if f.MXFP4Group < 0 {
		return graph.Quant{}, field.Errorf("%s must be positive, got %d", field.Name("mxfp4_group_size"), f.MXFP4Group)
	}
	if f.MXFP4Group != 0 && f.MXFP4Group != graph.DefaultMXFP4Group && f.Linear != dtype.MXFP4Action && f.NonExpert != dtype.MXFP4Action {
		return graph.Quant{}, field.Errorf("%s %d needs %s or %s MXFP4", field.Name("mxfp4_group_size"), f.MXFP4Group,
			field.Name("quantize_linear_action"), field.Name("quantize_non_expert_linear_action"))
	}
	if err := errors.Join(f.words(), f.runs(at)); err != nil {
		return graph.Quant{}, err
	}
	p.HalfPrecision = p.HalfPrecision || at.Engine != nil && engine.HalfOnly(d)
	q := graph.Resolve(m, p, f.actions(d))
	f.convert(m, &q)
	narrowInputs(&q, d)
	if d.Vendor == device.AMD && q.Experts.Weight == dtype.FP4 {
		// AITER's kernels of MXFP4 experts take widths of so many: ATOM (atom/model_ops/moe.py), SGLang (get_moe_weight_sizes) and
		// vLLM (mxfp4_round_up_hidden_size_and_intermediate_size) pad them.
		q.ExpertTile = 256
	}
	if s, ok := dtype.Weights(f.GEMM, q.Base); ok {
		q.Attention, q.Dense, q.Shared = s, s, s
	}
	if s, ok := dtype.Weights(f.MoE, q.Base); ok {
		q.Experts = s
	}
	widenInputs(&q, d)
	f.cache(&q)
	return q, at.reads(&q)
}

// cache sets the format of the KV cache that is asked for.
func (f *Formats) cache(q *graph.Quant) {
	switch f.KV {
	case "fp8":
		q.KV = dtype.FP8
	case "int8":
		q.KV = dtype.INT8
	case "bf16", "bfloat16":
		q.KV = q.Base
	}
}

// narrowInputs has the inputs of MXFP4 experts in MXFP8 where a device multiplies 4-bit weights by them, as TensorRT-LLM does by
// default, vLLM and SGLang with FlashInfer's kernels, and AITER on CDNA 4 for the experts of gpt-oss from 256 tokens on (fused_moe.py);
// elsewhere weights are widened to 16 bits.
func narrowInputs(q *graph.Quant, d *device.Profile) {
	if q.Experts.MXFP4() && q.Experts.WeightOnly() && (strings.HasPrefix(d.Generation, "blackwell") || d.Generation == "cdna4") {
		q.Experts.Activation = dtype.FP8
	}
}

// widenInputs has MXFP8 and 4-bit floats as engines run them on devices whose matrix units take no scales. On NVIDIA's, Marlin multiplies
// the weights by 16-bit inputs (vLLM: MarlinMxfp8LinearKernel, MarlinNvFp4LinearKernel; SGLang: apply_fp4_marlin_linear; of DeepGEMM's
// experts those in MXFP8 need Blackwell); on CDNA 3 those in MXFP8 are widened once, when they are loaded (EmulationMxfp8LinearKernel,
// Mxfp8EmulationTritonExperts), and 4-bit ones in each product.
func widenInputs(q *graph.Quant, d *device.Profile) {
	marlin := d.Vendor == device.NVIDIA && !strings.HasPrefix(d.Generation, "blackwell")
	for _, s := range []*dtype.Scheme{&q.Attention, &q.Dense, &q.Experts, &q.Shared, &q.Head} {
		switch {
		case s.MXFP8() && marlin, s.Activation == dtype.FP4 && d.Matrix[dtype.FP4] == 0:
			s.Activation = q.Base
		case s.MXFP8() && d.Generation == "cdna3":
			*s = dtype.Unquantized(q.Base)
		}
	}
}

// words reports unknown weight formats.
func (f *Formats) words() error {
	return errors.Join(optional("gemm_quant_mode", f.GEMM, dtype.WeightFormats()), optional("moe_quant_mode", f.MoE, dtype.WeightFormats()))
}

// CheckFormats reports unknown formats. Rows of measured runs have other names and are not checked here.
func (d *Deployment) CheckFormats() error {
	errs := []error{d.Formats.check()}
	for i := range d.Pools {
		errs = append(errs, d.Pools[i].Formats.check())
	}
	return errors.Join(errs...)
}

// check reports unknown formats.
func (f *Formats) check() error {
	return errors.Join(
		optional("weights", f.Checkpoint, field.EnumOf[Formats]("Checkpoint")),
		optional("kv_cache", f.KV, field.EnumOf[Formats]("KV")),
		optional("quantize_linear_action", f.Linear, dtype.LinearActions()),
		optional("quantize_non_expert_linear_action", f.NonExpert, dtype.LinearActions()),
		optional("quantize_attention_action", f.Attention, dtype.AttentionActions()),
	)
}

// optional reports a word that is neither empty nor allowed.
func optional[T ~string](name field.Name, word T, allowed []T) error {
	if word == "" {
		return nil
	}
	return field.OneOf(name, word, allowed...)
}

// narrow is a requested quantization of 8 or 4 bits for whose products a device has no
// arithmetic.
type narrow struct {
	name  any // a field, or a word if no interface has one
	asked string
	in    dtype.Format
}

// lacks are the requested quantizations that a device has no arithmetic for.
func (f *Formats) lacks(d *device.Profile) []narrow {
	conversions := map[string]dtype.Format{"fp8": dtype.FP8, "fp4": dtype.FP4}
	gemm, _ := dtype.Weights(f.GEMM, dtype.None)
	moe, _ := dtype.Weights(f.MoE, dtype.None)
	all := []narrow{
		{field.Name("quantize_linear_action"), string(f.Linear), f.Linear.Scheme(dtype.None, 0).Activation},
		{field.Name("quantize_non_expert_linear_action"), string(f.NonExpert), f.NonExpert.Scheme(dtype.None, 0).Activation},
		{"checkpoint", f.Checkpoint, conversions[f.Checkpoint]},
		{field.Name("gemm_quant_mode"), f.GEMM, gemm.Activation},
	}
	if f.MoE != f.GEMM { // said once
		all = append(all, narrow{field.Name("moe_quant_mode"), f.MoE, moe.Activation})
	}
	return slices.DeleteFunc(all, func(n narrow) bool { return n.in == dtype.None || d.Matrix[n.in] > 0 })
}

// widens reports whether an engine has kernels that multiply weights in 8-bit and 4-bit floats on a device, widened where it has
// no arithmetic for them. On Volta and before none has, as on AMD before CDNA 3; on Turing vLLM's Marlin has since 0.13, but in MXFP4, whose
// inputs it wants in BF16.
func (p *Parts) widens(mxfp4 bool) bool {
	switch p.Device.Generation {
	case "pascal", "volta", "cdna1", "cdna2":
		return false
	case "turing":
		return !mxfp4 && (p.Engine == nil || p.Engine.Server() == "vllm")
	}
	return true
}

// runs reports requested quantizations that no kernel of the device's generation computes.
func (f *Formats) runs(at *Parts) error {
	var errs []error
	for _, n := range f.lacks(at.Device) {
		if n.in != dtype.INT8 && !at.widens(n.asked == string(dtype.MXFP4Action)) {
			errs = append(errs, field.Errorf("%s %s: %s has neither arithmetic in %v nor kernels that widen it", n.name, n.asked, at.Device.Name, n.in))
		}
	}
	return errors.Join(errs...)
}

// reads reports weights of a checkpoint that no kernel of the device's generation reads.
func (p *Parts) reads(q *graph.Quant) error {
	for _, s := range []*dtype.Scheme{&q.Attention, &q.Dense, &q.Experts, &q.Shared} {
		narrow := s.Weight == dtype.FP8 || s.Weight == dtype.FP4
		if narrow && p.Device.Matrix[s.Weight] == 0 && !p.widens(s.MXFP4()) {
			return field.Errorf("%s has weights in %v: %s has neither arithmetic in it nor kernels that widen it", p.Model.Name(), s.Weight, p.Device.Name)
		}
	}
	return nil
}

// widened are notes on requested quantizations that the device has no arithmetic for.
func (f *Formats) widened(d *device.Profile, p *graph.Policy) []string {
	var out []string
	for _, n := range f.lacks(d) {
		how := "weights are widened before each product"
		switch {
		case tensorcast.Is(p) && n.in == dtype.FP8:
			how = "the policy tensorcast counts its products at the INT8 peak"
		case tensorcast.Is(p):
			how = "the policy tensorcast counts its products as free"
		}
		out = append(out, fmt.Sprintf("%s has no arithmetic in %v, which %s asks for: %s", d.Name, n.in, n.asked, how))
	}
	return out
}

// actions are the requested quantization actions. The default is that of the Ascend guide on
// Ascend devices and the checkpoint's own formats elsewhere.
func (f *Formats) actions(d *device.Profile) graph.Actions {
	a := graph.Actions{Linear: f.Linear, NonExpert: f.NonExpert, Attention: f.Attention, MXFP4Group: f.MXFP4Group}
	if !d.FollowsAscend() {
		return a
	}
	if a.Linear == "" {
		a.Linear = dtype.W8A8Dynamic
	}
	if a.Attention == "" {
		a.Attention = dtype.Disabled
	}
	return a
}

// convert applies a published conversion, as its publishers make them: 8 bits
// everywhere, 4 bits everywhere in a dense model, and in the feed-forward parts of
// a mixture, whose attention stays wide; integers of 4 bits in its experts alone. Converted checkpoints ask for a cache in
// fp8, as NVIDIA's do.
func (f *Formats) convert(m *model.Model, q *graph.Quant) {
	if m.Quant.Method == "mxfp4" {
		return // gpt-oss has one checkpoint under several names
	}
	experts := m.HasExperts()
	switch f.Checkpoint {
	case "fp8":
		if q.Attention.Weight == dtype.FP8 {
			return // the checkpoint's own
		}
		s, _ := dtype.Weights("fp8", q.Base)
		switch {
		case m.MXFP8:
			s.Group, s.Scale = 32, dtype.FP8
		case experts:
			s, _ = dtype.Weights("fp8_block", q.Base)
		}
		q.Attention, q.Dense, q.Experts, q.Shared, q.KV = s, s, s, s, dtype.FP8
	case "fp4":
		if q.Experts.Weight == dtype.FP4 {
			return // the checkpoint's own, as DeepSeek-V4's
		}
		s, _ := dtype.Weights("nvfp4", q.Base)
		wide := dtype.Unquantized(q.Base)
		q.Attention, q.Dense, q.Experts, q.Shared, q.KV = s, s, s, s, dtype.FP8
		if experts {
			q.Attention = wide
		}
	case "int4":
		s, _ := dtype.Weights("int4_wo", q.Base)
		if !experts { // as AWQ and GPTQ
			q.Attention, q.Dense = s, s
			return
		}
		s.Group = 32
		q.Experts = s
	}
}
