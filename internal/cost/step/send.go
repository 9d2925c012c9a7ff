package step

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
)

// Sends is how long a stage of a pipeline takes to pass a batch on to the next one, whatever it
// has and for each of its tokens; zero without a pipeline.
func (c *Curve) Sends() (fixed, perToken units.Seconds) {
	const many = 1 << 13 // tokens; links have a latency and a bandwidth, which two points tell
	one, all := c.send(1), c.send(many)
	perToken = (all - one) / (many - 1)
	return one - perToken, perToken
}

// send is the time for so many tokens.
func (c *Curve) send(tokens int) units.Seconds {
	for _, it := range appendCounts(nil, c.graph, tokens) {
		if it.Op.Kind == op.Transfer {
			return c.coster.Cost(&it.Op).Total
		}
	}
	return 0
}
