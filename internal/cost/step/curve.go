package step

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
)

// Curve prices steps of any mixture quickly, as an Evaluator does for a batch of
// equal requests. Operators that follow one count of the batch are priced once
// for each count that occurs, and beyond small counts along straight lines
// between some; the others are priced in every step, or along a line while
// the context grows within a page of the cache. It is safe for concurrent use:
// what it remembers never changes an answer.
type Curve struct {
	graph  *graph.Graph
	coster cost.Coster
	*known
}

// known is what a curve remembers, for all that share it.
type known struct {
	rows   slots[row]
	cells  slots[cell]
	pages  []atomic.Pointer[stretch]
	works  slots[work]
	planes [4]atomic.Pointer[plane] // by the kind of step
	rooms  sync.Pool                // of *room
	whole  whole
}

// Fork is the same curve for another user: what is priced once for a count is shared,
// and neither waits for the other.
func (c *Curve) Fork() *Curve {
	return &Curve{graph: c.graph, coster: c.coster, known: c.known}
}

// Graph is the graph whose steps are priced.
func (c *Curve) Graph() *graph.Graph { return c.graph }

// room is where operators are written, and what is known of decode steps: consecutive
// ones mostly differ in their contexts alone.
type room struct {
	items  []op.Item
	decode [decodeSlots]decodeStep
}

// decodeStep is what does not depend on contexts in a step that only decodes.
type decodeStep struct {
	counts   [op.Counts]float64
	followed Times // by operators that follow counts
}

// row is the time of the operators that follow each count, at one value of it.
type row struct {
	by  [op.Counts]Times
	all [op.Counts]units.Seconds // each of by, summed up
}

// cell is a stretch of counts: the times at its ends and in its middle, and whether
// the middle is off the line between the ends.
type cell struct {
	low, middle, high [op.Counts]Times
	bent              [op.Counts]bool
}

// A curve remembers as many rows as decode batches of 1 to 256 and the ends of lines
// around the prompts of a workload, and as many pages as batches have that grow and
// shrink around a steady state.
const (
	rowBits, cellBits, pageBits, workBits = 9, 8, 9, 9
	// decodeSlots are for batches of different sizes.
	decodeSlots = 64
)

// NewCurve prepares the prices of a graph's steps on a device.
func NewCurve(g *graph.Graph, c cost.Coster) *Curve {
	return &Curve{graph: g, coster: c, known: &known{
		rows: newSlots[row](rowBits), cells: newSlots[cell](cellBits), pages: make([]atomic.Pointer[stretch], 1<<pageBits),
		works: newSlots[work](workBits),
	}}
}

// Times prices a step, whose counts are whole and whose decodes have queries of one
// length. It allocates only for counts and pages it has not seen.
func (c *Curve) Times(s *graph.Sums) Times {
	if s.Prefill.Requests > 0 {
		return c.exactly(s)
	}
	return c.decode(s)
}

// enter takes a room that nobody is in.
func (c *Curve) enter() *room {
	if r, ok := c.rooms.Get().(*room); ok {
		return r
	}
	return new(room)
}

// exactly prices a step operator by operator.
func (c *Curve) exactly(s *graph.Sums) Times {
	r := c.enter()
	counts := s.Counts()
	decodes := s.Prefill.Requests == 0
	d := &r.decode[int(counts[op.Requests])%decodeSlots]
	var t Times
	if decodes && d.counts == counts {
		t = d.followed
	} else {
		for by, n := range counts {
			c.count(&t, op.Measure(by), int(n), &r.items)
		}
		c.selections(&t, counts, &r.items)
		if decodes {
			d.counts, d.followed = counts, t
		}
	}
	r.items = c.graph.AppendRecalls(r.items[:0], s)
	c.sum(&t, r.items)
	c.rooms.Put(r)
	return t
}

// sum adds the prices of operators.
func (c *Curve) sum(t *Times, items []op.Item) {
	for i := range items {
		it := &items[i]
		t[part(it)] += units.Seconds(it.Count) * c.coster.Cost(&it.Op).Total
	}
}

// exactTo is the count up to which each is priced itself: here it shows that
// tokens, tiles and experts come whole. Beyond it an octave has eight cells.
const exactTo = 256

// bend is how far, as a share of the whole, the middle of a cell may be off the
// line between its ends for the two halves to count as straight. A jump of
// twice that inside the cell would move the middle so far.
const bend = 0.0025

// count adds the operators that follow a count, at n of it.
func (c *Curve) count(t *Times, by op.Measure, n int, room *[]op.Item) {
	if n <= exactTo {
		if n > 0 {
			t.add(&c.row(n, room).by[by], 1)
		}
		return
	}
	first, width := cellOf(n)
	at := c.cells.get(first, func(n int, to *cell) { c.cell(n, to, room) })
	if at.bent[by] {
		t.add(&c.row(n, room).by[by], 1)
		return
	}
	low, high, from := &at.low[by], &at.middle[by], first
	if n >= first+width/2 {
		low, high, from = high, &at.high[by], first+width/2
	}
	share := units.Seconds(n-from) / units.Seconds(width/2)
	t.add(low, 1-share)
	t.add(high, share)
}

// cellOf is the cell of a count above exactTo.
func cellOf(n int) (first, width int) {
	width = 1 << (bits.Len(uint(n)) - 4)
	return n &^ (width - 1), width
}

// cell prices the ends and the middle of the cell that begins at a count.
func (c *Curve) cell(first int, to *cell, room *[]op.Item) {
	_, width := cellOf(first)
	low, middle, high := c.row(first, room), c.row(first+width/2, room), c.row(first+width, room)
	to.low, to.middle, to.high = low.by, middle.by, high.by
	for by := range to.bent {
		off := low.all[by] + high.all[by] - 2*middle.all[by]
		to.bent[by] = max(off, -off) > 2*bend*middle.all[by]
	}
}

// row returns the prices at a count, remembered or new.
func (c *Curve) row(n int, room *[]op.Item) *row {
	return c.rows.get(n, func(n int, to *row) { c.price(n, to, room) })
}

// price evaluates a step in which all counts are n.
func (c *Curve) price(n int, r *row, room *[]op.Item) {
	*room = appendCounts((*room)[:0], c.graph, n)
	var before units.Seconds
	for i := range *room {
		it := &(*room)[i]
		if it.Follows >= op.Counts {
			continue
		}
		time := c.coster.Cost(&it.Op).Total
		sum := units.Seconds(it.Count) * alone(it, time, before)
		r.by[it.Follows][part(it)] += sum
		r.all[it.Follows] += sum
		before = time
	}
}

// appendCounts appends the operators of a step in which all counts are n.
func appendCounts(dst []op.Item, g *graph.Graph, n int) []op.Item {
	segments := [1]graph.Segment{{Requests: n, Query: 1, Seq: 1, Decode: true}}
	return g.Append(dst, graph.Batch{Segments: segments[:]})
}
