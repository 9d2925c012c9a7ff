package model

// gpt is the config of decoders in GPT's tradition: no gate in the feed-forward part, which
// is four times as wide as the hidden state, and LayerNorm, whose biases are not counted.
type gpt struct {
	decoder

	Parallel   bool `json:"use_parallel_residual"`
	MultiQuery bool `json:"multi_query"`              // StarCoder, Falcon: one key/value head for all
	Newer      bool `json:"new_decoder_architecture"` // Falcon: groups of heads, a norm for each part
}

// parseGPT reads GPT-NeoX and Pythia, StarCoder, and Falcon 7B, 40B, 180B and Falcon 2.
func parseGPT(r *reader, c *gpt) *Model {
	r.style.Parallel = c.Parallel
	if c.MultiQuery && !c.Newer {
		c.KVHeads = 1
	}
	if c.Newer {
		r.style.Norms = 2
	}
	return r.build(&c.decoder, nil)
}

// parseStableLM reads StableLM 2 and 3B, and Stable Code.
func parseStableLM(r *reader, c *gpt) *Model {
	if c.Parallel {
		r.style.Norms = 1
	}
	return parseGPT(r, c)
}
