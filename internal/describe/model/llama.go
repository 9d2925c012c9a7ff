package model

// parseLlama reads Llama 2 and 3 and everything built like them.
func parseLlama(r *reader) *Model { return r.decoder(style{}) }

// parseBiased reads what is built like Llama but has a bias on q, k and v alone,
// where attention_bias says so.
func parseBiased(r *reader) *Model { return r.decoder(style{plainOut: true}) }

// parseUngated reads what is built like Llama but has no gate in its feed-forward
// part: Arcee's AFM, Nemotron-4 and Minitron.
func parseUngated(r *reader) *Model { return r.decoder(style{ungated: true}) }

// parseNormed reads what is built like Llama but norms each head's queries and
// keys: Hunyuan, dots.llm1, Ling 2.
func parseNormed(r *reader) *Model {
	return r.decoder(style{qkNorm: PerHead, plainOut: true, routerBias: true})
}

// parseSandwiched reads what is built like Llama but has norms before and behind
// each part: Grok-1, HyperCLOVA X.
func parseSandwiched(r *reader) *Model { return r.decoder(style{norms: 4}) }

// parseQwenV1 reads the first Qwen, whose intermediate_size is that of gate and up
// together.
func parseQwenV1(r *reader) *Model {
	var c decoder
	if !r.decode(&c) {
		return nil
	}
	c.Intermediate /= 2
	return r.build(&c, style{bias: true})
}

// parseMiniCPM3 reads MiniCPM 3: latent attention without experts.
func parseMiniCPM3(r *reader) *Model {
	var c decoder
	if !r.decode(&c) {
		return nil
	}
	if c.Value == 0 && c.Heads > 0 {
		c.Value = c.Hidden / c.Heads
	}
	return r.build(&c, style{tied: true})
}

// parseERNIE reads ERNIE 4.5, dense and with experts.
func parseERNIE(r *reader) *Model { return r.decoder(style{tied: true, routerBias: true}) }

// parsePhi3V reads Phi-3-vision and Phi-3.5-vision. Their configs name the image
// tower, CLIP ViT-L/14 for images of 336 pixels, without its sizes.
func parsePhi3V(r *reader) *Model {
	m := parseLlama(r)
	if m != nil {
		t := tower{Layers: 24, Hidden: 1024, Intermediate: 4096, Heads: 16, Patch: 14, Image: 336}
		m.Vision = t.vision(2, m.Hidden)
		m.Vision.MergerHidden = m.Hidden
	}
	return m
}

// parsePhi4MM reads Phi-4-multimodal.
func parsePhi4MM(r *reader) *Model {
	r.outer.VisionConfig = nil
	r.notes = append(r.notes, "The vision and audio towers and their adapters are not modelled.")
	return parseLlama(r)
}
