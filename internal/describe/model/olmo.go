package model

// parseOLMo2 reads OLMo 2 and OLMoE: queries and keys are normed over all heads.
// OLMo 2 has its norms behind the parts instead of before them.
func parseOLMo2(r *reader) *Model { return r.decoder(style{qkNorm: WholeVector}) }

// parseOLMoHybrid reads OLMo Hybrid: three layers of the gated delta rule to one of
// attention.
func parseOLMoHybrid(r *reader) *Model {
	var c struct {
		decoder
		linear

		Types []string `json:"layer_types"` // "linear_attention", "full_attention"
	}
	if !r.decode(&c) {
		return nil
	}
	delta := Attention{Kind: GatedDelta, Recurrent: r.gatedDelta(&c.linear)}
	r.layerKinds("layer_types", c.Types, c.Layers, "linear_attention", "full_attention")
	return r.build(&c.decoder, style{qkNorm: WholeVector, layer: func(i int, l *Layer) {
		if len(c.Types) > 0 && c.Types[i] == "linear_attention" || len(c.Types) == 0 && i%4 != 3 {
			l.Attention = delta
		}
	}})
}
