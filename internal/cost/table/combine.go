package table

import (
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/cost/op"
)

// combine makes one curve of what several sources say at a place, for each deal of
// experts: their best answer at every point that any has. Between points that is a
// little more than the best of their interpolations, and is found many times faster.
func combine(blends []blend, from string) []blend {
	var out []blend
	for len(blends) > 0 {
		d := blends[0].deal()
		var same, others []blend
		for _, b := range blends {
			if b.deal() == d {
				same = append(same, b)
			} else {
				others = append(others, b)
			}
		}
		c := combined(same, d)
		c.from = from
		out = append(out, c)
		blends = others
	}
	return out
}

// deal is that of the blend's only site, none if it is not of experts.
func (b *blend) deal() op.Deal { return b.sites[0].deal }

// combined makes one curve of blends of the same deal.
func combined(blends []blend, d op.Deal) blend {
	if len(blends) == 1 && blends[0].sites[1] == nil {
		return blends[0]
	}
	s := &site{place: blends[0].sites[0].place, deal: d}
	for _, at := range lineUnion(blends) {
		l := line{at: at}
		for _, x := range pointUnion(blends, at) {
			p := point{line: at, x: x, deal: d}
			var best answer
			for i := range blends {
				if a := blends[i].at(p); a.better(&best) {
					best = a
				}
			}
			if best.ok {
				l.x, l.ratio = append(l.x, x), append(l.ratio, best.ratio)
			}
		}
		if len(l.x) > 0 {
			s.lines = append(s.lines, l)
		}
	}
	return blend{sites: [nearSites]*site{s}, weight: [nearSites]float64{1}}
}

// lineUnion are the lines that any site has.
func lineUnion(blends []blend) []float64 {
	var out []float64
	eachSite(blends, func(s *site) {
		for i := range s.lines {
			out = append(out, s.lines[i].at)
		}
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// pointUnion are the points of the lines of all sites that answer at a line: that very
// one, or those on both sides of it.
func pointUnion(blends []blend, at float64) []float64 {
	var out []float64
	eachSite(blends, func(s *site) {
		n, i := len(s.lines), s.line(at)
		if i < n {
			out = append(out, s.lines[i].x...)
		}
		if i == n || s.lines[i].at != at && i > 0 {
			out = append(out, s.lines[i-1].x...)
		}
	})
	slices.Sort(out)
	return slices.Compact(out)
}

func eachSite(blends []blend, visit func(*site)) {
	for i := range blends {
		for _, s := range blends[i].sites {
			if s != nil {
				visit(s)
			}
		}
	}
}
