package model

// qwenNext is the config of Qwen3-Next and OLMo Hybrid and the text_config of Qwen3.5: three
// layers of gated linear attention to one of full attention.
type qwenNext struct {
	decoder
	linear

	Types    []string `json:"layer_types"` // "linear_attention", "full_attention"
	Interval int      `json:"full_attention_interval"`
	OutGate  bool     `json:"attn_output_gate"`
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

// parseQwenNext reads them.
func parseQwenNext(r *reader, c *qwenNext) *Model {
	delta := Attention{Kind: GatedDelta, Recurrent: r.gatedDelta(&c.linear)}
	r.layerKinds("layer_types", c.Types, c.Layers, "linear_attention", "full_attention")
	if len(c.Types) == 0 {
		r.need("full_attention_interval", c.Interval, maxLayers)
	}
	r.style.OutGate = c.OutGate
	return r.mixed(&c.decoder, delta, func(i int) bool {
		if len(c.Types) > 0 {
			return c.Types[i] == "linear_attention"
		}
		return (i+1)%c.Interval != 0
	})
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
		Conv: c.Conv, Joined: r.style.Joined, StateFormat: r.stateFormat("mamba_ssm_dtype", c.State),
	}
}
