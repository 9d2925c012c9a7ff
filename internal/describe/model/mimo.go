package model

// mimoV2 is the config of MiMo-V2-Flash: most layers have a short window, more
// key/value heads and attention sinks.
type mimoV2 struct {
	decoder

	Windowed  []int `json:"hybrid_layer_pattern"` // 1 for layers with the window
	Window    int   `json:"sliding_window"`
	FullSinks bool  `json:"add_full_attention_sink_bias"`

	LocalHeads    int  `json:"swa_num_attention_heads"`
	LocalKVHeads  int  `json:"swa_num_key_value_heads"`
	LocalHeadDim  int  `json:"swa_head_dim"`
	LocalValueDim int  `json:"swa_v_head_dim"`
	LocalSinks    bool `json:"add_swa_attention_sink_bias"`
}

// parseMiMoV2 reads MiMo-V2-Flash.
func parseMiMoV2(r *reader, c *mimoV2) *Model {
	local := r.mimoLocal(c)
	r.listLength("hybrid_layer_pattern", len(c.Windowed), c.Layers, 0)
	r.style.Sinks = c.FullSinks
	return r.mixed(&c.decoder, local, func(i int) bool { return len(c.Windowed) > 0 && c.Windowed[i] != 0 })
}

// mimoLocal is the attention of the windowed layers.
func (r *reader) mimoLocal(c *mimoV2) Attention {
	if len(c.Windowed) == 0 {
		return Attention{}
	}
	b := c.base
	b.Heads, b.KVHeads, b.HeadDim = c.LocalHeads, c.LocalKVHeads, c.LocalHeadDim
	r.need("swa_num_attention_heads", c.LocalHeads, maxHeads)
	r.need("sliding_window", c.Window, maxPositions)
	r.may("swa_v_head_dim", c.LocalValueDim, maxHeadDim)
	a := r.attention(&b)
	a.Bias, a.Sinks, a.Window = c.AttentionBias, c.LocalSinks, c.Window
	if c.LocalValueDim > 0 {
		a.ValueDim = c.LocalValueDim
	}
	return a
}
