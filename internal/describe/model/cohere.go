package model

// cohereStyle is Command R's: attention and feed-forward part beside each other
// behind one norm, and a tied head.
func cohereStyle() style { return style{parallel: true, norms: 1, tied: true} }

// parseCohere reads Command R, R+ and Aya.
func parseCohere(r *reader) *Model {
	var c decoder
	if !r.respell() || !r.decode(&c) {
		return nil
	}
	s := cohereStyle()
	if c.QKNorm {
		s.qkNorm = PerHead
	}
	return r.build(&c, s)
}

// parseCohere2 reads Command R7B and Command A: three layers with a window to one
// without.
func parseCohere2(r *reader) *Model {
	s := cohereStyle()
	s.pattern = "LLLG"
	return r.decoder(s)
}
