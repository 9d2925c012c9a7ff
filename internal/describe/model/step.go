package model

// step3 is the config of Step-3.5 and 3.7 Flash: one layer in four with full
// attention, the others with a window and more query heads.
type step3 struct {
	decoder

	Types []string `json:"layer_types"`
	// Shape of the windowed layers where it differs.
	Other struct {
		Heads   int `json:"num_attention_heads"`
		KVHeads int `json:"num_attention_groups"`
		HeadDim int `json:"head_dim"`
	} `json:"attention_other_setting"`
	HeadGate   bool `json:"use_head_wise_attn_gate"`
	RouterBias bool `json:"use_moe_router_bias"`
}

// parseStep3 reads Step-3.5 Flash and Step-3.7 Flash.
func parseStep3(r *reader, c *step3) *Model {
	c.UseWindow = new(false) // layers with the window have a shape of their own
	types := trim(c.Types, c.Layers, c.Predict)
	r.layerKinds("layer_types", types, c.Layers, "sliding_attention", "full_attention")
	local := r.step3Local(c)
	r.style.RouterBias = c.RouterBias
	m := r.mixed(&c.decoder, local, func(i int) bool { return len(types) > 0 && types[i] == "sliding_attention" })
	if m == nil {
		return nil
	}
	if c.HeadGate {
		m.note("The sigmoid gate on each head's output is not modelled.")
	}
	if c.Other.Heads == 0 {
		m.note("The config gives one head count; the sliding-window layers of the released Step models have 96 query heads.")
	}
	return m
}

// step3Local is the attention of the windowed layers.
func (r *reader) step3Local(c *step3) Attention {
	if len(c.Types) > 0 {
		r.need("sliding_window", c.Window, maxPositions)
	}
	shape := c.base
	if c.Other.Heads > 0 {
		shape.Heads, shape.KVHeads, shape.HeadDim = c.Other.Heads, c.Other.KVHeads, c.Other.HeadDim
	}
	a := r.attention(&shape)
	a.QKNorm, a.Window = PerHead, c.Window
	return a
}

// trim cuts the entries of MTP modules from a per-layer list.
func trim(list []string, layers, extra int) []string {
	if extra > 0 && layers >= 0 && len(list) == layers+extra {
		return list[:layers]
	}
	return list
}
