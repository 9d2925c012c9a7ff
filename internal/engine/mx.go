package engine

import "slices"

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
