package session

import (
	"fmt"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
)

// Span is a length of a request and its field.
type Span struct {
	Name   field.Name
	Tokens int
}

// Within checks that two spans and further tokens do not exceed the model's positions.
func Within(m *model.Model, a, b Span, more int) error {
	sum := a.Tokens + b.Tokens + more
	if sum <= m.Context() || min(a.Tokens, b.Tokens) < 0 || max(a.Tokens, b.Tokens) > MaxTokens {
		return nil // reported as out of range
	}
	with := ""
	if more > 0 {
		with = " with images"
	}
	return field.Errorf("%s %d and %s %d are %d tokens%s, more than the %d positions of %s",
		a.Name, a.Tokens, b.Name, b.Tokens, sum, with, m.Context(), m.Name())
}

// OnLength are the notes on sequences longer than the model was trained on.
func OnLength(m *model.Model, tokens int) []string {
	switch {
	case tokens > m.Context():
		return []string{fmt.Sprintf("the longest requests have %d tokens, more than the %d positions of %s: engines reject them",
			tokens, m.Context(), m.Name())}
	case tokens > m.MaxPosition:
		return []string{fmt.Sprintf("%d tokens are more than the %d positions of %s; the rope scaling of its config reaches to %d",
			tokens, m.MaxPosition, m.Name(), m.Context())}
	}
	return nil
}

// Longest is the maximum prompt length of a distribution.
func Longest(d *workload.Distribution) int {
	most := 0
	for _, b := range d.Bins {
		most = max(most, b.Max)
	}
	return most
}

// ImageTokens is the number of tokens of n images, 0 for invalid sizes.
func ImageTokens(m *model.Model, n, height, width int) int {
	if m.Vision == nil || min(height, width) < 1 || max(height, width) > maxPixels {
		return 0
	}
	return max(1, n) * (m.Vision.Tokens(height, width) + ImageMarks)
}
