package model

// Decoders in GPT's tradition: no gate in the feed-forward part, which is four
// times as wide as the hidden state, and LayerNorm, whose biases are not counted.

// gptStyle is GPT-2's: biases everywhere, positions learned, a tied head.
func gptStyle() style {
	return style{
		bias: true, outBias: true, mlpBias: true, ungated: true, fourfold: true, unrotated: true, learned: true, tied: true,
	}
}

// parseGPT2 reads GPT-2 and OPT.
func parseGPT2(r *reader) *Model { return r.decoder(gptStyle()) }

// parseGPTNeo reads GPT-Neo: a window in every second layer, no bias on q, k and v.
func parseGPTNeo(r *reader) *Model {
	s := gptStyle()
	s.bias, s.pattern = false, "GL"
	return r.decoder(s)
}

// parseBLOOM reads BLOOM, whose attention has a bias by distance instead of
// positions.
func parseBLOOM(r *reader) *Model {
	s := gptStyle()
	s.learned = false
	return r.decoder(s)
}

// parseGPTNeoX reads GPT-NeoX and Pythia.
func parseGPTNeoX(r *reader) *Model {
	c := struct {
		decoder

		Parallel bool `json:"use_parallel_residual"`
	}{Parallel: true}
	if !r.decode(&c) {
		return nil
	}
	return r.build(&c.decoder, style{
		bias: true, outBias: true, mlpBias: true, ungated: true, fourfold: true, parallel: c.Parallel,
	})
}

// parseBigCode reads StarCoder: one key/value head for all.
func parseBigCode(r *reader) *Model {
	var c struct {
		decoder

		MultiQuery bool `json:"multi_query"`
	}
	if !r.decode(&c) {
		return nil
	}
	if c.MultiQuery {
		c.KVHeads = 1
	}
	return r.build(&c.decoder, gptStyle())
}

// parseFalcon reads Falcon 7B, 40B, 180B and Falcon 2.
func parseFalcon(r *reader) *Model {
	c := struct {
		decoder

		MultiQuery bool `json:"multi_query"`
		Parallel   bool `json:"parallel_attn"`
		Newer      bool `json:"new_decoder_architecture"` // groups of heads, a norm for each part
	}{Parallel: true}
	if !r.decode(&c) {
		return nil
	}
	if c.MultiQuery && !c.Newer {
		c.KVHeads = 1
	}
	if c.MaxPosition == 0 {
		c.MaxPosition = 2048 // the class's default, which the published configs leave out
	}
	s := style{parallel: c.Parallel, ungated: true, fourfold: true, tied: true, norms: 1}
	if c.Newer {
		s.norms = 2
	}
	return r.build(&c.decoder, s)
}

// parseStableLM reads StableLM 2 and 3B, and Stable Code.
func parseStableLM(r *reader) *Model {
	var c struct {
		decoder

		Parallel bool `json:"use_parallel_residual"`
	}
	if !r.decode(&c) {
		return nil
	}
	s := style{plainOut: true, qkNorm: PerHead, qkNormSaid: true, parallel: c.Parallel}
	if c.Parallel {
		s.norms = 1
	}
	return r.build(&c.decoder, s)
}
