package model

// gemma is the config of Gemma 2, 3 and 4: layers with a sliding window and some
// without, norms before and after each part.
type gemma struct {
	base

	Window     int      `json:"sliding_window"`
	Pattern    int      `json:"sliding_window_pattern"` // every Pattern-th layer is global
	LayerTypes []string `json:"layer_types"`            // states them instead
	Bias       bool     `json:"attention_bias"`

	// Gemma 4: global layers have their own head shape, may use keys as values,
	// and the last layers may share an earlier layer's cache.
	GlobalHeadDim int  `json:"global_head_dim"`
	GlobalKVHeads int  `json:"num_global_key_value_heads"`
	KeyIsVal      bool `json:"attention_k_eq_v"`
	SharedLayers  int  `json:"num_kv_shared_layers"`
	DoubleWide    bool `json:"use_double_wide_mlp"` // in those last layers
	// Gemma 3n and the smallest of Gemma 4: a vector of each token for every layer.
	LayerInput int `json:"hidden_size_per_layer_input"`
	InputVocab int `json:"vocab_size_per_layer_input"`
	// Gemma 3n: parallel residual streams, and two thin matrices beside attention.
	Streams    int `json:"altup_num_inputs"`
	LowRank    int `json:"laurel_rank"`
	RopeByType struct {
		Full struct {
			Partial float64 `json:"partial_rotary_factor"`
		} `json:"full_attention"`
	} `json:"rope_parameters"`

	// Gemma 4 with experts runs them beside the dense part.
	MoE         bool `json:"enable_moe_block"`
	Experts     int  `json:"num_experts"`
	TopK        int  `json:"top_k_experts"`
	ExpertWidth int  `json:"moe_intermediate_size"`
}

// gemmaModel reads Gemma 2, with a window in every second layer, to 4. The image tower of Gemma 3n is a
// convolutional network.
func (r *reader) gemmaModel(c *gemma) *Model {
	m := r.model(&c.base)
	local := r.attention(&c.base)
	local.QKNorm = r.style.QKNorm
	local.Bias, local.OutBias = c.Bias, c.Bias
	r.need("sliding_window", c.Window, maxPositions)
	r.need("sliding_window_pattern", c.Pattern, maxLayers)
	r.may("num_kv_shared_layers", c.SharedLayers, c.Layers)
	r.may("hidden_size_per_layer_input", c.LayerInput, maxHidden)
	r.may("vocab_size_per_layer_input", c.InputVocab, maxVocab)
	r.may("altup_num_inputs", c.Streams, maxPatch)
	r.may("laurel_rank", c.LowRank, maxHidden)
	r.layerKinds("layer_types", c.LayerTypes, c.Layers, "sliding_attention", "full_attention")
	global := r.gemmaGlobal(c, local)
	local.Window = c.Window
	f := r.gemmaFFN(c)
	if r.failed() {
		return nil
	}
	norms := 4
	if f.Kind == MoE {
		norms = 7
	}
	m.fill(c.Layers, func(i int) Layer {
		l := Layer{
			Attention: local, FFN: f, Norms: norms,
			Input: c.LayerInput, LowRank: c.LowRank, Streams: c.Streams, AltUp: c.Streams > 1,
		}
		if c.global(i) {
			l.Attention = global
		}
		if i >= c.Layers-c.SharedLayers {
			l.Attention.SharedKV = true
			if c.DoubleWide {
				l.FFN.Intermediate *= 2
			}
		}
		return l
	})
	if c.LayerInput > 0 {
		m.InputVocab = c.InputVocab
	}
	return r.withGemmaVision(m)
}

// gemmaGlobal is the attention of layers without a window.
func (r *reader) gemmaGlobal(c *gemma, a Attention) Attention {
	r.may("global_head_dim", c.GlobalHeadDim, maxHeadDim)
	r.may("num_global_key_value_heads", c.GlobalKVHeads, maxHeads)
	r.divides("num_global_key_value_heads", c.GlobalKVHeads, "num_attention_heads", c.Heads)
	if c.GlobalHeadDim > 0 {
		a.HeadDim, a.ValueDim, a.RopeDim = c.GlobalHeadDim, c.GlobalHeadDim, c.GlobalHeadDim
	}
	if c.GlobalKVHeads > 0 {
		a.KVHeads = c.GlobalKVHeads
	}
	if p := c.RopeByType.Full.Partial; p > 0 && p <= 1 {
		a.RopeDim = int(p * float64(a.HeadDim))
	}
	a.KeyIsVal = c.KeyIsVal
	return a
}

func (r *reader) gemmaFFN(c *gemma) FFN {
	f := r.dense(c.Intermediate)
	if !c.MoE {
		return f
	}
	moe := r.experts([3]string{"num_experts", "top_k_experts", "moe_intermediate_size"},
		c.Experts, c.TopK, c.ExpertWidth)
	moe.Intermediate = f.Intermediate
	return moe
}

// global reports whether layer i has no window.
func (c *gemma) global(i int) bool {
	if len(c.LayerTypes) > 0 {
		return c.LayerTypes[i] == "full_attention"
	}
	return (i+1)%c.Pattern == 0
}

// withGemmaVision reads the image tower of Gemma 3 (SigLIP) and 4.
func (r *reader) withGemmaVision(m *Model) *Model {
	return r.withTower(m, func(t *tower, v *Vision) {
		v.Pooled = true
		if t.Image > 0 && t.Patch > 0 { // SigLIP: a square image, pooled to 256 tokens
			side := min(int(t.Image)/int(t.Patch), maxPatch)
			v.Merge, v.TokensPerImage = max(side/16, 1), 256
			return
		}
		v.Merge, v.TokensPerImage, v.Positions = t.Pool, t.Tokens, 2*min(t.AxisPositions, maxVocab)
		v.Ungated, v.Bias = false, false
	})
}
