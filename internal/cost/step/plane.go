package step

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
)

// plane is the time of the operators that select rows and move token ids. They are
// traffic alone, which grows in proportion to each of three numbers: requests, rows that
// want logits beyond one for each request, and tokens beyond those rows.
type plane struct {
	flat  bool
	least Times // at none of them
	each  [op.Counts]Times
}

// selections adds the operators that follow several counts: along a plane, or one by one.
func (c *Curve) selections(t *Times, counts [op.Counts]float64, room *[]op.Item) {
	n := [op.Counts]float64{
		counts[op.Requests], counts[op.Logits] - counts[op.Requests], counts[op.Tokens] - counts[op.Logits],
	}
	kind := 0 // some operators are there only where there are such rows and tokens
	if n[1] > 0 {
		kind++
	}
	if n[2] > 0 {
		kind += 2
	}
	p := c.planes[kind].Load()
	if p == nil {
		p = c.plane(kind, room)
		c.planes[kind].Store(p)
	}
	if !p.flat {
		c.selected(t, n, room)
		return
	}
	p.at(t, n)
}

// at adds the time at a point.
func (p *plane) at(t *Times, n [op.Counts]float64) {
	t.add(&p.least, 1)
	for i := range n {
		t.add(&p.each[i], units.Seconds(n[i]))
	}
}

// selected adds the operators at a point one by one.
func (c *Curve) selected(t *Times, n [op.Counts]float64, room *[]op.Item) {
	*room = c.graph.AppendSelections((*room)[:0], [op.Counts]float64{
		op.Requests: n[0], op.Logits: n[0] + n[1], op.Tokens: n[0] + n[1] + n[2],
	})
	c.sum(t, *room)
}

// plane prices steps of a kind at a point and at one beside it in each direction, and
// looks whether two far from there are on the plane.
func (c *Curve) plane(kind int, room *[]op.Item) *plane {
	at := func(n [op.Counts]float64) (t Times) {
		c.selected(&t, ofKind(kind, n), room)
		return t
	}
	const near = 256
	from := [op.Counts]float64{near, near, near}
	here := at(from)
	p := &plane{least: here}
	for i := range from {
		to := from
		to[i] += near
		more := at(to)
		more.add(&here, -1)
		p.each[i].add(&more, 1./near)
		p.least.add(&more, -1)
	}
	meets := func(n [op.Counts]float64) bool {
		var t Times
		p.at(&t, ofKind(kind, n))
		for k, want := range at(n) {
			if off := t[k] - want; max(off, -off) > rounding*want {
				return false
			}
		}
		return true
	}
	p.flat = meets([op.Counts]float64{1, 1, 1}) && meets([op.Counts]float64{100, 3000, 20000})
	return p
}

// ofKind is a point without the rows and tokens that a kind of steps has none of.
func ofKind(kind int, n [op.Counts]float64) [op.Counts]float64 {
	n[1] *= float64(kind & 1)
	n[2] *= float64(kind >> 1)
	return n
}
