package model

// llama is the config of Llama 2 and 3 and of everything built like them.
type llama struct {
	base

	AttentionBias bool `json:"attention_bias"` // on q, k, v and the output
	MLPBias       bool `json:"mlp_bias"`
}

// parseLlama reads Llama 2, 3, 3.1, 3.2 and 3.3.
func parseLlama(r *reader) *Model {
	var c llama
	if !r.decode(&c) {
		return nil
	}
	m := r.model(&c.base)
	a := r.attention(&c.base)
	a.Bias, a.OutBias = c.AttentionBias, c.AttentionBias
	f := r.dense("intermediate_size", c.Intermediate)
	f.Bias = c.MLPBias
	if r.failed() {
		return nil
	}
	m.fill(c.Layers, func(int) Layer { return Layer{Attention: a, FFN: f, Norms: 2} })
	return m
}

// phi3 is the config of Phi-3 and Phi-4, whose fused projections make the same
// shapes as Llama's.
type phi3 struct {
	base

	Window int `json:"sliding_window"` // null: none
}

// parsePhi3 reads Phi-3, Phi-4 and Phi-4-mini.
func parsePhi3(r *reader) *Model {
	var c phi3
	if !r.decode(&c) {
		return nil
	}
	return parseWindowed(r, &c.base, c.Window)
}

// mistral is the config of the dense Mistral models.
type mistral struct {
	base

	Window int `json:"sliding_window"` // 4096 in the first 7B, null since
}

// parseMistral reads Mistral 7B, Nemo, Small and Large.
func parseMistral(r *reader) *Model {
	var c mistral
	if !r.decode(&c) {
		return nil
	}
	return parseWindowed(r, &c.base, c.Window)
}

// parseWindowed builds a dense model all of whose layers have the same window.
func parseWindowed(r *reader, b *base, window int) *Model {
	m := r.model(b)
	a := r.attention(b)
	r.may("sliding_window", window, maxPositions)
	a.Window = window
	if window >= b.MaxPosition { // as wide as the context: no window
		a.Window = 0
	}
	f := r.dense("intermediate_size", b.Intermediate)
	if r.failed() {
		return nil
	}
	m.fill(b.Layers, func(int) Layer { return Layer{Attention: a, FFN: f, Norms: 2} })
	return m
}

// mixtral is the config of Mixtral. Its intermediate_size is an expert's.
type mixtral struct {
	base

	Window  int `json:"sliding_window"`
	Experts int `json:"num_local_experts"`
	TopK    int `json:"num_experts_per_tok"`
}

// parseMixtral reads Mixtral 8x7B and 8x22B.
func parseMixtral(r *reader) *Model {
	var c mixtral
	if !r.decode(&c) {
		return nil
	}
	m := r.model(&c.base)
	a := r.attention(&c.base)
	r.may("sliding_window", c.Window, maxPositions)
	a.Window = c.Window
	f := r.experts([3]string{"num_local_experts", "num_experts_per_tok", "intermediate_size"},
		c.Experts, c.TopK, c.Intermediate)
	if r.failed() {
		return nil
	}
	m.fill(c.Layers, func(int) Layer { return Layer{Attention: a, FFN: f, Norms: 2} })
	return m
}
