package model

import "slices"

// withKimiVision reads the image tower into m.
func (r *reader) withKimiVision(m *Model) *Model {
	return r.withTower(m, func(t *tower, v *Vision) {
		v.Bias = t.LinearBias == nil || *t.LinearBias
		if t.QKV > 0 && t.QKV != t.Hidden {
			m.note("The vision tower's attention is wider than its hidden size; it is modelled at the hidden size.")
		}
	})
}

// kimiLinear is the config of Kimi-Linear and the text_config of Kimi K3: Kimi
// delta attention with latent attention in every fourth layer.
type kimiLinear struct {
	decoder

	Linear struct {
		KDA      indices `json:"kda_layers"` // numbered from 1
		Heads    int     `json:"num_heads"`
		Dim      int     `json:"head_dim"`
		Conv     int     `json:"short_conv_kernel_size"`
		FullGate bool    `json:"use_full_rank_gate"`
	} `json:"linear_attn_config"`
	NoRope  bool `json:"mla_use_nope"`
	OutGate bool `json:"mla_use_output_gate"`
	Width   int  `json:"routed_expert_hidden_size"` // K3: experts work in this width

	ResidualBlock int `json:"attn_res_block_size"` // K3: layers per residual block
}

// parseKimiLinear reads Kimi-Linear and the language model of Kimi K3.
func parseKimiLinear(r *reader, c *kimiLinear) *Model {
	r.may("routed_expert_hidden_size", c.Width, maxHidden)
	delta := r.deltaAttention(c)
	r.style.OutGate = c.OutGate
	if c.ResidualBlock > 0 {
		r.style.Norms = 4
	}
	m := r.build(&c.decoder, func(i int, l *Layer) {
		if c.Linear.KDA.has(i + 1) {
			l.Attention = delta
		}
		if l.FFN.Kind == MoE {
			l.FFN.Latent = c.Width
		}
	})
	if m == nil {
		return nil
	}
	if c.ResidualBlock > 0 {
		m.note("Attention over earlier residual blocks is modelled as two more norms per layer; its mixing is not modelled.")
	}
	// Without rotation the rope part stays in the projections and in the cache;
	// RopeDim is therefore kept.
	if c.NoRope {
		r.notes = append(r.notes, "This latent attention has no rotary embedding; it is modelled with one of the reserved width.")
	}
	return m
}

// deltaAttention checks the linear token mixer.
func (r *reader) deltaAttention(c *kimiLinear) Attention {
	l := &c.Linear
	r.need("linear_attn_config.kda_layers", len(l.KDA), maxLayers)
	r.need("linear_attn_config.num_heads", l.Heads, maxHeads)
	r.need("linear_attn_config.head_dim", l.Dim, maxHeadDim)
	r.need("linear_attn_config.short_conv_kernel_size", l.Conv, maxPatch)
	if n := slices.Max(append([]int{0}, l.KDA...)); n > c.Layers {
		r.addf("linear_attn_config.kda_layers", "layer %d of %d", n, c.Layers)
	}
	gate := l.Dim
	if l.FullGate {
		gate = 0
	}
	return Attention{Kind: GatedDelta, Recurrent: Recurrent{
		KeyHeads: l.Heads, ValueHeads: l.Heads, KeyDim: l.Dim, ValueDim: l.Dim,
		Conv: l.Conv, GateRank: gate, ChannelDecay: true, StateFormat: r.stateFormat("", ""),
	}}
}
