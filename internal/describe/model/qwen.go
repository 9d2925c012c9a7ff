package model

import "slices"

// qwen2Style is Qwen2's: a bias on q, k and v, and a window only where the config
// turns it on.
func qwen2Style() style { return style{bias: true, plainOut: true, noWindow: true} }

// qwen3Style is Qwen3's: normed queries and keys instead of the bias.
func qwen3Style() style { return style{qkNorm: PerHead, noWindow: true} }

// withExperts adds Qwen's expert layers, whose shared expert may have a gate.
func (s style) withExperts(sharedGate bool) style {
	s.experts, s.ownWidth, s.sharedGate = true, true, sharedGate
	return s
}

func parseQwen2(r *reader) *Model { return r.decoder(qwen2Style()) }

func parseQwen2MoE(r *reader) *Model { return r.decoder(qwen2Style().withExperts(true)) }

func parseQwen3(r *reader) *Model { return r.decoder(qwen3Style()) }

func parseQwen3MoE(r *reader) *Model { return r.decoder(qwen3Style().withExperts(false)) }

// layerKinds checks a list of layer types against those a family knows.
func (r *reader) layerKinds(field string, types []string, layers int, known ...string) {
	r.listLength(field, len(types), layers, 0)
	for i, t := range types {
		if !slices.Contains(known, t) {
			r.addf(field, "entry %d: %s is not one of %v", i, quoted(t), known)
			return
		}
	}
}
