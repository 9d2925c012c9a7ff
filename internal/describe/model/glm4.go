package model

// parseGLM4 reads the dense GLM-4 of April 2025, with norms before and behind each
// part. GLM-4-9B before it, in Transformers' form, and GLM-Edge are read as
// parseBiased does.
func parseGLM4(r *reader) *Model { return r.decoder(style{plainOut: true, norms: 4}) }

// parseChatGLM reads ChatGLM 2 and 3 and GLM-4-9B in their own form: half of each
// head is rotated.
func parseChatGLM(r *reader) *Model {
	var c decoder
	if !r.decode(&c) {
		return nil
	}
	c.Partial = 0.5
	if present(r.outer.VisionConfig) {
		r.notes = append(r.notes, noTower)
	}
	return r.build(&c, style{plainOut: true})
}

// parseGLM4V reads GLM-4.1V and GLM-4.6V-Flash.
func parseGLM4V(r *reader) *Model { return r.withGLMVision(parseGLM4(r)) }

// parseGLM4VMoE reads GLM-4.5V and 4.6V.
func parseGLM4VMoE(r *reader) *Model { return r.withGLMVision(parseGLM4MoE(r)) }

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
