package model

// qwenNext is the config of Qwen3-Next and the text_config of Qwen3.5: three
// layers of gated linear attention to one of full attention.
type qwenNext struct {
	base
	linear

	LayerTypes []string `json:"layer_types"` // "linear_attention", "full_attention"
	Interval   int      `json:"full_attention_interval"`
	OutGate    *bool    `json:"attn_output_gate"` // absent: true
	Bias       bool     `json:"attention_bias"`

	Experts     int     `json:"num_experts"`
	TopK        int     `json:"num_experts_per_tok"`
	ExpertWidth int     `json:"moe_intermediate_size"`
	SharedWidth int     `json:"shared_expert_intermediate_size"`
	SparseStep  int     `json:"decoder_sparse_step"`
	DenseLayers indices `json:"mlp_only_layers"`

	Predict int `json:"mtp_num_hidden_layers"`
}

// linear holds the fields of the gated delta rule.
type linear struct {
	KeyHeads   int    `json:"linear_num_key_heads"`
	ValueHeads int    `json:"linear_num_value_heads"`
	KeyDim     int    `json:"linear_key_head_dim"`
	ValueDim   int    `json:"linear_value_head_dim"`
	Conv       int    `json:"linear_conv_kernel_dim"`
	State      string `json:"mamba_ssm_dtype"`
}

// parseQwen3Next reads Qwen3-Next.
func parseQwen3Next(r *reader) *Model {
	m := parseHybridQwen(r, true)
	if m == nil {
		return nil
	}
	for i := range m.Kinds {
		if a := &m.Kinds[i].Attention; a.Kind == GatedDelta {
			a.Recurrent.Joined = true
		}
	}
	return m
}

// parseQwen35 reads the dense Qwen3.5 and 3.6.
func parseQwen35(r *reader) *Model {
	return r.withQwenVision(parseHybridQwen(r, false), newerTower)
}

// parseQwen35MoE reads Qwen3.5 and 3.6 with experts.
func parseQwen35MoE(r *reader) *Model {
	return r.withQwenVision(parseHybridQwen(r, true), newerTower)
}

func parseHybridQwen(r *reader, moe bool) *Model {
	var c qwenNext
	if !r.decode(&c) {
		return nil
	}
	m := r.model(&c.base)
	m.OffsetNorm = true
	full := r.attention(&c.base)
	full.QKNorm = PerHead
	full.OutGate = c.OutGate == nil || *c.OutGate
	full.Bias, full.OutBias = c.Bias, c.Bias
	delta := Attention{Kind: GatedDelta, Recurrent: r.gatedDelta(&c.linear)}
	r.layerKinds("layer_types", c.LayerTypes, c.Layers, "linear_attention", "full_attention")
	r.may("full_attention_interval", c.Interval, maxLayers)
	dense, routed := r.qwenFFN(&qwen{
		base: c.base, Experts: c.Experts, TopK: c.TopK, ExpertWidth: c.ExpertWidth,
		SharedWidth: c.SharedWidth, SparseStep: c.SparseStep, DenseLayers: c.DenseLayers,
	}, variant{moe: moe, sharedGate: true})
	if r.failed() {
		return nil
	}
	sparse := qwen{SparseStep: c.SparseStep, DenseLayers: c.DenseLayers}
	m.fill(c.Layers, func(i int) Layer {
		l := Layer{Attention: delta, FFN: dense, Norms: 2}
		if c.fullAttention(i) {
			l.Attention = full
		}
		if moe && sparse.sparse(i) {
			l.FFN = routed
		}
		return l
	})
	m.predict(r, "mtp_num_hidden_layers", c.Predict)
	return m
}

// fullAttention reports whether layer i has softmax attention.
func (c *qwenNext) fullAttention(i int) bool {
	if len(c.LayerTypes) > 0 {
		return c.LayerTypes[i] == "full_attention"
	}
	interval := c.Interval
	if interval == 0 {
		interval = 4
	}
	return (i+1)%interval == 0
}

// gatedDelta checks the linear attention's fields.
func (r *reader) gatedDelta(c *linear) Recurrent {
	r.need("linear_num_key_heads", c.KeyHeads, maxHeads)
	r.need("linear_num_value_heads", c.ValueHeads, maxHeads)
	r.need("linear_key_head_dim", c.KeyDim, maxHeadDim)
	r.need("linear_value_head_dim", c.ValueDim, maxHeadDim)
	r.need("linear_conv_kernel_dim", c.Conv, maxPatch)
	r.divides("linear_num_key_heads", c.KeyHeads, "linear_num_value_heads", c.ValueHeads)
	return Recurrent{
		KeyHeads: c.KeyHeads, ValueHeads: c.ValueHeads, KeyDim: c.KeyDim, ValueDim: c.ValueDim,
		Conv: c.Conv, StateFormat: r.stateFormat("mamba_ssm_dtype", c.State),
	}
}
