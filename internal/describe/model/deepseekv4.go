package model

// deepseekV4 is the config of DeepSeek-V4: one shared key/value head of head_dim,
// sliding-window layers with a compressed long-range cache, low-rank grouped
// output, several residual streams.
type deepseekV4 struct {
	base
	routed
	selector

	QRank   int `json:"q_lora_rank"`
	Rope    int `json:"qk_rope_head_dim"`
	OutRank int `json:"o_lora_rank"`
	Groups  int `json:"o_groups"`

	Window int `json:"sliding_window"`
	// One entry a layer, then one for each MTP module: 0 for the window
	// alone, otherwise how many tokens share a cache entry beside it.
	Ratios []int `json:"compress_ratios"`

	Streams    int     `json:"hc_mult"`
	Sinkhorn   int     `json:"hc_sinkhorn_iters"`
	Limit      float64 `json:"swiglu_limit"`
	HashLayers int     `json:"num_hash_layers"` // first layers route by token id
	Predict    int     `json:"num_nextn_predict_layers"`
}

// indexedRatio is the compression whose entries are selected by an indexer;
// heavier compression is attended to in full.
const indexedRatio = 4

// parseDeepSeekV4 reads DeepSeek-V4 Flash and Pro.
func parseDeepSeekV4(r *reader, c *deepseekV4) *Model {
	m := r.model(&c.base)
	a := r.v4Attention(c)
	_, moe := r.routedFFN(&c.base, &c.routed)
	moe.RouterBias, moe.Router, moe.Clamped = c.Method == "noaux_tc", SoftplusRouter, c.Limit > 0
	r.may("hc_sinkhorn_iters", c.Sinkhorn, maxLayers)
	r.may("num_hash_layers", c.HashLayers, c.Layers)
	m.HashLayers, m.Sinkhorn = c.HashLayers, max(1, c.Sinkhorn)
	r.need("hc_mult", c.Streams, maxPatch)
	r.may("num_nextn_predict_layers", c.Predict, maxLayers)
	r.need("compress_ratios", len(c.Ratios), 2*maxLayers)
	r.listLength("compress_ratios", len(c.Ratios), c.Layers, c.Predict)
	for i, n := range c.Ratios {
		if n < 0 || n > maxPositions {
			r.addf("compress_ratios", "entry %d: %d is not a number of tokens", i, n)
			break
		}
	}
	if r.failed() {
		return nil
	}
	layer := func(ratio int) Layer {
		return Layer{Attention: c.compressed(a, ratio), FFN: moe, Norms: 2, Streams: c.Streams}
	}
	m.fill(c.Layers, func(i int) Layer { return layer(c.Ratios[i]) })
	m.predict(r, c.Predict)
	if c.Predict > 0 && len(c.Ratios) > c.Layers {
		m.MTP.Kind = m.kind(layer(c.Ratios[c.Layers]))
	}
	m.note("DeepSeek-V4's attention is modelled as latent attention whose 512-wide latent is both key and value: keys and values have no up-projection.")
	if c.HashLayers > 0 {
		m.note("The first layers choose experts by a table of token ids; they are modelled with ordinary routers.")
	}
	return m
}

// v4Attention checks the attention's fields and returns the window-only form.
// The cached entry is head_dim wide, of which the last Rope are rotated.
func (r *reader) v4Attention(c *deepseekV4) Attention {
	r.need("num_attention_heads", c.Heads, maxHeads)
	r.need("head_dim", c.HeadDim, maxHeadDim)
	r.need("q_lora_rank", c.QRank, maxHidden)
	r.need("qk_rope_head_dim", c.Rope, maxHeadDim)
	r.need("o_lora_rank", c.OutRank, maxHidden)
	r.need("o_groups", c.Groups, maxHeads)
	r.divides("o_groups", c.Groups, "num_attention_heads", c.Heads)
	r.need("sliding_window", c.Window, maxPositions)
	r.indexer(&c.selector)
	if c.Rope > c.HeadDim {
		r.addf("qk_rope_head_dim", "%d is more than head_dim %d", c.Rope, c.HeadDim)
	}
	return Attention{
		Kind: MLA, Heads: c.Heads, KVHeads: 1,
		HeadDim: c.HeadDim, ValueDim: c.HeadDim, RopeDim: c.Rope,
		Sinks: true, Window: c.Window, KeyIsVal: true,
		QRank: c.QRank, KVRank: c.HeadDim - c.Rope,
		OutRank: c.OutRank, OutGroup: c.Groups,
	}
}

// compressed gives attention a long-range cache of one entry per ratio tokens.
func (c *deepseekV4) compressed(a Attention, ratio int) Attention {
	if ratio == 0 {
		return a
	}
	a.Window, a.Local, a.Compress = 0, c.Window, ratio
	if ratio == indexedRatio {
		a.Indexer = Indexer{Heads: c.IndexHeads, Dim: c.IndexDim, TopK: c.IndexTopK}
	}
	return a
}
