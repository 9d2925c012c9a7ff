package model

import "encoding/json"

// mamba holds the fields of Mamba layers. Their names are those of Bamba, Granite 4, Falcon-H1
// and Jamba; respell brings others to them.
type mamba struct {
	Heads  int  `json:"mamba_n_heads"`
	Dim    auto `json:"mamba_d_head"` // "auto": what expand leaves
	Groups int  `json:"mamba_n_groups"`
	State  int  `json:"mamba_d_state"`
	Conv   int  `json:"mamba_d_conv"`
	Expand int  `json:"mamba_expand"`
	Inner  int  `json:"mamba_d_ssm"` // Falcon-H1: stated instead of expand
	Rank   auto `json:"mamba_dt_rank"`
}

// auto is a number that a config may leave open as "auto".
type auto int

// UnmarshalJSON takes either form; "auto" and null leave 0.
func (n *auto) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return nil
	}
	return json.Unmarshal(b, (*int)(n))
}

// mamba2 checks a Mamba-2 mixer.
func (r *reader) mamba2(b *base, c *mamba) Attention {
	inner := c.Inner
	if inner == 0 {
		inner = c.Expand * min(b.Hidden, maxHidden)
	}
	r.need("mamba_n_heads", c.Heads, maxHeads)
	if c.Dim == 0 && c.Heads > 0 {
		r.divides("mamba_n_heads", c.Heads, "the width", inner)
		c.Dim = auto(inner / c.Heads)
	}
	r.need("mamba_d_head", int(c.Dim), maxHeadDim)
	r.need("mamba_d_state", c.State, maxHeadDim)
	r.need("mamba_n_groups", c.Groups, maxHeads)
	r.need("mamba_d_conv", c.Conv, maxPatch)
	r.divides("mamba_n_groups", c.Groups, "mamba_n_heads", c.Heads)
	return Attention{Kind: Mamba2, Recurrent: Recurrent{
		ValueHeads: c.Heads, ValueDim: int(c.Dim), KeyDim: c.State, Groups: c.Groups,
		Conv: c.Conv, StateFormat: r.stateFormat("", ""),
	}}
}

// mamba1 checks a Mamba mixer, inner channels wide.
func (r *reader) mamba1(b *base, c *mamba) Attention {
	r.need("mamba_expand", c.Expand, maxPatch)
	r.need("mamba_d_state", c.State, maxHeadDim)
	r.need("mamba_d_conv", c.Conv, maxPatch)
	rank := int(c.Rank)
	if rank == 0 {
		rank = (min(b.Hidden, maxHidden) + 15) / 16 // the class's "auto"
	}
	r.may("mamba_dt_rank", rank, maxHidden)
	return Attention{Kind: Mamba1, Recurrent: Recurrent{
		ValueHeads: min(c.Expand, maxPatch) * min(b.Hidden, maxHidden), ValueDim: 1, KeyDim: c.State,
		Conv: c.Conv, GateRank: rank, StateFormat: r.stateFormat("", ""),
	}}
}

// graniteHybrid is the config of Granite 4: Mamba-2 with attention in a few
// layers, experts with a shared one or that alone.
type graniteHybrid struct {
	decoder
	mamba

	Types []string `json:"layer_types"` // "mamba", "attention"
	// Bamba lists its attention layers instead.
	Attention indices `json:"attn_layer_indices"`
}

// parseGraniteHybrid reads Granite 4.
func parseGraniteHybrid(r *reader, c *graniteHybrid) *Model {
	if c.Experts == 0 {
		c.Intermediate = c.SharedWidth
	}
	r.layerKinds("layer_types", c.Types, c.Layers, "mamba", "attention")
	return r.hybrid(c, func(i int) bool { return i < len(c.Types) && c.Types[i] == "attention" })
}

// hybrid builds a model whose layers have attention or Mamba-2.
func (r *reader) hybrid(c *graniteHybrid, attends func(i int) bool) *Model {
	var mixer Attention
	for i := range min(c.Layers, maxLayers) {
		if !attends(i) {
			mixer = r.mamba2(&c.base, &c.mamba)
			break
		}
	}
	return r.mixed(&c.decoder, mixer, func(i int) bool { return !attends(i) })
}

// parseFalconH1 reads Falcon-H1, whose layers run attention and Mamba-2 beside
// each other: each becomes one layer with the one and one with the other.
func parseFalconH1(r *reader, c *graniteHybrid) *Model {
	mixer := r.mamba2(&c.base, &c.mamba)
	r.may("num_hidden_layers", c.Layers, maxLayers/2)
	c.Layers *= 2
	m := r.build(&c.decoder, func(i int, l *Layer) {
		if i%2 == 0 {
			*l = Layer{Attention: mixer}
		}
	})
	if m != nil {
		m.note("Attention and Mamba-2 of a layer run in parallel; they are counted as two layers.")
	}
	return m
}

// jamba is the config of Jamba: Mamba with attention in every eighth layer, experts in
// every second.
type jamba struct {
	decoder
	mamba

	AttentionPeriod int `json:"attn_layer_period"`
	AttentionOffset int `json:"attn_layer_offset"`
	ExpertPeriod    int `json:"expert_layer_period"`
	ExpertOffset    int `json:"expert_layer_offset"`
}

// parseJamba reads Jamba.
func parseJamba(r *reader, c *jamba) *Model {
	mixer := r.mamba1(&c.base, &c.mamba)
	dense := r.dense(c.Intermediate)
	return r.build(&c.decoder, func(i int, l *Layer) {
		if i%max(c.AttentionPeriod, 1) != c.AttentionOffset {
			l.Attention = mixer
		}
		if i%max(c.ExpertPeriod, 1) != c.ExpertOffset {
			l.FFN = dense
		}
	})
}

// pureMamba is the config of models that are Mamba layers alone.
type pureMamba struct {
	base
	mamba
}

// parseMamba2 reads Mamba-2.
func parseMamba2(r *reader, c *pureMamba) *Model {
	c.mamba.Heads, c.Dim = c.base.Heads, auto(c.HeadDim)
	return r.alike(c, r.mamba2(&c.base, &c.mamba))
}

// alike builds a model whose layers are all the same mixer. families.json gives them 2^20 positions: they have no limit.
func (r *reader) alike(c *pureMamba, mixer Attention) *Model {
	m := r.model(&c.base)
	if r.failed() {
		return nil
	}
	m.fill(c.Layers, func(int) Layer { return Layer{Attention: mixer, Norms: 1} })
	return m
}
