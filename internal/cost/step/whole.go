package step

import (
	"sync"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
)

// Kernels is how many a decode step launches.
func (c *Curve) Kernels() int {
	c.whole.once.Do(c.measure)
	return c.whole.kernels
}

// whole is what all batches of a graph have in common.
type whole struct {
	once            sync.Once
	kernels         int
	fixed, perToken units.Seconds // of sending a batch on
}

// measure finds what all batches have in common.
func (c *Curve) measure() {
	w, n := &c.whole, 0.0
	items := c.graph.Append(nil, graph.Batch{Segments: []graph.Segment{{Requests: 1, Query: 1, Seq: 2, Decode: true}}})
	for i := range items {
		n += items[i].Count
	}
	w.kernels = int(n)
	const many = 1 << 13 // tokens; links have a latency and a bandwidth, which two points tell
	one, all := c.send(1, items), c.send(many, items)
	w.perToken = (all - one) / (many - 1)
	w.fixed = one - w.perToken
}

// Sends is how long a stage of a pipeline takes to pass a batch on to the next one, whatever it
// has and for each of its tokens; zero without a pipeline.
func (c *Curve) Sends() (fixed, perToken units.Seconds) {
	c.whole.once.Do(c.measure)
	return c.whole.fixed, c.whole.perToken
}

// send is the time for so many tokens.
func (c *Curve) send(tokens int, room []op.Item) units.Seconds {
	for _, it := range appendCounts(room[:0], c.graph, tokens) {
		if it.Op.Kind == op.Transfer {
			return c.coster.Cost(&it.Op).Total
		}
	}
	return 0
}
