package model

import "cmp"

// minimaxM2 is the config of MiniMax-M2 to M2.7. Its intermediate_size is an
// expert's.
type minimaxM2 struct {
	decoder
	minimax

	UseMTP bool `json:"use_mtp"`
}

// minimax holds what the configs of M2 and M3 share beside the common fields.
type minimax struct {
	RotaryDim  int    `json:"rotary_dim"`
	NormType   string `json:"qk_norm_type"` // "per_layer": over all heads together
	RouterBias bool   `json:"use_routing_bias"`
	Modules    int    `json:"num_mtp_modules"`
}

// apply changes the style of both.
func (c *minimax) apply(s *style) {
	s.QKNorm, s.RotaryDim, s.RouterBias = WholeVector, c.RotaryDim, c.RouterBias
	if c.NormType == "per_head" {
		s.QKNorm = PerHead
	}
}

// parseMiniMaxM2 reads MiniMax-M2, M2.1, M2.5 and M2.7.
func parseMiniMaxM2(r *reader, c *minimaxM2) *Model {
	if c.Predict = 0; c.UseMTP {
		c.Predict = c.Modules
	}
	c.apply(&r.style)
	return r.build(&c.decoder, nil)
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
	decoder
	minimax

	OutGate    bool `json:"attention_output_gate"`
	DenseWidth int  `json:"dense_intermediate_size"`
	Sparse     struct {
		Use    bool  `json:"use_sparse_attention"`
		Layers []int `json:"sparse_attention_freq"` // 1 for layers with an indexer
		Heads  int   `json:"sparse_num_index_heads"`
		Dim    int   `json:"sparse_index_dim"`
		Block  int   `json:"sparse_block_size"`
		TopK   int   `json:"sparse_topk_blocks"`
	} `json:"sparse_attention_config"`
}

// parseMiniMaxM3 reads MiniMax-M3.
func parseMiniMaxM3(r *reader, c *minimaxM3) *Model {
	selector := r.blockIndexer(c)
	c.ExpertWidth, c.Intermediate = cmp.Or(c.ExpertWidth, c.Intermediate), c.DenseWidth
	c.Predict = cmp.Or(c.Predict, c.Modules)
	c.apply(&r.style)
	r.style.OutGate = c.OutGate
	m := r.build(&c.decoder, func(i int, l *Layer) {
		if c.Sparse.Use && (len(c.Sparse.Layers) == 0 || c.Sparse.Layers[i] != 0) {
			l.Attention.Indexer = selector
		}
	})
	if m == nil {
		return nil
	}
	m.MXFP8 = true
	m.note("MiniMax-M3 selects blocks for each key/value head; the selection is modelled as one for all heads.")
	if present(r.outer.VisionConfig) {
		m.note(noTower)
	}
	return m
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
	return Indexer{Heads: s.Heads, Dim: s.Dim, TopK: s.TopK * s.Block}
}
