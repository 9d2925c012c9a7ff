package engine

import (
	"slices"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// SlowKernels says that an engine multiplies weights in a format by slow kernels on some generations of devices, but for models of
// some widths: how many times longer than with fast ones dense products and those of experts take, 0 for as long.
type SlowKernels struct {
	Weights           string // mxfp8, fp8 block or int4
	Generations       []string
	Widths            []string
	Products, Experts float64
}

// Slower is how many times longer than with fast kernels dense products and those of experts take on a generation of devices,
// of a model so wide whose weights have these formats.
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

// kernelsOf is what SlowKernels calls a format.
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

// FusesShared reports whether the engine computes the shared expert of a model among its others on a generation of devices. SGLang
// does so for as many experts as DeepSeek-V3 has (determine_num_fused_shared_experts).
func (p *Profile) FusesShared(generation string, experts int) bool {
	return experts == 256 && slices.Contains(p.SharedFusion, generation)
}
