package model

// parseEXAONE4 reads EXAONE 4 and K-EXAONE: three layers with a window to one
// without, norms behind the parts, queries and keys normed.
func parseEXAONE4(r *reader) *Model {
	m := r.decoder(style{qkNorm: PerHead, routerBias: true, pattern: "LLLG"})
	if m != nil && m.MTP.Layers > 0 {
		m.MTP.Kind = m.Layers[0] // dense, as the first layer
	}
	return m
}
