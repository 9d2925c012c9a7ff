package model

// deepseek is the config of DeepSeek V2, V3, R1, V3.1, V3.2, of Kimi K2 and of
// GLM-5: latent attention, dense layers first, shared experts beside the routed.
type deepseek struct {
	decoder
	selector

	// GLM-5.2: "shared" layers reuse the selection of the "full" one before.
	IndexerTypes []string `json:"indexer_types"`
}

// selector holds the fields of DeepSeek's token selector.
type selector struct {
	IndexHeads int `json:"index_n_heads"`
	IndexDim   int `json:"index_head_dim"`
	IndexTopK  int `json:"index_topk"`
}

// latent holds the fields of multi-head latent attention.
type latent struct {
	QRank  int `json:"q_lora_rank"` // null: full-rank queries
	KVRank int `json:"kv_lora_rank"`
	Nope   int `json:"qk_nope_head_dim"`
	Rope   int `json:"qk_rope_head_dim"`
	Value  int `json:"v_head_dim"`
}

// routed holds the fields of a DeepSeek-style expert layer.
type routed struct {
	Experts     int       `json:"n_routed_experts"`
	TopK        int       `json:"num_experts_per_tok"`
	ExpertWidth int       `json:"moe_intermediate_size"`
	Shared      int       `json:"n_shared_experts"`
	DenseFirst  int       `json:"first_k_dense_replace"`
	Frequency   frequency `json:"moe_layer_freq"`
	MLPTypes    []string  `json:"mlp_layer_types"`     // "dense", "sparse": states them instead
	MoELayers   indices   `json:"moe_layers"`          // likewise
	SparseStep  int       `json:"decoder_sparse_step"` // experts in every SparseStep-th layer
	DenseLayers indices   `json:"mlp_only_layers"`     // but not in these
	Method      string    `json:"topk_method"`         // "noaux_tc": with a correction bias
	Groups      int       `json:"n_group"`             // of experts, of which
	GroupTopK   int       `json:"topk_group"`          // are chosen first
}

// parseDeepSeek reads the whole group. Routers that choose groups of experts first do so
// in their gate module (DeepSeek-V3.2).
func parseDeepSeek(r *reader, c *deepseek) *Model {
	var selects Indexer
	sparse, groups := r.style.Indexer, r.style.Router == GroupRouter
	if sparse {
		selects = r.indexer(&c.selector)
	}
	if groups {
		if c.Groups == 0 {
			c.Groups, c.GroupTopK = 8, 4 // the class's defaults
		}
		r.may("n_group", c.Groups, maxExperts)
		r.need("topk_group", c.GroupTopK, c.Groups)
	}
	r.layerKinds("indexer_types", c.IndexerTypes, c.Layers, "full", "shared")
	return r.build(&c.decoder, func(i int, l *Layer) {
		l.Attention.Indexer = selects
		if sparse && len(c.IndexerTypes) > 0 {
			l.Attention.Indexer.Shared = c.IndexerTypes[i] == "shared"
		}
		if groups && l.FFN.Kind == MoE {
			l.FFN.Groups, l.FFN.GroupTopK = c.Groups, c.GroupTopK
		}
	})
}

// latentAttention checks the fields of multi-head latent attention.
func (r *reader) latentAttention(b *base, c *latent) Attention {
	r.need("num_attention_heads", b.Heads, maxHeads)
	r.may("q_lora_rank", c.QRank, maxHidden)
	r.need("kv_lora_rank", c.KVRank, maxHidden)
	r.need("qk_nope_head_dim", c.Nope, maxHeadDim)
	r.need("qk_rope_head_dim", c.Rope, maxHeadDim)
	r.need("v_head_dim", c.Value, maxHeadDim)
	return Attention{
		Kind: MLA, Heads: b.Heads, KVHeads: b.Heads,
		HeadDim: c.Nope + c.Rope, ValueDim: c.Value, RopeDim: c.Rope,
		QRank: c.QRank, KVRank: c.KVRank,
	}
}

// indexer checks the token selector of DeepSeek's sparse attention.
func (r *reader) indexer(c *selector) Indexer {
	r.need("index_n_heads", c.IndexHeads, maxHeads)
	r.need("index_head_dim", c.IndexDim, maxHeadDim)
	r.need("index_topk", c.IndexTopK, maxPositions)
	return Indexer{Heads: c.IndexHeads, Dim: c.IndexDim, TopK: c.IndexTopK}
}

// routedFFN checks both feed-forward parts; the dense one is required only
// if a layer has it.
func (r *reader) routedFFN(b *base, c *routed) (dense, moe FFN) {
	moe = r.experts([3]string{"n_routed_experts", "num_experts_per_tok", "moe_intermediate_size"},
		c.Experts, c.TopK, c.ExpertWidth)
	r.may("n_shared_experts", c.Shared, maxExperts)
	moe.SharedIntermediate = c.Shared * c.ExpertWidth
	r.may("first_k_dense_replace", c.DenseFirst, b.Layers)
	r.may("decoder_sparse_step", c.SparseStep, maxLayers)
	r.may("moe_layer_freq", c.Frequency.every, maxLayers)
	r.listLength("moe_layer_freq", len(c.Frequency.list), b.Layers, 0)
	r.layerKinds("mlp_layer_types", c.MLPTypes, b.Layers, "dense", "sparse")
	if c.hasDense(b.Layers) {
		dense = r.dense(b.Intermediate)
	}
	return dense, moe
}

// sparse reports whether layer i has experts.
func (c *routed) sparse(i int) bool {
	if i < len(c.MLPTypes) {
		return c.MLPTypes[i] == "sparse"
	}
	if c.MoELayers != nil {
		return c.MoELayers.has(i)
	}
	return i >= c.DenseFirst && c.Frequency.at(i) && (i+1)%max(c.SparseStep, 1) == 0 && !c.DenseLayers.has(i)
}

// hasDense reports whether any of n layers has no experts.
func (c *routed) hasDense(n int) bool {
	for i := range min(n, maxLayers) {
		if !c.sparse(i) {
			return true
		}
	}
	return false
}
