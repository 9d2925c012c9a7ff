package step

import (
	"plimsoll/internal/graph"
	"plimsoll/internal/op"
	"plimsoll/internal/power"
)

// work is what the operators that follow each count move and compute, at one value of it.
type work [op.Counts]power.Activity

// Activity sums up what a step, whose counts are whole, moves and computes on one device
// of each pipeline stage, all stages together. Operators that follow one count of the batch
// are summed up once for each count that occurs, but for those along lines.
func (c *Curve) Activity(s *graph.Sums) power.Activity {
	r := c.enter()
	var sum power.Activity
	for by, n := range s.Counts() {
		c.work(&sum, op.Measure(by), int(n), &r.items)
	}
	r.items = c.graph.AppendVarying(r.items[:0], s)
	for i := range r.items {
		x := power.Of(&r.items[i].Op)
		sum.Add(&x, r.items[i].Count)
	}
	c.room.Store(r)
	return sum
}

// work adds what operators do that follow a count, at n of it. Bytes and operations grow
// along a line where every expert has tokens; elsewhere each count has its own.
func (c *Curve) work(sum *power.Activity, by op.Measure, n int, room *[]op.Item) {
	if n <= 0 {
		return
	}
	if n > exactTo {
		first, width := cellOf(n)
		low, high := &c.workAt(first, room)[by], &c.workAt(first+width, room)[by]
		// An odd count shows what comes in twos, fours and eights.
		within := width/2 + 1
		if middle := &c.workAt(first+within, room)[by]; straight(low, middle, high, float64(within)/float64(width)) {
			share := float64(n-first) / float64(width)
			sum.Add(low, 1-share)
			sum.Add(high, share)
			return
		}
	}
	sum.Add(&c.workAt(n, room)[by], 1)
}

// straight reports whether work lies on the line between two others, at a share of the
// way, up to rounding.
func straight(low, middle, high *power.Activity, share float64) bool {
	for k, m := range middle {
		if off := low[k] + share*(high[k]-low[k]) - m; max(off, -off) > rounding*m {
			return false
		}
	}
	return true
}

// workAt returns the work at a count, remembered or new.
func (c *Curve) workAt(n int, room *[]op.Item) *work {
	return c.works.get(n, func(n int, to *work) {
		*room = appendCounts((*room)[:0], c.graph, n)
		for i := range *room {
			if it := &(*room)[i]; it.Follows < op.Counts {
				x := power.Of(&it.Op)
				to[it.Follows].Add(&x, it.Count)
			}
		}
	})
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
