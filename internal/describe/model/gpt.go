package model

// Decoders in GPT's tradition: no gate in the feed-forward part, which is four
// times as wide as the hidden state, and LayerNorm, whose biases are not counted.

// parseGPTNeoX reads GPT-NeoX and Pythia.
func parseGPTNeoX(r *reader) *Model {
	c := struct {
		decoder

		Parallel bool `json:"use_parallel_residual"`
	}{Parallel: true}
	if !r.decode(&c) {
		return nil
	}
	r.style.Parallel = c.Parallel
	return r.build(&c.decoder, nil)
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
	return r.build(&c.decoder, nil)
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
	r.style.Parallel = c.Parallel
	if c.Newer {
		r.style.Norms = 2
	}
	return r.build(&c.decoder, nil)
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
	if r.style.Parallel = c.Parallel; c.Parallel {
		r.style.Norms = 1
	}
	return r.build(&c.decoder, nil)
}
