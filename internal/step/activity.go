package step

import (
	"plimsoll/internal/graph"
	"plimsoll/internal/op"
	"plimsoll/internal/power"
)

// Activities sums up what steps of any mixture move and compute on one device of
// each pipeline stage, all stages together. Operators that follow one count of the
// batch are summed up once for each count that occurs. It is not safe for
// concurrent use.
type Activities struct {
	graph *graph.Graph
	rows  map[int]*[op.Counts]power.Activity
	items []op.Item
}

// NewActivities prepares those of a graph's steps.
func NewActivities(g *graph.Graph) *Activities {
	return &Activities{graph: g, rows: map[int]*[op.Counts]power.Activity{}}
}

// Of is the work of a step, whose counts are whole.
func (a *Activities) Of(s *graph.Sums) power.Activity {
	var sum power.Activity
	for by, n := range s.Counts() {
		if n > 0 {
			sum.Add(&a.row(int(n))[by], 1)
		}
	}
	a.items = a.graph.AppendVarying(a.items[:0], s)
	for i := range a.items {
		x := power.Of(&a.items[i].Op)
		sum.Add(&x, a.items[i].Count)
	}
	return sum
}

// row is the work of the operators that follow each count, at one value of it.
func (a *Activities) row(n int) *[op.Counts]power.Activity {
	if r, ok := a.rows[n]; ok {
		return r
	}
	r := new([op.Counts]power.Activity)
	segments := [1]graph.Segment{{Requests: n, Query: 1, Seq: 1, Decode: true}}
	a.items = a.graph.Append(a.items[:0], graph.Batch{Segments: segments[:]})
	for i := range a.items {
		if it := &a.items[i]; it.Follows < op.Counts {
			x := power.Of(&it.Op)
			r[it.Follows].Add(&x, it.Count)
		}
	}
	a.rows[n] = r
	return r
}

// Activity is the work of an evaluated step.
func (r *Result) Activity() power.Activity {
	var sum power.Activity
	for i := range r.Items {
		x := power.Of(&r.Items[i].Op)
		sum.Add(&x, r.Items[i].Count)
	}
	return sum
}
