package model

// gptOss is the config of gpt-oss: attention sinks, every other layer with a
// sliding window, biases everywhere. Its intermediate_size is an expert's.
type gptOss struct {
	base

	Bias       bool     `json:"attention_bias"`
	Window     int      `json:"sliding_window"`
	LayerTypes []string `json:"layer_types"`
	Experts    int      `json:"num_local_experts"`
	TopK       int      `json:"num_experts_per_tok"`
	TopKOld    int      `json:"experts_per_token"` // an older name of TopK
}

// parseGptOss reads gpt-oss-20b and gpt-oss-120b.
func parseGptOss(r *reader) *Model {
	var c gptOss
	if !r.decode(&c) {
		return nil
	}
	m := r.model(&c.base)
	a := r.attention(&c.base)
	a.Sinks = true
	a.Bias, a.OutBias = c.Bias, c.Bias
	r.need("sliding_window", c.Window, maxPositions)
	r.layerKinds("layer_types", c.LayerTypes, c.Layers, "sliding_attention", "full_attention")
	if c.TopK == 0 {
		c.TopK = c.TopKOld
	}
	f := r.experts([3]string{"num_local_experts", "num_experts_per_tok", "intermediate_size"},
		c.Experts, c.TopK, c.Intermediate)
	f.Bias = true
	if r.failed() {
		return nil
	}
	m.fill(c.Layers, func(i int) Layer {
		l := Layer{Attention: a, FFN: f, Norms: 2}
		if c.windowed(i) {
			l.Attention.Window = c.Window
		}
		return l
	})
	return m
}

// windowed reports whether layer i has the sliding window; without a list the
// even layers do.
func (c *gptOss) windowed(i int) bool {
	if len(c.LayerTypes) > 0 {
		return c.LayerTypes[i] == "sliding_attention"
	}
	return i%2 == 0
}
