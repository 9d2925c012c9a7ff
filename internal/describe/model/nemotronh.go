package model

// nemotronH is the config of Nemotron-H, Nemotron Nano 2 and Nemotron 3: each
// layer holds one part only, a Mamba-2 mixer, attention, an MLP or experts.
type nemotronH struct {
	base
	mamba
	routed

	// One letter a layer: M mamba, * attention, - MLP, E experts. Newer configs
	// write words instead.
	Pattern    string   `json:"hybrid_override_pattern"`
	BlockTypes []string `json:"layers_block_type"` // "mamba", "attention", "mlp", "moe"
	Bias       bool     `json:"attention_bias"`
	MLPBias    bool     `json:"mlp_bias"`

	CacheFormat string `json:"mamba_ssm_cache_dtype"`
	SharedWidth int    `json:"shared_expert_intermediate_size"`
	Latent      int    `json:"moe_latent_size"`

	Predict        int      `json:"num_nextn_predict_layers"`
	PredictPattern string   `json:"mtp_hybrid_override_pattern"`
	PredictTypes   []string `json:"mtp_layers_block_type"`
}

// parseNemotronH reads Nemotron-H and its successors.
func parseNemotronH(r *reader, c *nemotronH) *Model {
	pattern := r.blockPattern("hybrid_override_pattern", c.Pattern, c.BlockTypes)
	if c.Layers == 0 { // Nemotron 3 Ultra states the list alone
		c.Layers = len(pattern)
	}
	m := r.model(&c.base)
	r.need("hybrid_override_pattern", len(pattern), maxLayers)
	r.listLength("hybrid_override_pattern", len(pattern), c.Layers, 0)
	predict := r.blockPattern("mtp_hybrid_override_pattern", c.PredictPattern, c.PredictTypes)
	parts := r.nemotronParts(c, pattern+predict)
	if r.failed() {
		return nil
	}
	m.fill(c.Layers, func(i int) Layer { return parts[pattern[i]] })
	m.predict(r, c.Predict)
	if m.MTP.Layers > 0 && predict != "" {
		m.MTP.Kind = m.kind(joined(parts, predict))
	}
	return m
}

// blockPattern brings both spellings to letters.
func (r *reader) blockPattern(field, letters string, words []string) string {
	if letters == "" {
		b := make([]byte, 0, len(words))
		for i, w := range words {
			letter, ok := map[string]byte{"mamba": 'M', "attention": '*', "mlp": '-', "moe": 'E'}[w]
			if !ok {
				r.addf("layers_block_type", "entry %d: %s is not mamba, attention, mlp or moe", i, quoted(w))
				return ""
			}
			b = append(b, letter)
		}
		letters = string(b)
	}
	for i := range len(letters) {
		switch letters[i] {
		case 'M', '*', '-', 'E':
		default:
			r.addf(field, "letter %d: %q is not M, *, - or E", i, letters[i:i+1])
			return ""
		}
	}
	return letters
}

// nemotronParts checks and returns the layer of each letter in use.
func (r *reader) nemotronParts(c *nemotronH, used string) map[byte]Layer {
	parts := map[byte]Layer{}
	for i := range len(used) {
		letter := used[i]
		if _, ok := parts[letter]; ok {
			continue
		}
		l := Layer{Norms: 1}
		switch letter {
		case 'M':
			l.Attention = r.mamba2(&c.base, &c.mamba)
			l.Attention.Recurrent.StateFormat = r.stateFormat("mamba_ssm_cache_dtype", c.CacheFormat)
		case '*':
			l.Attention = r.attention(&c.base)
			l.Attention.Bias, l.Attention.OutBias = c.Bias, c.Bias
		case '-':
			l.FFN = r.dense(c.Intermediate)
			l.FFN.Ungated, l.FFN.Bias = true, c.MLPBias
		case 'E':
			l.FFN = r.nemotronExperts(c)
		}
		parts[letter] = l
	}
	return parts
}

func (r *reader) nemotronExperts(c *nemotronH) FFN {
	f := r.experts([3]string{"n_routed_experts", "num_experts_per_tok", "moe_intermediate_size"},
		c.Experts, c.TopK, c.ExpertWidth)
	r.may("shared_expert_intermediate_size", c.SharedWidth, maxIntermediate)
	r.may("n_shared_experts", c.Shared, maxPatch)
	r.may("moe_latent_size", c.Latent, maxHidden)
	f.Ungated, f.Bias = true, c.MLPBias
	f.SharedIntermediate = max(c.Shared, 1) * c.SharedWidth
	f.Latent = c.Latent
	f.RouterBias, f.Router = true, RawRouter
	return f
}

// joined is a MTP module's layer: the parts its pattern names, together.
func joined(parts map[byte]Layer, pattern string) Layer {
	var l Layer
	for i := range len(pattern) {
		p := parts[pattern[i]]
		if p.Attention.Kind != NoAttention {
			l.Attention = p.Attention
		}
		if p.FFN.Kind != NoFFN {
			l.FFN = p.FFN
		}
		l.Norms += p.Norms
	}
	return l
}
