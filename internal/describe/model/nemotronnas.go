package model

import "math"

// nemotronNAS is the config of Llama models that a search has thinned out: each
// block states its own attention and feed-forward part, either of which may be
// missing.
type nemotronNAS struct {
	base

	Bias    bool       `json:"attention_bias"`
	MLPBias bool       `json:"mlp_bias"`
	Blocks  []nasBlock `json:"block_configs"`
}

type nasBlock struct {
	Attention struct {
		NoOp   bool `json:"no_op"`
		Linear bool `json:"replace_with_linear"`
		Group  int  `json:"n_heads_in_group"` // query heads per key/value head
		Window int  `json:"window_length"`
	} `json:"attention"`
	FFN struct {
		NoOp   bool    `json:"no_op"`
		Linear bool    `json:"replace_with_linear"`
		Mult   float64 `json:"ffn_mult"` // Intermediate = ⅔ · 2 · Mult · Hidden, rounded up
	} `json:"ffn"`
}

// nasMultiple is what DeciLM rounds inner widths up to.
const nasMultiple = 256

// parseNemotronNAS reads Llama-Nemotron Super and Ultra.
func parseNemotronNAS(r *reader, c *nemotronNAS) *Model {
	m := r.model(&c.base)
	r.need("block_configs", len(c.Blocks), maxLayers)
	r.listLength("block_configs", len(c.Blocks), c.Layers, 0)
	c.KVHeads = 0 // stated by each block
	a := r.attention(&c.base)
	a.Bias, a.OutBias = c.Bias, c.Bias
	if r.failed() {
		return nil
	}
	layers := make([]Layer, c.Layers)
	linear := false
	for i := range c.Blocks {
		b := &c.Blocks[i]
		layers[i] = Layer{Attention: r.nasAttention(i, b, a), FFN: r.nasFFN(i, c, b)}
		for _, part := range []bool{layers[i].Attention.Kind != NoAttention, layers[i].FFN.Kind != NoFFN} {
			if part {
				layers[i].Norms++
			}
		}
		linear = linear || b.Attention.Linear
	}
	if r.failed() {
		return nil
	}
	m.fill(c.Layers, func(i int) Layer { return layers[i] })
	if linear {
		m.note("Attention layers replaced by one matrix are modelled as absent.")
	}
	return m
}

func (r *reader) nasAttention(i int, b *nasBlock, a Attention) Attention {
	if b.Attention.NoOp || b.Attention.Linear {
		return Attention{}
	}
	group := b.Attention.Group
	if group <= 0 || a.Heads%group != 0 {
		r.addf("block_configs", "entry %d: attention.n_heads_in_group: %d does not divide num_attention_heads %d", i, group, a.Heads)
		return Attention{}
	}
	a.KVHeads = a.Heads / group
	r.may("block_configs.attention.window_length", b.Attention.Window, maxPositions)
	a.Window = b.Attention.Window
	return a
}

func (r *reader) nasFFN(i int, c *nemotronNAS, b *nasBlock) FFN {
	switch {
	case b.FFN.NoOp:
		return FFN{}
	case b.FFN.Linear: // one Hidden × Hidden matrix: as many weights as two of half the width
		return FFN{Kind: Dense, Intermediate: max(c.Hidden/2, 1), Ungated: true}
	case !(b.FFN.Mult > 0 && b.FFN.Mult < 1<<10):
		r.addf("block_configs", "entry %d: ffn.ffn_mult: %g is not a multiple of hidden_size", i, b.FFN.Mult)
		return FFN{}
	}
	width := int(2 * b.FFN.Mult * float64(c.Hidden) / 3)
	width = int(math.Ceil(float64(width)/nasMultiple)) * nasMultiple
	r.may("block_configs.ffn.ffn_mult", width, maxIntermediate)
	return FFN{Kind: Dense, Intermediate: width, Bias: c.MLPBias}
}
