package model

// cohereStyle is Command R's: attention and feed-forward part beside each other
// behind one norm, and a tied head.
func cohereStyle() style { return style{parallel: true, norms: 1, tied: true} }

// parseCohere reads Command R, R+ and Aya.
func parseCohere(r *reader) *Model {
	s := cohereStyle()
	s.qkNorm, s.qkNormSaid = PerHead, true
	return r.decoder(s)
}

// parseCohere2 reads Command R7B and Command A: three layers with a window to one
// without.
func parseCohere2(r *reader) *Model {
	s := cohereStyle()
	s.pattern = "LLLG"
	return r.decoder(s)
}
