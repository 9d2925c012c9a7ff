package model

// modules are the names of a layer's matrices in a checkpoint. Quantization notes speak
// in them.
type modules struct {
	Attention matrices
	Latent    matrices // of MLA layers
	Recurrent matrices // of linear-attention and state-space layers
	Dense     matrices
	Experts   matrices
	Shared    matrices
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
		return s.Dense
	case p == expertsPart && l.FFN.Experts > 0:
		return s.Experts
	case p == sharedPart && l.FFN.SharedIntermediate > 0:
		return s.Shared
	case p != attentionPart:
		return nil
	}
	switch l.Attention.Kind {
	case GQA, Cross:
		return s.Attention
	case MLA:
		return s.Latent
	case GatedDelta, Mamba2, Mamba1, ShortConv:
		return s.Recurrent
	case NoAttention:
	}
	return nil
}
