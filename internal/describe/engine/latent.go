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
	Decode, Prefill float64 `least:"1"`
}

// SparseRule is how an engine's kernels of sparse latent attention work on some device generations: on latents, for multiples of so
// many heads. Of a rank with fewer the others are computed for nothing.
type SparseRule struct {
	Generations []string
	Heads       int  `least:"1"`
	Decode      bool // decodes too
	Whole       bool // computes as many keys as a query may choose, however few there are
	Dense       bool // prompts no longer than that run kernels of dense attention
}

// SparseKernels are those of an engine on a device generation; without heads they are not known.
func (p *Profile) SparseKernels(generation string) SparseRule {
	if p.SparseRule == nil || !slices.Contains(p.SparseRule.Generations, generation) {
		return SparseRule{}
	}
	return *p.SparseRule
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
