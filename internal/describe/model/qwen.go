package model

import "slices"

// qwen is the config of Qwen2, Qwen2.5 and Qwen3, dense and MoE.
type qwen struct {
	base

	AttentionBias bool `json:"attention_bias"` // Qwen3: on q, k, v and the output

	UseWindow    bool     `json:"use_sliding_window"`
	Window       int      `json:"sliding_window"`
	WindowedFrom int      `json:"max_window_layers"` // layers from here on have the window
	LayerTypes   []string `json:"layer_types"`       // states the windowed layers instead

	Experts      int     `json:"num_experts"`
	TopK         int     `json:"num_experts_per_tok"`
	ExpertWidth  int     `json:"moe_intermediate_size"`
	SharedWidth  int     `json:"shared_expert_intermediate_size"`
	SparseStep   int     `json:"decoder_sparse_step"` // experts in every SparseStep-th layer
	DenseLayers  indices `json:"mlp_only_layers"`     // but not in these
	PredictCount int     `json:"num_nextn_predict_layers"`
}

// variant is what the Qwen generations differ in and configs do not say.
type variant struct {
	qkvBias    bool // Qwen2: bias on q, k, v only
	qkNorm     QKNorm
	moe        bool
	sharedGate bool
}

func parseQwen2(r *reader) *Model { return parseQwen(r, variant{qkvBias: true}) }

func parseQwen2MoE(r *reader) *Model {
	return parseQwen(r, variant{qkvBias: true, moe: true, sharedGate: true})
}

func parseQwen3(r *reader) *Model { return parseQwen(r, variant{qkNorm: PerHead}) }

func parseQwen3MoE(r *reader) *Model { return parseQwen(r, variant{qkNorm: PerHead, moe: true}) }

// parseQwen reads the Qwen models without linear attention.
func parseQwen(r *reader, v variant) *Model {
	var c qwen
	if !r.decode(&c) {
		return nil
	}
	m := r.model(&c.base)
	a := r.attention(&c.base)
	a.QKNorm = v.qkNorm
	a.Bias, a.OutBias = v.qkvBias || c.AttentionBias, c.AttentionBias && !v.qkvBias
	r.may("sliding_window", c.Window, maxPositions)
	r.layerKinds("layer_types", c.LayerTypes, c.Layers, "full_attention", "sliding_attention")
	dense, moe := r.qwenFFN(&c, v)
	if r.failed() {
		return nil
	}
	m.fill(c.Layers, func(i int) Layer {
		l := Layer{Attention: a, FFN: dense, Norms: 2}
		if v.moe && c.sparse(i) {
			l.FFN = moe
		}
		if c.windowed(i) {
			l.Attention.Window = c.Window
		}
		return l
	})
	m.predict(r, "num_nextn_predict_layers", c.PredictCount)
	return m
}

// qwenFFN reads both feed-forward parts; the dense one is asked for only where
// a layer has it.
func (r *reader) qwenFFN(c *qwen, v variant) (dense, moe FFN) {
	r.may("decoder_sparse_step", c.SparseStep, maxLayers)
	if v.moe {
		moe = r.experts([3]string{"num_experts", "num_experts_per_tok", "moe_intermediate_size"},
			c.Experts, c.TopK, c.ExpertWidth)
		r.may("shared_expert_intermediate_size", c.SharedWidth, maxIntermediate)
		moe.SharedIntermediate = c.SharedWidth
		moe.SharedGate = v.sharedGate && c.SharedWidth > 0
	}
	if !v.moe || c.SparseStep > 1 || len(c.DenseLayers) > 0 {
		dense = r.dense("intermediate_size", c.Intermediate)
	}
	return dense, moe
}

// sparse reports whether layer i of a MoE model has experts.
func (c *qwen) sparse(i int) bool {
	return !c.DenseLayers.has(i) && (i+1)%max(c.SparseStep, 1) == 0
}

// windowed reports whether layer i has the sliding window.
func (c *qwen) windowed(i int) bool {
	if len(c.LayerTypes) > 0 {
		return c.LayerTypes[i] == "sliding_attention"
	}
	return c.UseWindow && i >= c.WindowedFrom
}

// layerKinds checks a list of layer types against those a family knows.
func (r *reader) layerKinds(field string, types []string, layers int, known ...string) {
	r.listLength(field, len(types), layers, 0)
	for i, t := range types {
		if !slices.Contains(known, t) {
			r.addf(field, "entry %d: %s is not one of %v", i, quoted(t), known)
			return
		}
	}
}
