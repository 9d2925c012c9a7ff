package model

// minimaxM2 is the config of MiniMax-M2 to M2.7. Its intermediate_size is an
// expert's.
type minimaxM2 struct {
	base

	RotaryDim  int    `json:"rotary_dim"`
	QKNorm     bool   `json:"use_qk_norm"`
	QKNormType string `json:"qk_norm_type"` // "per_layer": over all heads together

	Experts    int  `json:"num_local_experts"`
	TopK       int  `json:"num_experts_per_tok"`
	Shared     int  `json:"shared_intermediate_size"`
	RouterBias bool `json:"use_routing_bias"`

	UseMTP     bool `json:"use_mtp"`
	MTPModules int  `json:"num_mtp_modules"`
}

// parseMiniMaxM2 reads MiniMax-M2, M2.1, M2.5 and M2.7.
func parseMiniMaxM2(r *reader) *Model {
	var c minimaxM2
	if !r.decode(&c) {
		return nil
	}
	m := r.model(&c.base)
	a := r.attention(&c.base)
	r.rotaryDim(&a, c.RotaryDim)
	a.QKNorm = minimaxNorm(c.QKNorm, c.QKNormType)
	f := r.experts([3]string{"num_local_experts", "num_experts_per_tok", "intermediate_size"},
		c.Experts, c.TopK, c.Intermediate)
	r.may("shared_intermediate_size", c.Shared, maxIntermediate)
	f.SharedIntermediate = c.Shared
	f.RouterBias, f.Router = c.RouterBias, SigmoidRouter
	if r.failed() {
		return nil
	}
	m.fill(c.Layers, func(int) Layer { return Layer{Attention: a, FFN: f, Norms: 2} })
	if c.UseMTP {
		m.predict(r, "num_mtp_modules", c.MTPModules)
	}
	return m
}

func minimaxNorm(use bool, kind string) QKNorm {
	switch {
	case !use:
		return NoQKNorm
	case kind == "per_head":
		return PerHead
	default:
		return WholeVector
	}
}

// rotaryDim sets the rotated part of a head stated in elements; 0 leaves it.
func (r *reader) rotaryDim(a *Attention, n int) {
	r.may("rotary_dim", n, max(a.HeadDim, 1))
	if n > 0 {
		a.RopeDim, a.RopeStated = n, true
	}
}

// minimaxM3 is the config of MiniMax-M3: grouped-query attention over blocks
// that an indexer selects for each key/value head.
type minimaxM3 struct {
	base

	RotaryDim  int    `json:"rotary_dim"`
	QKNorm     bool   `json:"use_qk_norm"`
	QKNormType string `json:"qk_norm_type"`
	OutGate    bool   `json:"attention_output_gate"`

	Sparse struct {
		Use    bool  `json:"use_sparse_attention"`
		Layers []int `json:"sparse_attention_freq"` // 1 for layers with an indexer
		Heads  int   `json:"sparse_num_index_heads"`
		Dim    int   `json:"sparse_index_dim"`
		Block  int   `json:"sparse_block_size"`
		TopK   int   `json:"sparse_topk_blocks"`
	} `json:"sparse_attention_config"`

	DenseWidth  int       `json:"dense_intermediate_size"`
	ExpertWidth int       `json:"moe_intermediate_size"`
	Experts     int       `json:"num_local_experts"`
	TopK        int       `json:"num_experts_per_tok"`
	Shared      int       `json:"n_shared_experts"`
	DenseFirst  int       `json:"first_k_dense_replace"`
	Frequency   frequency `json:"moe_layer_freq"`
	RouterBias  bool      `json:"use_routing_bias"`

	Predict int `json:"num_nextn_predict_layers"`
	Modules int `json:"num_mtp_modules"`
}

// parseMiniMaxM3 reads MiniMax-M3.
func parseMiniMaxM3(r *reader) *Model {
	var c minimaxM3
	if !r.decode(&c) {
		return nil
	}
	m := r.model(&c.base)
	a := r.attention(&c.base)
	r.rotaryDim(&a, c.RotaryDim)
	a.QKNorm = minimaxNorm(c.QKNorm, c.QKNormType)
	a.OutGate = c.OutGate
	m.MXFP8 = true
	selector := r.blockIndexer(&c)
	if c.ExpertWidth == 0 {
		c.ExpertWidth = c.Intermediate
	}
	dense, moe := r.routedFFN(&base{Layers: c.Layers, Intermediate: c.DenseWidth}, c.routed())
	moe.RouterBias = c.RouterBias
	if r.failed() {
		return nil
	}
	m.fill(c.Layers, func(i int) Layer {
		l := Layer{Attention: a, FFN: dense, Norms: 2}
		if c.routed().sparse(i) {
			l.FFN = moe
		}
		if c.Sparse.Use && (len(c.Sparse.Layers) == 0 || c.Sparse.Layers[i] != 0) {
			l.Attention.Indexer = selector
		}
		return l
	})
	if c.Predict == 0 {
		c.Predict = c.Modules
	}
	m.predict(r, "num_nextn_predict_layers", c.Predict)
	m.note("MiniMax-M3 selects blocks for each key/value head; the selection is modelled as one for all heads.")
	if present(r.outer.VisionConfig) {
		m.note("The vision tower is not modelled.")
	}
	return m
}

// routed is the expert layers' fields in DeepSeek's form.
func (c *minimaxM3) routed() *routed {
	return &routed{
		Experts: c.Experts, TopK: c.TopK, ExpertWidth: c.ExpertWidth, Shared: c.Shared,
		DenseFirst: c.DenseFirst, Frequency: c.Frequency,
	}
}

// blockIndexer checks the block selector; TopK is in tokens.
func (r *reader) blockIndexer(c *minimaxM3) Indexer {
	s := &c.Sparse
	if !s.Use {
		return Indexer{}
	}
	const in = "sparse_attention_config."
	r.need(in+"sparse_num_index_heads", s.Heads, maxHeads)
	r.need(in+"sparse_index_dim", s.Dim, maxHeadDim)
	r.need(in+"sparse_block_size", s.Block, maxVocab)
	r.need(in+"sparse_topk_blocks", s.TopK, maxExperts)
	r.listLength(in+"sparse_attention_freq", len(s.Layers), c.Layers, 0)
	return Indexer{Heads: s.Heads, Dim: s.Dim, TopK: s.TopK * s.Block, Block: s.Block}
}
