package model

import (
	"cmp"
	"encoding/json"
)

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

// llama4Vision is the vision_config of Llama 4.
type llama4Vision struct {
	Layers       int     `json:"num_hidden_layers"`
	Hidden       int     `json:"hidden_size"`
	Intermediate int     `json:"intermediate_size"`
	Heads        int     `json:"num_attention_heads"`
	Patch        int     `json:"patch_size"`
	Image        int     `json:"image_size"`
	Shuffle      float64 `json:"pixel_shuffle_ratio"`
	Projector    int     `json:"projector_output_dim"`
}

// parseLlama4 reads Llama 4 Scout and Maverick.
func parseLlama4(r *reader) *Model {
	var c llama4
	if !r.decode(&c) {
		return nil
	}
	r.may("attention_chunk_size", c.Chunk, maxPositions)
	r.may("no_rope_layer_interval", c.NoRopeStep, maxLayers)
	r.listLength("no_rope_layers", len(c.NoRope), c.Layers, 0)
	// One shared expert, as wide as a routed one.
	c.ExpertWidth, c.SharedWidth, c.Intermediate = c.Intermediate, c.Intermediate, c.DenseWidth
	m := r.build(&c.decoder, style{experts: true, layer: func(i int, l *Layer) {
		if !c.rotated(i) {
			l.Attention.RopeDim = 0
			return
		}
		l.Attention.Window, l.Attention.Chunked = c.Chunk, c.Chunk > 0
		if c.QKNorm { // an L2 norm without weights
			l.Attention.QKNorm = PerHead
		}
	}})
	if m != nil {
		m.Vision = r.llama4Vision(c.Hidden)
	}
	return m
}

// rotated reports whether layer i has rotary positions and chunked attention.
func (c *llama4) rotated(i int) bool {
	if len(c.NoRope) > 0 {
		return c.NoRope[i] != 0
	}
	return (i+1)%cmp.Or(c.NoRopeStep, 4) != 0
}

// llama4Vision reads the image tower, nil when the config has none.
func (r *reader) llama4Vision(out int) *Vision {
	if !present(r.outer.VisionConfig) {
		return nil
	}
	var c llama4Vision
	if err := json.Unmarshal(r.outer.VisionConfig, &c); err != nil {
		r.errs = append(r.errs, decodeError("config.json", "vision_config.", err))
		return nil
	}
	v := &Vision{
		Layers: c.Layers, Hidden: c.Hidden, Intermediate: c.Intermediate, Heads: c.Heads,
		Patch: c.Patch, TemporalPatch: 1, Merge: 1, Out: out,
		Ungated: true, Bias: true, MergerHidden: c.Projector,
	}
	if c.Shuffle > 0 && c.Shuffle <= 1 {
		v.Merge = int(1/c.Shuffle + 0.5)
	}
	r.vision(v)
	if c.Patch > 0 && c.Image > 0 {
		side := min(c.Image/c.Patch, maxHidden)
		v.Positions = side*side + 1
	}
	return v
}
