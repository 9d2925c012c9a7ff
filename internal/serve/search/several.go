package search

import "context"

// Several are evaluators that are searched as one space. Candidates of such a space say in Of whose they are; the evaluators do not see it,
// so that what they remember also serves searches of their own.
type Several []Evaluator

// Branches are those of the space of one of the evaluators.
func (s Several) Branches(of int, own []Branch) []Branch {
	out := make([]Branch, len(own))
	for i, b := range own {
		b.Candidate.Of = of
		if expand := b.Expand; expand != nil {
			b.Expand = func() []Branch { return s.Branches(of, expand()) }
		}
		out[i] = b
	}
	return out
}

// alone is a candidate as its evaluator knows it.
func (s Several) alone(c *Candidate) (Evaluator, Candidate) {
	out := *c
	out.Of = 0
	return s[c.Of], out
}

// Bound implements [Evaluator].
func (s Several) Bound(c *Candidate) float64 {
	e, own := s.alone(c)
	return e.Bound(&own)
}

// Explore implements [Evaluator].
func (s Several) Explore(ctx context.Context, c Candidate, target float64) (most, least float64) {
	e, own := s.alone(&c)
	return e.Explore(ctx, own, target)
}

// Evaluate implements [Evaluator].
func (s Several) Evaluate(ctx context.Context, c Candidate, floor float64) Result {
	e, own := s.alone(&c)
	out := e.Evaluate(ctx, own, floor)
	out.Candidate.Of = c.Of
	return out
}
