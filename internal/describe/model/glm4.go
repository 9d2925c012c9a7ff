package model

// parseChatGLM reads ChatGLM 2 and 3 and GLM-4-9B in their own form: half of each
// head is rotated.
func parseChatGLM(r *reader, c *decoder) *Model {
	c.Partial = 0.5
	if present(r.outer.VisionConfig) {
		r.notes = append(r.notes, noTower)
	}
	return r.build(c, nil)
}

// withGLMVision reads the image tower. Its intermediate_size is that of the gated
// projector, the blocks' own is out_hidden_size.
func (r *reader) withGLMVision(m *Model) *Model {
	return r.withQwenVision(m, func(t *tower, v *Vision) {
		merged := v.Hidden * v.merged()
		v.MergerHidden = asWide(merged, t.Out, merged*t.Out+t.Out*t.Out+3*t.Out*t.Intermediate)
		v.Intermediate, v.Bias = t.Out, false
		v.Positions = t.square()
	})
}

// parseGLM4MoE reads GLM-4.5, GLM-4.5-Air, 4.6 and 4.7: grouped-query attention with
// DeepSeek's expert layers.
func parseGLM4MoE(r *reader, c *decoder) *Model {
	return r.build(c, func(_ int, l *Layer) {
		if l.FFN.Kind == MoE {
			l.FFN.Groups, l.FFN.GroupTopK = 1, 1
		}
	})
}
