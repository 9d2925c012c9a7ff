package step

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
)

// Evaluator evaluates steps of one graph on one device. It reuses its memory
// from step to step and is not safe for concurrent use.
type Evaluator struct {
	graph  *graph.Graph
	coster cost.Coster
	items  []op.Item
}

// New returns an evaluator.
func New(g *graph.Graph, c cost.Coster) *Evaluator {
	return &Evaluator{graph: g, coster: c}
}

// Graph returns the graph evaluated.
func (e *Evaluator) Graph() *graph.Graph { return e.graph }

// Totals is the time of a step and what it is bound by. Bounds leave launches
// out, so they do not add up to Time.
type Totals struct {
	Time  units.Seconds
	Bound Bounds
	Fixed units.Seconds // launches
	// Measured is the part of Time from kernel tables.
	Measured units.Seconds
}

// Bounds is the time of operators by what bounds them, arithmetic divided
// between the matrix and the vector unit.
type Bounds struct {
	Memory units.Seconds `json:"memory_bound"`
	Comm   units.Seconds `json:"communication_bound"`
	Cube   units.Seconds `json:"compute_bound_mma"`
	Vector units.Seconds `json:"compute_bound_gp"`
}

// Totals evaluates a step without allocating.
func (e *Evaluator) Totals(b graph.Batch) Totals {
	e.items = e.graph.Append(e.items[:0], b)
	var t Totals
	var before units.Seconds
	for i := range e.items {
		it := &e.items[i]
		c := e.coster.Cost(&it.Op)
		t.add(it, c, before)
		before = c.Total
	}
	return t
}

// add counts one operator. before is the time of the one in front, beside
// which it may run.
func (t *Totals) add(it *op.Item, c cost.Estimate, before units.Seconds) {
	n := units.Seconds(it.Count)
	time := alone(it, c.Total, before)
	t.Time += n * time
	t.Fixed += n * c.Fixed
	if c.Measured > 0 {
		t.Measured += n * time * c.Measured / c.Total
	}
	// The order of cost.Estimate.Bound; a free operator adds nothing to memory.
	switch compute := c.Matrix + c.Vector; {
	case c.Comm > 0 && c.Comm >= c.Memory && c.Comm >= compute:
		t.Bound.Comm += n * c.Comm
	case c.Memory >= compute:
		t.Bound.Memory += n * c.Memory
	default:
		t.Bound.Cube += n * c.Matrix
		t.Bound.Vector += n * c.Vector
	}
}

// alone is what of an operator's time nothing runs beside. before is the time of
// the operator in front.
func alone(it *op.Item, time, before units.Seconds) units.Seconds {
	if it.Beside {
		return max(0, time-before)
	}
	return time
}

// Plus adds two sets of bounds.
func (b Bounds) Plus(o Bounds) Bounds {
	return Bounds{b.Memory + o.Memory, b.Comm + o.Comm, b.Cube + o.Cube, b.Vector + o.Vector}
}

// Times multiplies the bounds.
func (b Bounds) Times(n units.Seconds) Bounds {
	return Bounds{b.Memory * n, b.Comm * n, b.Cube * n, b.Vector * n}
}
