package engine

import (
	"slices"
	"strconv"
)

// LatentRule lists the numbers of heads per rank for which an engine has fast kernels of
// latent attention on some device generations. With other numbers it uses general
// kernels, which take Decode and Prefill times as long.
type LatentRule struct {
	Generations     []string
	Heads           []string
	Decode, Prefill float64
}

// LatentKernels is the slowdown of latent attention with a number of heads per rank,
// relative to the engine's fast kernels.
func (p *Profile) LatentKernels(generation string, heads int) (decode, prefill float64) {
	r := p.LatentRule
	if r == nil || !slices.Contains(r.Generations, generation) || slices.Contains(r.Heads, strconv.Itoa(heads)) {
		return 1, 1
	}
	return r.Decode, r.Prefill
}
