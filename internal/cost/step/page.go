package step

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
)

// stretch is the times of steps that only decode and agree in everything but the mean
// context, which lies within some pages of the cache. Operators read whole pages, so
// times mostly lie on a line from one end of a page to the other, and lines of
// neighbouring pages on a plane.
type stretch struct {
	requests, tokens float64 // of the step
	number           float64 // of the first page, from 1
	pages            float64
	straight         bool
	paged            bool  // at least its first page is straight
	first            Times // at the first token of the first page, …
	each, more       Times // … and for each token and each page more
}

// chapter is the pages that are first tried together: a thousand tokens, for contexts
// that come and go around a steady state.
const chapter = 64

// decode prices a step without prompts: along a chapter, a page, or operator by operator.
func (c *Curve) decode(s *graph.Sums) Times {
	d, size := &s.Decode, c.graph.Spec().PageTokens()
	seq := d.Context / d.Requests
	page := math.Ceil(seq / size)
	p := c.stretch(d, 1+chapter*math.Floor((page-1)/chapter), chapter, size)
	if !p.straight && p.paged {
		p = c.stretch(d, page, 1, size)
	}
	if !p.straight {
		return c.exactly(s)
	}
	t := p.first
	t.add(&p.each, units.Seconds(seq-(p.number-1)*size-1))
	t.add(&p.more, units.Seconds(page-p.number))
	return t
}

// stretch is that of some pages, remembered or new.
func (c *Curve) stretch(d *op.Span, number, pages, size float64) *stretch {
	slot := &c.pages[spread(uint64(d.Requests)<<32+uint64(number)<<8+uint64(pages), len(c.pages))]
	p := slot.Load()
	if p == nil || p.requests != d.Requests || p.tokens != d.Tokens || p.number != number || p.pages != pages {
		p = &stretch{requests: d.Requests, tokens: d.Tokens, number: number, pages: pages}
		p.straight = size > 1 && c.along(p, size)
		slot.Store(p)
	}
	return p
}

// rounding is how far a point may be off a line, as a share, and count as on it.
const rounding = 1e-12

// along prices both ends of the first and of the last page, and reports whether one end
// and a point within are where the others say. The point is no whole token: some operators
// read whole tokens.
func (c *Curve) along(p *stretch, size float64) bool {
	at := func(page, within float64) Times {
		return c.exactly(&graph.Sums{Decode: op.Equal(p.requests, p.tokens/p.requests, (page-1)*size+1+within*(size-1))})
	}
	meets := func(page, within float64) bool {
		for i, t := range at(page, within) {
			tokens, pages := units.Seconds((page-p.number)*size+within*(size-1)), units.Seconds(page-p.number)
			off := p.first[i] + p.each[i]*tokens + p.more[i]*pages - t
			if max(off, -off) > rounding*t {
				return false
			}
		}
		return true
	}
	const between = 0.62
	p.first = at(p.number, 0)
	for i, t := range at(p.number, 1) {
		p.each[i] = (t - p.first[i]) / units.Seconds(size-1)
	}
	p.paged = meets(p.number, between)
	if !p.paged || p.pages == 1 {
		return p.paged
	}
	final := p.number + p.pages - 1
	middle := p.number + math.Floor(between*p.pages)
	for i, t := range at(final, 0) {
		pages := units.Seconds(p.pages - 1)
		p.more[i] = (t-p.first[i])/pages - p.each[i]*units.Seconds(size)
	}
	return meets(final, 1) && meets(middle, between)
}
