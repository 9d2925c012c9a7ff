package engine

import (
	"slices"
	"strconv"
)

// MXRule says on which generations of devices an engine multiplies weights in MXFP8 by slow kernels: how many times
// longer than with fast ones dense products and those of experts take.
type MXRule struct {
	Generations       []string
	Products, Experts float64
}

// MXFP8Kernels is how many times longer dense products and those of experts in MXFP8 take than with fast kernels.
func (p *Profile) MXFP8Kernels(generation string) (products, experts float64) {
	r := p.MXRule
	if r == nil || !slices.Contains(r.Generations, generation) {
		return 1, 1
	}
	return r.Products, r.Experts
}

// BlockRule says on which generations of devices dense products in FP8 with blocks of scales are tuned for models of some
// widths alone, and how many times longer those of others take.
type BlockRule struct {
	Generations []string
	Widths      []string
	Products    float64
}

// BlockKernels is how many times longer dense products in FP8 with blocks of scales take for a model so wide than with
// tuned kernels.
func (p *Profile) BlockKernels(generation string, width int) float64 {
	r := p.BlockRule
	if r == nil || !slices.Contains(r.Generations, generation) || slices.Contains(r.Widths, strconv.Itoa(width)) {
		return 1
	}
	return r.Products
}
