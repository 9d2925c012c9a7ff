package model

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
	return r.build(&c.decoder, func(i int, l *Layer) {
		if len(c.Types) > 0 && c.Types[i] == "linear_attention" || len(c.Types) == 0 && i%4 != 3 {
			l.Attention = delta
		}
	})
}
