package model

import "encoding/json"

// llama4 is the text_config of Llama 4.
type llama4 struct {
	base

	AttentionBias bool `json:"attention_bias"`
	QKNorm        bool `json:"use_qk_norm"`          // an L2 norm without weights, on rotated layers
	Chunk         int  `json:"attention_chunk_size"` // of the rotated layers
	// 1 for layers with rotary positions and chunked attention, 0 for layers
	// with neither. Absent: every NoRopeStep-th layer has neither.
	NoRope     []int `json:"no_rope_layers"`
	NoRopeStep int   `json:"no_rope_layer_interval"`

	DenseWidth int     `json:"intermediate_size_mlp"`     // of layers without experts
	Step       int     `json:"interleave_moe_layer_step"` // experts in every Step-th layer
	MoELayers  indices `json:"moe_layers"`                // states them instead
	Experts    int     `json:"num_local_experts"`
	TopK       int     `json:"num_experts_per_tok"`
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
	m := r.model(&c.base)
	a := r.attention(&c.base)
	a.Bias, a.OutBias = c.AttentionBias, c.AttentionBias
	r.may("attention_chunk_size", c.Chunk, maxPositions)
	r.may("interleave_moe_layer_step", c.Step, maxLayers)
	r.may("no_rope_layer_interval", c.NoRopeStep, maxLayers)
	r.listLength("no_rope_layers", len(c.NoRope), c.Layers, 0)
	moe := r.experts([3]string{"num_local_experts", "num_experts_per_tok", "intermediate_size"},
		c.Experts, c.TopK, c.Intermediate)
	moe.SharedIntermediate = c.Intermediate // one shared expert, as wide as a routed one
	dense := moe
	if c.Step > 1 || c.MoELayers != nil {
		dense = r.dense("intermediate_size_mlp", c.DenseWidth)
	}
	m.Vision = r.llama4Vision(c.Hidden)
	if r.failed() {
		return nil
	}
	step := max(c.Step, 1)
	m.fill(c.Layers, func(i int) Layer {
		l := Layer{Attention: a, FFN: dense, Norms: 2}
		if c.MoELayers.has(i) || (c.MoELayers == nil && (i+1)%step == 0) {
			l.FFN = moe
		}
		if c.rotated(i) {
			l.Attention.Window, l.Attention.Chunked = c.Chunk, c.Chunk > 0
			if c.QKNorm {
				l.Attention.QKNorm = PerHead
			}
		} else {
			l.Attention.RopeDim = 0
		}
		return l
	})
	return m
}

// rotated reports whether layer i has rotary positions and chunked attention.
func (c *llama4) rotated(i int) bool {
	if len(c.NoRope) > 0 {
		return c.NoRope[i] != 0
	}
	step := c.NoRopeStep
	if step == 0 {
		step = 4
	}
	return (i+1)%step != 0
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
