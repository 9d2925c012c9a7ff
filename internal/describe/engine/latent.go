package engine

import (
	"slices"
	"strconv"
)

// LatentRule says for which numbers of heads on one rank an engine has its fast kernels
// of latent attention on some generations of devices. With other numbers it takes
// general ones, which take Decode and Prefill times as long.
type LatentRule struct {
	Generations     []string
	Heads           []string
	Decode, Prefill float64
}

// LatentKernels is how many times longer latent attention with so many heads on a rank
// takes than with the engine's fast kernels.
func (p *Profile) LatentKernels(generation string, heads int) (decode, prefill float64) {
	r := p.LatentRule
	if r == nil || !slices.Contains(r.Generations, generation) || slices.Contains(r.Heads, strconv.Itoa(heads)) {
		return 1, 1
	}
	return r.Decode, r.Prefill
}
