package tensorcast

import (
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// Name is the name of the policy.
const Name = "tensorcast"

// Policy counts as TensorCast does, with every deviation; golden numbers check it.
func Policy() graph.Policy {
	p := graph.Physical()
	p.Name = Name
	var does forms
	for _, a := range Deviations() {
		a.set(&p, &does, true)
	}
	p.Rewriter = does
	return p
}

// Is reports whether a policy is TensorCast's, with all deviations or without some.
func Is(p *graph.Policy) bool { return p.Name == Name }

// Deviation is one assumption of TensorCast that is wrong about hardware: a choice, a form,
// or the size of pages.
type Deviation struct {
	Name   string
	Doc    string
	choice func(c *graph.Choices) *bool
	form   forms
	page   int // tokens of a block of the KV cache
}

// set gives a policy the deviation, or takes it away.
func (a *Deviation) set(p *graph.Policy, f *forms, has bool) {
	switch {
	case a.choice != nil:
		*a.choice(&p.Choices) = has
	case a.page > 0 && has:
		p.PageTokens = a.page
	case a.page > 0:
		p.PageTokens = graph.Physical().PageTokens
	case has:
		*f |= a.form
	default:
		*f &^= a.form
	}
}

// Without is a policy without the deviation.
func (a *Deviation) Without(p graph.Policy) graph.Policy {
	if does, ok := p.Rewriter.(forms); ok {
		a.set(&p, &does, false)
		p.Rewriter = does
	}
	return p
}

// In reports whether a policy has the deviation.
func (a *Deviation) In(p graph.Policy) bool { return a.Without(p) != p }

// From is a spec without the deviation, with everything that was resolved by it.
func (a *Deviation) From(s graph.Spec) graph.Spec {
	was := s.Policy
	s.Policy = a.Without(was)
	if was.HalfPrecision && !s.Policy.HalfPrecision && s.Model.DType != dtype.None {
		s.Quant = s.Quant.Rebase(s.Model.DType)
	}
	s.Vision = s.Policy.LoadsVision(s.Model, s.Vision)
	return s
}
