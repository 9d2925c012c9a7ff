package model

// parseMiMo reads MiMo-7B, which is built like Qwen2 with MTP modules.
func parseMiMo(r *reader) *Model { return parseQwen(r, variant{qkvBias: true}) }

// mimoV2 is the config of MiMo-V2-Flash: most layers have a short window, more
// key/value heads and attention sinks.
type mimoV2 struct {
	base
	routed

	ValueDim  int   `json:"v_head_dim"`
	Windowed  []int `json:"hybrid_layer_pattern"` // 1 for layers with the window
	Window    int   `json:"sliding_window"`
	Bias      bool  `json:"attention_bias"`
	FullSinks bool  `json:"add_full_attention_sink_bias"`

	LocalHeads    int  `json:"swa_num_attention_heads"`
	LocalKVHeads  int  `json:"swa_num_key_value_heads"`
	LocalHeadDim  int  `json:"swa_head_dim"`
	LocalValueDim int  `json:"swa_v_head_dim"`
	LocalSinks    bool `json:"add_swa_attention_sink_bias"`

	Predict int `json:"num_nextn_predict_layers"`
}

// parseMiMoV2 reads MiMo-V2-Flash.
func parseMiMoV2(r *reader) *Model {
	var c mimoV2
	if !r.decode(&c) {
		return nil
	}
	m := r.model(&c.base)
	full := r.attention(&c.base)
	full.Bias, full.Sinks = c.Bias, c.FullSinks
	r.may("v_head_dim", c.ValueDim, maxHeadDim)
	if c.ValueDim > 0 {
		full.ValueDim = c.ValueDim
	}
	local := r.mimoLocal(&c)
	r.listLength("hybrid_layer_pattern", len(c.Windowed), c.Layers, 0)
	dense, moe := r.routedFFN(&c.base, &c.routed)
	moe.RouterBias = c.Method == "noaux_tc"
	if r.failed() {
		return nil
	}
	m.fill(c.Layers, func(i int) Layer {
		l := Layer{Attention: full, FFN: dense, Norms: 2}
		if len(c.Windowed) > 0 && c.Windowed[i] != 0 {
			l.Attention = local
		}
		if c.sparse(i) {
			l.FFN = moe
		}
		return l
	})
	m.predict(r, "num_nextn_predict_layers", c.Predict)
	return m
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
	a.Bias, a.Sinks, a.Window = c.Bias, c.LocalSinks, c.Window
	if c.LocalValueDim > 0 {
		a.ValueDim = c.LocalValueDim
	}
	return a
}
