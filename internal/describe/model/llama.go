package model

// parseQwenV1 reads the first Qwen, whose intermediate_size is that of gate and up
// together.
func parseQwenV1(r *reader, c *decoder) *Model {
	c.Intermediate /= 2
	return r.build(c, nil)
}

// parseMiniCPM3 reads MiniCPM 3: latent attention without experts.
func parseMiniCPM3(r *reader, c *decoder) *Model {
	if c.Value == 0 && c.Heads > 0 {
		c.Value = c.Hidden / c.Heads
	}
	return r.build(c, nil)
}

// parsePhi3V reads Phi-3-vision and Phi-3.5-vision. Their configs name the image
// tower, CLIP ViT-L/14 for images of 336 pixels, without its sizes.
func parsePhi3V(r *reader) *Model {
	m := r.decoder()
	if m != nil {
		t := tower{Layers: 24, Hidden: 1024, Intermediate: 4096, Heads: 16, Patch: 14, Image: 336}
		m.Vision = t.vision(2, m.Hidden)
		m.Vision.MergerHidden = m.Hidden
	}
	return m
}

// parseEXAONE4 reads EXAONE 4 and K-EXAONE: three layers with a window to one
// without, norms behind the parts, queries and keys normed.
func parseEXAONE4(r *reader) *Model {
	m := r.decoder()
	if m != nil && m.MTP.Layers > 0 {
		m.MTP.Kind = m.Layers[0] // dense, as the first layer
	}
	return m
}
