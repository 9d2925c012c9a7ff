package ops

import (
	"fmt"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
)

// span is a length of a request and its field.
type span struct {
	name   field.Name
	tokens int
}

// within checks that a sequence of two spans, and of tokens that no field gives, is
// not longer than the model's positions.
func within(m *model.Model, a, b span, more int) error {
	sum := a.tokens + b.tokens + more
	if sum <= m.Context() || min(a.tokens, b.tokens) < 0 || max(a.tokens, b.tokens) > maxTokens {
		return nil // those out of any range are reported as such
	}
	with := ""
	if more > 0 {
		with = " with images"
	}
	return field.Errorf("%s %d and %s %d are %d tokens%s, more than the %d positions of %s",
		a.name, a.tokens, b.name, b.tokens, sum, with, m.Context(), m.Name())
}

// onLength are the notes on sequences of up to so many tokens, where those are more
// than the model was trained on.
func onLength(m *model.Model, tokens int) []string {
	switch {
	case tokens > m.Context():
		return []string{fmt.Sprintf("the longest requests have %d tokens, more than the %d positions of %s: engines refuse them",
			tokens, m.Context(), m.Name())}
	case tokens > m.MaxPosition:
		return []string{fmt.Sprintf("%d tokens are more than the %d positions of %s; the rope scaling of its config reaches to %d",
			tokens, m.MaxPosition, m.Name(), m.Context())}
	}
	return nil
}

// longest is the most tokens a prompt of a distribution may have.
func longest(d *workload.Distribution) int {
	most := 0
	for _, b := range d.Bins {
		most = max(most, b.Max)
	}
	return most
}

// onLength are the notes on requests longer than the model was trained on.
func (r *OptimizeRequest) onLength(m *model.Model) []string {
	if r.Distribution != nil {
		return onLength(m, longest(r.Distribution)+r.Output)
	}
	return onLength(m, r.Input+r.Output+r.imageTokens(m))
}

// imageTokens are those that n images of a request take, 0 for sizes that are refused.
func imageTokens(m *model.Model, n, height, width int) int {
	if m.Vision == nil || min(height, width) < 1 || max(height, width) > maxPixels {
		return 0
	}
	return max(1, n) * (m.Vision.Tokens(height, width) + imageMarks)
}

func (r *OptimizeRequest) imageTokens(m *model.Model) int {
	return imageTokens(m, r.ImageBatch, r.ImageHeight, r.ImageWidth)
}

func (r *OptimizeRequest) checkPositions(m *model.Model) error {
	if r.Distribution != nil {
		return nil
	}
	return within(m, span{inputLength, r.Input}, span{outputLength, r.Output}, r.imageTokens(m))
}

// checkPositions checks the lengths of requests that have all the same.
func (r *Traffic) checkPositions(m *model.Model) error {
	if r.Trace != "" || r.InputLengths != nil || r.OutputLengths != nil || r.Workloads != nil {
		return nil
	}
	return within(m, span{inputLength, r.Input}, span{outputLength, r.Output}, 0)
}

// onLength are the notes on requests longer than the model was trained on.
func (r *Traffic) onLength(s *stage, c sim.Client) []string {
	m := s.Model
	if s.kinds != nil {
		return onLength(m, s.kinds.longest)
	}
	tokens := 0
	if t, ok := c.(*sim.Trace); ok {
		for i := range t.Requests {
			tokens = max(tokens, t.Requests[i].Input+t.Requests[i].Output)
		}
		return onLength(m, tokens)
	}
	input, output := r.Input, r.Output
	if r.InputLengths != nil {
		input = longest(r.InputLengths)
	}
	if r.OutputLengths != nil {
		output = longest(r.OutputLengths)
	}
	return onLength(m, input+output)
}
