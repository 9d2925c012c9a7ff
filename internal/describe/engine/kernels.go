package engine

import (
	"slices"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// SlowKernels lists the slow kernels of an engine for a weight format on some device generations, except for models of some
// widths: the slowdown of dense and of expert products, and of the latter in steps with prompts, 0 for none.
type SlowKernels struct {
	Weights                    string // mxfp8, fp8 block, int4 or bf16
	Generations                []string
	Widths                     []string
	Products, Experts, Prompts float64
}

// Slower is the slowdown of dense and of expert products on a device generation, for a model width and its weight formats, and
// that of expert products in steps with prompts.
func (p *Profile) Slower(generation string, width int, dense, routed dtype.Scheme) (products, experts, prompts float64) {
	products, experts, prompts = 1, 1, 1
	for i := range p.Slow {
		r := &p.Slow[i]
		if !slices.Contains(r.Generations, generation) || slices.Contains(r.Widths, strconv.Itoa(width)) {
			continue
		}
		if kernelsOf(dense) == r.Weights {
			products = max(products, r.Products)
		}
		if kernelsOf(routed) == r.Weights {
			experts = max(experts, r.Experts)
			prompts = max(prompts, r.Prompts)
		}
	}
	return products, experts, max(experts, prompts)
}

// kernelsOf is the name of a format in SlowKernels.
func kernelsOf(s dtype.Scheme) string {
	switch {
	case s.MXFP8():
		return "mxfp8"
	case s.Weight == dtype.FP8 && s.Rows > 1:
		return "fp8 block"
	case s.Weight == dtype.INT4 && s.WeightOnly():
		return "int4"
	case !s.Quantized():
		return "bf16"
	}
	return ""
}

// FusesShared reports whether the engine fuses the shared expert with the routed ones on a device generation. SGLang does so for
// as many experts as DeepSeek-V3 has (determine_num_fused_shared_experts).
func (p *Profile) FusesShared(generation string, experts int) bool {
	return experts == 256 && slices.Contains(p.SharedFusion, generation)
}
