package engine

import (
	"slices"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// SlowKernels lists the slow kernels of an engine for a weight format on some device generations, except for models of some
// widths: the slowdown of dense and of expert products, and of computing the latter in steps with prompts, 0 for none.
type SlowKernels struct {
	Weights                    string // mxfp8, fp8 block, int4 or bf16
	Generations                []string
	Widths                     []string
	Products, Experts, Prompts float64 `least:"1"`
}

// Slower is the slowdown of dense and of expert products on a device generation, for a model width and its weight formats, and
// how many times as long expert products compute in steps with prompts.
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

// kernelsOf is the name of a format in SlowKernels and Tile.
func kernelsOf(s dtype.Scheme) string {
	switch {
	case s.MXFP8():
		return "mxfp8"
	case s.Weight == dtype.FP8 && s.Rows > 1:
		return "fp8 block"
	case s.Weight == dtype.FP8 && !s.WeightOnly():
		return "fp8"
	case s.Weight == dtype.INT4 && s.WeightOnly():
		return "int4"
	case !s.Quantized():
		return "bf16"
	}
	return ""
}

// Tile is how an engine's kernels multiply up to so many rows by weights of a format on some device generations: in tiles of
// Rows. The rows that are missing in the last one cost Waste times as much as real ones.
type Tile struct {
	Weights     string
	Generations []string
	Rows        int `least:"1"`
	UpTo        int // 0 is any number
	Waste       float64
}

// Tiles are those of dense products on a device generation, the smallest first.
type Tiles []Tile

// TilesOf are the tiles of dense products with weights of a format on a device generation.
func (p *Profile) TilesOf(generation string, dense dtype.Scheme) Tiles {
	var out Tiles
	for _, t := range p.ProductTiles {
		if t.Weights == kernelsOf(dense) && slices.Contains(t.Generations, generation) {
			out = append(out, t)
		}
	}
	return out
}

// Longer is how many times as long a product of so many rows takes as one that fills its tiles.
func (t Tiles) Longer(rows int) float64 {
	for i := range t {
		if x := &t[i]; x.UpTo == 0 || rows <= x.UpTo {
			missing := (x.Rows - rows%x.Rows) % x.Rows
			return 1 + x.Waste*float64(missing)/float64(max(1, rows))
		}
	}
	return 1
}

// ReduceRule is how an engine's all-reduce sends large tensors in few bits on some device generations, except for families of models.
type ReduceRule struct {
	Generations      []string
	Except           []string
	Two, Four, Eight NarrowReduce // devices
}

// NarrowReduce is the time of an all-reduce in few bits, as a share of that in 16, and the least bytes of a tensor; a share of 0 is never.
type NarrowReduce struct {
	Share float64     `most:"1"`
	Least units.Bytes `key:"least_mib"`
}

// Reduces is how all-reduce sends large tensors of a family of models on a device generation.
func (p *Profile) Reduces(generation, family string) ReduceRule {
	r := p.ReduceRule
	if r == nil || !slices.Contains(r.Generations, generation) || slices.Contains(r.Except, family) {
		return ReduceRule{}
	}
	return *r
}

// SharesAttention reports whether one kernel computes the attention of all requests of a step on a device generation, made
// for prompts if there are any.
func (p *Profile) SharesAttention(generation string) bool {
	return slices.Contains(p.SharedAttention, generation)
}

// UnsplitHeads is the size of heads whose decode attention is not split over the units of a device of a generation: AITER's assembly
// kernels of paged attention (pa_fwd_asm) are for heads of 128 that attend to all tokens, and start one group of threads for a request and KV head. 0 is none.
func (p *Profile) UnsplitHeads(generation string) int {
	if !slices.Contains(p.UnsplitAttention, generation) {
		return 0
	}
	return 128
}

// WidensExperts reports whether the kernels of a family's experts in MXFP4 widen the weights of a tile before they multiply on a device
// generation. vLLM takes Triton's matmul_ogs for gpt-oss alone (fused_moe/oracle/mxfp4.py, _get_priority_backends_for_gpt_oss).
func (p *Profile) WidensExperts(generation, family string) bool {
	return family == "gpt_oss" && slices.Contains(p.WidenedExperts, generation)
}

// FusesShared reports whether the engine fuses the shared expert with the routed ones on a device generation. SGLang does so for
// as many experts as DeepSeek-V3 has (determine_num_fused_shared_experts).
func (p *Profile) FusesShared(generation string, experts int) bool {
	return experts == 256 && slices.Contains(p.SharedFusion, generation)
}
