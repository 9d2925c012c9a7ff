package model

// olmoHybrid is the config of OLMo Hybrid: three layers of the gated delta rule to one of
// attention.
type olmoHybrid struct {
	decoder
	linear

	Types []string `json:"layer_types"` // "linear_attention", "full_attention"
}

// parseOLMoHybrid reads OLMo Hybrid.
func parseOLMoHybrid(r *reader, c *olmoHybrid) *Model {
	delta := Attention{Kind: GatedDelta, Recurrent: r.gatedDelta(&c.linear)}
	r.layerKinds("layer_types", c.Types, c.Layers, "linear_attention", "full_attention")
	return r.build(&c.decoder, func(i int, l *Layer) {
		if len(c.Types) > 0 && c.Types[i] == "linear_attention" || len(c.Types) == 0 && i%4 != 3 {
			l.Attention = delta
		}
	})
}
