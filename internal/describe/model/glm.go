package model

// parseGLM5 reads GLM-5, 5.1 and 5.2, which are built like DeepSeek-V3.2.
func parseGLM5(r *reader) *Model { return parseDeepSeek(r, lineage{bias: true, sparse: true}) }

// parseGLM4MoELite reads GLM-4.7-Flash, which is built like DeepSeek-V3.
func parseGLM4MoELite(r *reader) *Model {
	return parseDeepSeek(r, lineage{bias: true})
}

// glm4 is the config of GLM-4.5, 4.6 and 4.7: grouped-query attention with
// DeepSeek's expert layers.
type glm4 struct {
	base
	routed

	Bias    bool `json:"attention_bias"` // on q, k and v only
	QKNorm  bool `json:"use_qk_norm"`
	Predict int  `json:"num_nextn_predict_layers"`
}

// parseGLM4MoE reads GLM-4.5, GLM-4.5-Air, 4.6 and 4.7.
func parseGLM4MoE(r *reader) *Model {
	var c glm4
	if !r.decode(&c) {
		return nil
	}
	m := r.model(&c.base)
	a := r.attention(&c.base)
	a.Bias = c.Bias
	if c.QKNorm {
		a.QKNorm = PerHead
	}
	dense, moe := r.routedFFN(&c.base, &c.routed)
	moe.RouterBias, moe.Groups, moe.GroupTopK = true, 1, 1
	if r.failed() {
		return nil
	}
	m.fill(c.Layers, func(i int) Layer {
		l := Layer{Attention: a, FFN: dense, Norms: 2}
		if c.sparse(i) {
			l.FFN = moe
		}
		return l
	})
	m.predict(r, "num_nextn_predict_layers", c.Predict)
	return m
}
