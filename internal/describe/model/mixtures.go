package model

// Mixtures of experts with a form of their own.

// dbrx is the config of DBRX.
type dbrx struct {
	base

	Attention struct {
		KVHeads int `json:"kv_n_heads"`
	} `json:"attn_config"`
	FFN struct {
		Width   int `json:"ffn_hidden_size"`
		Experts int `json:"moe_num_experts"`
		TopK    int `json:"moe_top_k"`
	} `json:"ffn_config"`
}

// parseDBRX reads DBRX.
func parseDBRX(r *reader, c *dbrx) *Model {
	c.KVHeads = c.Attention.KVHeads
	return r.build(&decoder{base: c.base, routed: routed{
		Experts: c.FFN.Experts, TopK: c.FFN.TopK, ExpertWidth: c.FFN.Width,
	}}, nil)
}

// arctic is the config of Arctic: a dense part as wide as the hidden state beside the
// experts of every step-th layer.
type arctic struct {
	decoder

	Residual bool `json:"use_residual"`
}

// parseArctic reads Arctic.
func parseArctic(r *reader, c *arctic) *Model {
	return r.build(&c.decoder, func(_ int, l *Layer) {
		if l.FFN.Kind == MoE && c.Residual {
			l.FFN.Intermediate, l.Norms = c.Hidden, 3
		}
	})
}

// longcat is the config of LongCat-Flash. A layer has attention and a dense part
// twice, and experts beside all of it.
type longcat struct {
	decoder

	Blocks int `json:"num_layers"`
	Zero   int `json:"zero_expert_num"` // experts that return their input
}

// parseLongcat reads LongCat-Flash: each layer becomes one with experts and one
// without.
func parseLongcat(r *reader, c *longcat) *Model {
	r.need("num_layers", c.Blocks, maxLayers/2)
	r.may("zero_expert_num", c.Zero, maxExperts)
	c.Layers = 2 * min(c.Blocks, maxLayers)
	dense := r.dense(c.Intermediate)
	// A token chooses among all of them; those that do nothing take their share.
	if c.Experts > 0 && c.Zero > 0 && !r.failed() {
		c.TopK = max(1, c.TopK*c.Experts/(c.Experts+c.Zero))
	}
	m := r.build(&c.decoder, func(i int, l *Layer) {
		if i%2 == 1 {
			l.FFN = dense
			return
		}
		l.FFN.Intermediate = dense.Intermediate
	})
	if m != nil {
		m.note("Each layer is counted as two, the first with the experts; the overlap of the experts with both is not modelled.")
		m.note("Experts without computation are left out; a token uses the average number of the others.")
	}
	return m
}

// lightning is the config of MiniMax-Text-01 and M1: linear attention with softmax
// attention in every eighth layer.
type lightning struct {
	decoder

	RotaryDim int      `json:"rotary_dim"`
	Softmax   []int    `json:"attn_type_list"` // 1 for softmax attention
	Types     []string `json:"layer_types"`    // "linear_attention", "full_attention"
}

// parseLightning reads MiniMax-Text-01 and M1.
func parseLightning(r *reader, c *lightning) *Model {
	r.layerKinds("layer_types", c.Types, c.Layers, "linear_attention", "full_attention")
	r.listLength("attn_type_list", len(c.Softmax), c.Layers, 0)
	full := r.attention(&c.base)
	r.rotaryDim(&full, c.RotaryDim)
	linear := Attention{Kind: GatedDelta, Recurrent: Recurrent{
		KeyHeads: full.Heads, ValueHeads: full.Heads, KeyDim: full.HeadDim, ValueDim: full.HeadDim,
		Conv: 1, StateFormat: r.stateFormat("", ""),
	}}
	m := r.build(&c.decoder, func(i int, l *Layer) {
		if l.Attention = linear; len(c.Softmax) > 0 && c.Softmax[i] == 1 || len(c.Types) > 0 && c.Types[i] == "full_attention" {
			l.Attention = full
		}
	})
	if m != nil {
		m.note("Lightning attention is counted as a gated delta rule without convolution.")
	}
	return m
}
