package model

// lfm2 is the config of LFM2: short convolutions with attention in a few layers.
type lfm2 struct {
	decoder

	Types      []string `json:"layer_types"`    // "conv", "full_attention"
	Attention  indices  `json:"full_attn_idxs"` // an older form
	Conv       int      `json:"conv_L_cache"`
	OldWidth   int      `json:"block_ff_dim"` // an older name of intermediate_size
	Adjust     *bool    `json:"block_auto_adjust_ff_dim"`
	Multiplier float64  `json:"block_ffn_dim_multiplier"`
	Multiple   int      `json:"block_multiple_of"`
}

// parseLFM2 reads the dense LFM2, whose inner width is two thirds of what its
// config states, rounded up.
func parseLFM2(r *reader, c *lfm2) *Model {
	if c.Intermediate == 0 {
		c.Intermediate = c.OldWidth
	}
	if c.Adjust == nil || *c.Adjust {
		width := 2 * min(c.Intermediate, maxIntermediate) / 3
		if c.Multiplier > 0 && c.Multiplier <= maxPatch {
			width = int(c.Multiplier * float64(width))
		}
		if n := c.Multiple; n > 0 && n <= maxIntermediate {
			width = (width + n - 1) / n * n
		}
		c.Intermediate = width
	}
	return r.lfm2Model(c)
}

// lfm2Model reads LFM2 with experts, and builds both.
func (r *reader) lfm2Model(c *lfm2) *Model {
	r.layerKinds("layer_types", c.Types, c.Layers, "conv", "full_attention")
	r.need("conv_L_cache", c.Conv, maxPatch)
	conv := Attention{Kind: ShortConv, Recurrent: Recurrent{
		ValueHeads: min(c.Hidden, maxHidden), ValueDim: 1, Conv: c.Conv, StateFormat: r.stateFormat("", ""),
	}}
	return r.mixed(&c.decoder, conv, func(i int) bool {
		return len(c.Types) > 0 && c.Types[i] == "conv" || len(c.Types) == 0 && !c.Attention.has(i)
	})
}
