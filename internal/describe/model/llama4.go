package model

import "cmp"

// llama4 is the text_config of Llama 4.
type llama4 struct {
	decoder

	Chunk int `json:"attention_chunk_size"` // of the rotated layers
	// 1 for layers with rotary positions and chunked attention, 0 for layers
	// with neither. Absent: every NoRopeStep-th layer has neither.
	NoRope     []int `json:"no_rope_layers"`
	NoRopeStep int   `json:"no_rope_layer_interval"`
	DenseWidth int   `json:"intermediate_size_mlp"` // of layers without experts
}

// parseLlama4 reads Llama 4 Scout and Maverick.
func parseLlama4(r *reader, c *llama4) *Model {
	r.may("attention_chunk_size", c.Chunk, maxPositions)
	r.may("no_rope_layer_interval", c.NoRopeStep, maxLayers)
	r.listLength("no_rope_layers", len(c.NoRope), c.Layers, 0)
	// One shared expert, as wide as a routed one.
	c.ExpertWidth, c.SharedWidth, c.Intermediate = c.Intermediate, c.Intermediate, c.DenseWidth
	m := r.build(&c.decoder, func(i int, l *Layer) {
		if !c.rotated(i) {
			l.Attention.RopeDim = 0
			return
		}
		l.Attention.Window, l.Attention.Chunked = c.Chunk, c.Chunk > 0
		if c.QKNorm { // an L2 norm without weights
			l.Attention.QKNorm = PerHead
		}
	})
	return r.withTower(m, func(t *tower, v *Vision) {
		v.MergerHidden = t.Projector
		if t.Shuffle > 0 && t.Shuffle <= 1 {
			v.Merge = int(1/t.Shuffle + 0.5)
		}
		if v.Positions > 0 {
			v.Positions++ // the image's own
		}
	})
}

// rotated reports whether layer i has rotary positions and chunked attention.
func (c *llama4) rotated(i int) bool {
	if len(c.NoRope) > 0 {
		return c.NoRope[i] != 0
	}
	return (i+1)%cmp.Or(c.NoRopeStep, 4) != 0
}
