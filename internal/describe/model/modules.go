package model

// modules are the names of a layer's matrices in a checkpoint, after
// "layers.N.". Quantization notes speak in them.
type modules struct {
	attention []string
	latent    []string // of MLA layers
	recurrent []string // of linear-attention and state-space layers
	dense     []string
	experts   []string
	shared    []string
}

// inside puts a module's path before the names of its matrices.
func inside(path string, names ...string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = path + "." + n
	}
	return out
}

// selfAttnModules is the usual naming.
func selfAttnModules() modules {
	return modules{
		attention: inside("self_attn", "q_proj", "k_proj", "v_proj", "o_proj"),
		latent:    inside("self_attn", "q_a_proj", "q_b_proj", "kv_a_proj_with_mqa", "kv_b_proj", "o_proj"),
		recurrent: inside("linear_attn", "in_proj_qkv", "in_proj_z", "out_proj"),
		dense:     inside("mlp", "gate_proj", "up_proj", "down_proj"),
		experts:   inside("mlp.experts.0", "gate_proj", "up_proj", "down_proj"),
		shared:    inside("mlp.shared_experts", "gate_proj", "up_proj", "down_proj"),
	}
}

// blockSparseModules is Mixtral's naming, taken over by MiniMax and Kimi K3.
func blockSparseModules() modules {
	m := selfAttnModules()
	m.recurrent = m.attention
	m.experts = inside("block_sparse_moe.experts.0", "w1", "w2", "w3")
	m.shared = inside("block_sparse_moe.shared_experts", "gate_proj", "up_proj", "down_proj")
	return m
}

// feedForwardModules is Llama 4's naming.
func feedForwardModules() modules {
	m := selfAttnModules()
	m.dense = inside("feed_forward", "gate_proj", "up_proj", "down_proj")
	m.experts = inside("feed_forward.experts", "gate_up_proj", "down_proj")
	m.shared = inside("feed_forward.shared_expert", "gate_proj", "up_proj", "down_proj")
	return m
}

// gemma4Modules is Gemma 4's naming: the experts stand beside the dense part.
func gemma4Modules() modules {
	m := selfAttnModules()
	m.experts = inside("experts.0", "gate_proj", "up_proj", "down_proj")
	return m
}

// attnFFNModules is DeepSeek-V4's own naming.
func attnFFNModules() modules {
	return modules{
		latent:  inside("attn", "wq_a", "wq_b", "wkv", "wo_a", "wo_b"),
		experts: inside("ffn.experts.0", "w1", "w2", "w3"),
		shared:  inside("ffn.shared_experts", "w1", "w2", "w3"),
	}
}

// mixerModules is Nemotron-H's naming: every layer's part is its mixer.
func mixerModules() modules {
	return modules{
		attention: inside("mixer", "q_proj", "k_proj", "v_proj", "o_proj"),
		recurrent: inside("mixer", "in_proj", "out_proj"),
		dense:     inside("mixer", "up_proj", "down_proj"),
		experts:   inside("mixer.experts.0", "up_proj", "down_proj"),
		shared:    inside("mixer.shared_experts", "up_proj", "down_proj"),
	}
}

// part names a part of the model that is quantized as one.
type part uint8

const (
	attentionPart part = iota
	densePart
	expertsPart
	sharedPart
)

// String is the part's name in notes.
func (p part) String() string {
	return [...]string{"attention", "dense", "routed-expert", "shared-expert"}[p]
}

// of returns the names of one part's matrices in a layer, nil if it has no such
// part.
func (s *modules) of(p part, l *Layer) []string {
	switch {
	case p == densePart && l.FFN.Intermediate > 0:
		return s.dense
	case p == expertsPart && l.FFN.Experts > 0:
		return s.experts
	case p == sharedPart && l.FFN.SharedIntermediate > 0:
		return s.shared
	case p != attentionPart:
		return nil
	}
	switch l.Attention.Kind {
	case GQA, Cross:
		return s.attention
	case MLA:
		return s.latent
	case GatedDelta, Mamba2, Mamba1, ShortConv:
		return s.recurrent
	case NoAttention:
	}
	return nil
}
