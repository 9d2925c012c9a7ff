package graph

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// Meeting is how a rank's tokens come to the experts. Ranks of a TP group see
// the same tokens, ranks that hold slices of the same experts must.
type Meeting struct {
	Rows   float64        // tokens this rank routes
	Padded float64        // its tokens rounded up to equal shares
	Slice  parallel.Group // ranks that divide their tokens among them
	Gather parallel.Group // ranks that join theirs
}

// Meet finds how the tokens of a step come to the experts: one set of tokens for each
// group of slices.
func (w Mixture) Meet() Meeting {
	l := &w.g.spec.Layout
	m := Meeting{Slice: parallel.Group{Size: int32(l.TP / l.MoETP), Stride: int32(l.MoETP)}}
	if l.MoETP > l.TP {
		m.Gather = parallel.Group{Size: int32((l.MoETP + l.TP - 1) / l.TP), Stride: l.DPGroup().Stride}
	}
	return m.Divide(w.Tokens)
}

// Divide divides tokens of each rank by the groups of a meeting.
func (m Meeting) Divide(tokens float64) Meeting {
	m.Rows, m.Padded = tokens, tokens
	if n := float64(m.Slice.Size); n > 1 {
		m.Rows = math.Ceil(tokens / n)
		m.Padded = m.Rows * n
	}
	if n := float64(m.Gather.Size); n > 1 {
		m.Rows = tokens * n
	}
	return m
}
