package step

import (
	"math"

	"plimsoll/internal/graph"
	"plimsoll/internal/op"
	"plimsoll/internal/units"
)

// page is the times of steps that only decode and agree in everything but the mean
// context, which lies within one page of the cache. Operators read whole pages, so from
// one end to the other times mostly lie on a line.
type page struct {
	requests, tokens float64 // of the step
	number           float64 // from 1
	straight         bool
	first, each      Times // at the first token of the page, and for each more
}

// decode prices a step without prompts.
func (c *Curve) decode(s *graph.Sums) Times {
	d, size := &s.Decode, c.graph.Spec().PageTokens()
	seq := d.Context / d.Requests
	number := math.Ceil(seq / size)
	slot := &c.pages[spread(uint64(d.Requests)<<32+uint64(number), len(c.pages))]
	p := slot.Load()
	if p == nil || p.requests != d.Requests || p.tokens != d.Tokens || p.number != number {
		p = c.page(d, number, size)
		slot.Store(p)
	}
	if !p.straight {
		return c.exactly(s)
	}
	t := p.first
	t.add(&p.each, units.Seconds(seq-(number-1)*size-1))
	return t
}

// rounding is how far a point may be off a line, as a share, and count as on it.
const rounding = 1e-12

// page prices both ends of a page, and a point between them to see whether the line
// meets it. The point is no whole token: some operators read whole tokens.
func (c *Curve) page(d *op.Span, number, size float64) *page {
	at := func(seq float64) Times {
		return c.exactly(&graph.Sums{Decode: op.Equal(d.Requests, d.Tokens/d.Requests, seq)})
	}
	const between = 0.62
	low, width := (number-1)*size+1, size-1
	p := &page{requests: d.Requests, tokens: d.Tokens, number: number, straight: width > 0, first: at(low)}
	last, middle := at(low+width), at(low+between*width)
	for i, t := range middle {
		p.each[i] = (last[i] - p.first[i]) / units.Seconds(width)
		off := p.first[i] + p.each[i]*units.Seconds(between*width) - t
		p.straight = p.straight && max(off, -off) <= rounding*t
	}
	return p
}
