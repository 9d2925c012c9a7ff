package model

// step3 is the config of Step-3.5 and 3.7 Flash: one layer in four with full
// attention, the others with a window and more query heads.
type step3 struct {
	base

	Groups     int      `json:"num_attention_groups"` // an older name of num_key_value_heads
	Window     int      `json:"sliding_window"`
	LayerTypes []string `json:"layer_types"`
	// Shape of the windowed layers where it differs.
	Other struct {
		Heads   int `json:"num_attention_heads"`
		KVHeads int `json:"num_attention_groups"`
		HeadDim int `json:"head_dim"`
	} `json:"attention_other_setting"`
	HeadGate bool `json:"use_head_wise_attn_gate"`

	Experts     int     `json:"num_experts"`
	ExpertsOld  int     `json:"moe_num_experts"`
	TopK        int     `json:"num_experts_per_tok"`
	TopKOld     int     `json:"moe_top_k"`
	ExpertWidth int     `json:"moe_intermediate_size"`
	SharedWidth int     `json:"share_expert_dim"`
	RouterBias  bool    `json:"use_moe_router_bias"`
	DenseFirst  int     `json:"first_k_dense_replace"`
	MoELayers   indices `json:"moe_layers_enum"` // states the expert layers instead

	Predict int `json:"num_nextn_predict_layers"`
}

// parseStep3 reads Step-3.5 Flash and Step-3.7 Flash.
func parseStep3(r *reader) *Model {
	var c step3
	if !r.decode(&c) {
		return nil
	}
	c.modernize()
	m := r.model(&c.base)
	full := r.attention(&c.base)
	full.QKNorm = PerHead
	local := r.step3Local(&c, full)
	r.layerKinds("layer_types", trim(c.LayerTypes, c.Layers, c.Predict), c.Layers, "sliding_attention", "full_attention")
	r.may("first_k_dense_replace", c.DenseFirst, c.Layers)
	dense := r.dense("intermediate_size", c.Intermediate)
	moe := r.experts([3]string{"num_experts", "num_experts_per_tok", "moe_intermediate_size"},
		c.Experts, c.TopK, c.ExpertWidth)
	r.may("share_expert_dim", c.SharedWidth, maxIntermediate)
	moe.SharedIntermediate = c.SharedWidth
	moe.RouterBias, moe.Router = c.RouterBias, RawRouter
	if r.failed() {
		return nil
	}
	m.fill(c.Layers, func(i int) Layer {
		l := Layer{Attention: full, FFN: dense, Norms: 2}
		if len(c.LayerTypes) > 0 && c.LayerTypes[i] == "sliding_attention" {
			l.Attention = local
		}
		if c.sparse(i) {
			l.FFN = moe
		}
		return l
	})
	m.predict(r, "num_nextn_predict_layers", c.Predict)
	if c.HeadGate {
		m.note("The sigmoid gate on each head's output is not modelled.")
	}
	if c.Other.Heads == 0 {
		m.note("The config gives one head count; the sliding-window layers of the released Step models have 96 query heads.")
	}
	return m
}

// modernize brings the older field names to the newer ones.
func (c *step3) modernize() {
	if c.KVHeads == 0 {
		c.KVHeads = c.Groups
	}
	if c.Experts == 0 {
		c.Experts = c.ExpertsOld
	}
	if c.TopK == 0 {
		c.TopK = c.TopKOld
	}
}

// step3Local is the attention of the windowed layers.
func (r *reader) step3Local(c *step3, a Attention) Attention {
	if len(c.LayerTypes) > 0 {
		r.need("sliding_window", c.Window, maxPositions)
	}
	a.Window = c.Window
	if c.Other.Heads == 0 {
		return a
	}
	other := c.base
	other.Heads, other.KVHeads, other.HeadDim = c.Other.Heads, c.Other.KVHeads, c.Other.HeadDim
	b := r.attention(&other)
	b.QKNorm, b.Window = a.QKNorm, c.Window
	return b
}

// sparse reports whether layer i has experts.
func (c *step3) sparse(i int) bool {
	if c.MoELayers != nil {
		return c.MoELayers.has(i)
	}
	return i >= c.DenseFirst
}

// trim cuts the entries of MTP modules from a per-layer list.
func trim(list []string, layers, extra int) []string {
	if extra > 0 && layers >= 0 && len(list) == layers+extra {
		return list[:layers]
	}
	return list
}
