package engine

import (
	"slices"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// SlowKernels lists the slow kernels of an engine for a weight format on some device generations, except for models of some
// widths: the slowdown of dense and of expert products, 0 for none.
type SlowKernels struct {
	Weights           string // mxfp8, fp8 block or int4
	Generations       []string
	Widths            []string
	Products, Experts float64
}

// Slower is the slowdown of dense and of expert products on a device generation, for a model width and its weight formats.
func (p *Profile) Slower(generation string, width int, dense, routed dtype.Scheme) (products, experts float64) {
	products, experts = 1, 1
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
		}
	}
	return products, experts
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
	}
	return ""
}

// FusesShared reports whether the engine fuses the shared expert with the routed ones on a device generation. SGLang does so for
// as many experts as DeepSeek-V3 has (determine_num_fused_shared_experts).
func (p *Profile) FusesShared(generation string, experts int) bool {
	return experts == 256 && slices.Contains(p.SharedFusion, generation)
}
