package search

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/describe/draft"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// Candidate is a deployment to evaluate: equal copies of a unit of workers. A unit is
// one worker that does both, or X workers for prefill and Y for decode.
type Candidate struct {
	// Prefill is the layout of the X workers of a unit for prefill. X is 0 where the
	// other workers do both.
	Prefill parallel.Layout
	X       int
	// Layout is that of the Y workers of a unit that generate; 0 is one.
	Layout parallel.Layout
	Y      int
	// Copies of the unit; 0 is one.
	Copies int
	MTP    int // draft tokens of a step
	// Drafter drafts them; "" is the model's own MTP modules.
	Drafter draft.Method
	Budget  int // most tokens of a step; 0 is the engine's own
	Of      int // the place of its evaluator among [Several]
}

// Draft is a way to draft tokens; the zero value is none.
type Draft struct {
	By     draft.Method `json:"method"`
	Tokens int          `json:"tokens"`
}

// drafted is the candidate with drafts.
func (c Candidate) drafted(d Draft) Candidate {
	c.MTP, c.Drafter = d.Tokens, ""
	if d.Tokens > 0 && d.By != draft.MTP {
		c.Drafter = d.By
	}
	return c
}

// Unit is one copy.
func (c Candidate) Unit() Candidate {
	c.Copies = 1
	return c
}

// times is the number of copies.
func (c *Candidate) times() int { return max(1, c.Copies) }

// UnitRanks are the data-parallel ranks of a unit that generate: each has a batch of its
// own.
func (c *Candidate) UnitRanks() int { return max(1, c.Y) * max(1, c.Layout.DP) }

// Ranks are those of all copies.
func (c *Candidate) Ranks() int { return c.times() * c.UnitRanks() }

// Batch is the batch of the fullest rank with so many requests in flight in a unit.
func (c *Candidate) Batch(requests int) int { return parallel.MaxPerRank(requests, c.UnitRanks()) }

// UnitDevices are the devices of a unit.
func (c *Candidate) UnitDevices() int {
	return c.X*c.Prefill.Devices + max(1, c.Y)*c.Layout.Devices
}

// Devices are those of all copies.
func (c *Candidate) Devices() int { return c.times() * c.UnitDevices() }

// sample is the devices that are simulated at most, but for one copy: copies are dealt
// requests in turn and know nothing of each other, so that more add nothing but the time
// to simulate them.
const sample = 64

// Sample is how many of the copies are simulated to show what all carry.
func (c *Candidate) Sample() int { return min(c.times(), max(1, sample/c.UnitDevices())) }

// Label is the layout as printed, draft tokens and copies included.
func (c *Candidate) Label(experts bool) string {
	l := c.Layout
	dcp := l.DCP
	l.DCP = 1
	s := l.Label(experts)
	if c.MTP > 0 {
		s += fmt.Sprintf(" | %s=%d", strings.ToUpper(string(cmp.Or(c.Drafter, draft.MTP))), c.MTP)
	}
	if dcp > 1 {
		s += fmt.Sprintf(" | DCP=%d", dcp)
	}
	if c.Copies > 1 {
		s = fmt.Sprintf("%d × (%s)", c.Copies, s)
	}
	return s
}
