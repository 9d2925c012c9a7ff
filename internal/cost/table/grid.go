package table

import (
	"cmp"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/cost/op"
)

// nearSites is how many measured sites stand in for one that was not.
const nearSites = 4

// reach is how far beyond the grid, in octaves, the efficiency of its edge is
// believed.
const reach = 2

// point is where a curve is read: a line (the batch; 0 where there is none), the
// position on it, both as base-2 logarithms, and for experts how many rows there are
// and how many experts are active.
type point struct {
	line, x float64
	deal    op.Deal
}

// source is the measurements of one kernel: those of one file that name the same
// kernel source.
type source struct {
	from  string
	sites []*site
}

// site is the measurements at one place, e.g. of one weight matrix.
type site struct {
	place [2]float64
	lines []line
	deal  op.Deal // of experts
}

// line is the measurements of one batch, by size.
type line struct {
	at    float64
	x     []float64
	ratio []float64
}

// at reads the site's curves.
func (s *site) at(p point) answer {
	if s.deal != p.deal {
		return answer{}
	}
	return s.curve(p)
}

// curve reads the site's curves, whatever its deal.
func (s *site) curve(p point) answer {
	n := len(s.lines)
	i := s.line(p.line)
	if i < n && s.lines[i].at == p.line {
		return s.lines[i].read(p.x)
	}
	if i == 0 || i == n {
		edge := min(i, n-1)
		a := s.lines[edge].read(p.x)
		a.over += math.Abs(p.line - s.lines[edge].at)
		a.ok = a.over <= reach
		return a
	}
	lo, hi := &s.lines[i-1], &s.lines[i]
	a, b := lo.read(p.x), hi.read(p.x)
	switch {
	case !b.ok:
		return a
	case !a.ok:
		return b
	}
	w := (p.line - lo.at) / (hi.at - lo.at)
	return answer{ratio: a.ratio + w*(b.ratio-a.ratio), over: max(a.over, b.over), ok: true}
}

// line finds the first line at or behind a position.
func (s *site) line(at float64) int {
	lo, hi := 0, len(s.lines)
	for lo < hi {
		if mid := (lo + hi) / 2; s.lines[mid].at < at {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// read interpolates a line.
func (l *line) read(x float64) answer {
	i, n := 0, len(l.x)
	for hi := n; i < hi; {
		if mid := (i + hi) / 2; l.x[mid] < x {
			i = mid + 1
		} else {
			hi = mid
		}
	}
	switch {
	case i < n && l.x[i] == x:
		return answer{ratio: l.ratio[i], ok: true}
	case i == 0:
		over := l.x[0] - x
		return answer{ratio: l.ratio[0], over: over, ok: over <= reach}
	case i == n:
		over := x - l.x[n-1]
		return answer{ratio: l.ratio[n-1], over: over, ok: over <= reach}
	}
	w := (x - l.x[i-1]) / (l.x[i] - l.x[i-1])
	return answer{ratio: l.ratio[i-1] + w*(l.ratio[i]-l.ratio[i-1]), ok: true}
}

// near finds the sites that answer for a place: that very one, or the nearest
// within apart octaves, weighted by the inverse square of their distance. Of
// experts each deal answers for itself.
func (s *source) near(place [2]float64, apart float64) []blend {
	b := blend{from: s.from}
	var exact []blend
	type candidate struct {
		site *site
		far  float64
	}
	var all []candidate
	for _, c := range s.sites {
		far := math.Hypot(c.place[0]-place[0], c.place[1]-place[1])
		if far <= apart {
			all = append(all, candidate{c, far})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(a.far, b.far) })
	for _, c := range all {
		if c.far == 0 {
			exact = append(exact, blend{from: s.from, sites: [nearSites]*site{c.site}, weight: [nearSites]float64{1}})
		}
	}
	if len(exact) > 0 || len(all) == 0 {
		return exact
	}
	for i, c := range all[:min(len(all), nearSites)] {
		b.sites[i], b.weight[i] = c.site, 1/(c.far*c.far)
	}
	return []blend{b}
}

// row is a measurement on its way into a curve.
type row struct {
	place   [2]float64
	line, x float64
	ratio   float64
	deal    op.Deal
	// estimate is what the ratio is to, in seconds.
	estimate float64
}

// compare orders rows by site, line and position, the fastest first. It stops at
// the first difference: most of the time to read a table goes here.
func (r *row) compare(o *row) int {
	if c := slices.Compare(r.place[:], o.place[:]); c != 0 {
		return c
	}
	if c := compareDeals(r.deal, o.deal); c != 0 {
		return c
	}
	if c := cmp.Compare(r.line, o.line); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(r.x, o.x), cmp.Compare(r.ratio, o.ratio))
}

// curves sorts measurements into sites; of several at one point the fastest
// counts.
func curves(rows []row) []*site {
	slices.SortFunc(rows, func(a, b row) int { return a.compare(&b) })
	var out []*site
	for i := range rows {
		r := &rows[i]
		var before *row
		if i > 0 {
			before = &rows[i-1]
		}
		if before == nil || before.place != r.place || before.deal != r.deal {
			out, before = append(out, &site{place: r.place, deal: r.deal}), nil
		}
		s := out[len(out)-1]
		switch {
		case before == nil || before.line != r.line:
			s.lines = append(s.lines, line{at: r.line})
		case before.x == r.x:
			continue
		}
		l := &s.lines[len(s.lines)-1]
		l.x, l.ratio = append(l.x, r.x), append(l.ratio, r.ratio)
	}
	return out
}

// compareDeals is an order of deals.
func compareDeals(a, b op.Deal) int {
	return cmp.Or(cmp.Compare(a.Experts, b.Experts), cmp.Compare(a.Choice, b.Choice), cmp.Compare(a.Ranks, b.Ranks))
}
