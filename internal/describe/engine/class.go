package engine

import "github.com/plimsoll-project/plimsoll/internal/describe/model"

// Class sorts models by how many kernels a layer launches.
type Class string

// The classes.
const (
	Dense  Class = "dense"
	MoE    Class = "moe"
	Latent Class = "latent" // latent attention (MLA), with experts or without
	Linear Class = "linear" // recurrent layers: gated delta rule, Mamba, short convolutions
)

// Classify returns the class of a model. One with both recurrent and latent
// layers is Linear.
func Classify(m *model.Model) Class {
	class := Dense
	if m.HasExperts() {
		class = MoE
	}
	for _, k := range m.Kinds {
		switch k.Attention.Kind {
		case model.GatedDelta, model.Mamba2, model.Mamba1, model.ShortConv:
			return Linear
		case model.MLA:
			class = Latent
		case model.GQA, model.Cross, model.NoAttention:
		}
	}
	return class
}
