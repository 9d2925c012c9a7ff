package graph

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// meeting is how a rank's tokens come to the experts. Ranks of a TP group see
// the same tokens, ranks that hold slices of the same experts must.
type meeting struct {
	rows   float64        // tokens this rank routes
	padded float64        // its tokens rounded up to equal shares
	slice  parallel.Group // ranks that divide their tokens among them
	gather parallel.Group // ranks that join theirs
}

// meet finds how the tokens of a step come to the experts.
func (w *walk) meet() meeting {
	m := meeting{rows: w.tokens, padded: w.tokens}
	m.slice, m.gather = w.g.spec.meetingGroups()
	if n := float64(m.slice.Size); n > 1 {
		m.rows = math.Ceil(w.tokens / n)
		m.padded = m.rows * n
	}
	if n := float64(m.gather.Size); n > 1 {
		m.rows = w.tokens * n
	}
	return m
}

// meetingGroups are the ranks that divide their tokens, and those that join
// theirs, before the experts. TensorCast looks at EP and DP alone; what the
// work asks for is one set of tokens for each group of slices.
func (s *Spec) meetingGroups() (slice, gather parallel.Group) {
	l := &s.Layout
	if s.Policy.UnevenTokens {
		if l.EP > 1 && l.DP != l.EP {
			slice = l.TPGroup()
		}
		if l.EP == 1 {
			gather = l.DPGroup()
		}
		return slice, gather
	}
	slices := l.MoETP
	slice = parallel.Group{Size: int32(l.TP / slices), Stride: int32(slices)}
	if slices > l.TP {
		gather = parallel.Group{Size: int32((slices + l.TP - 1) / l.TP), Stride: l.DPGroup().Stride}
	}
	return slice, gather
}
