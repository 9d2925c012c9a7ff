package app

import (
	"plimsoll/internal/calibrate"
	"plimsoll/internal/search"
	"plimsoll/internal/serving"
)

// Expect is the errors to expect of an outcome of the pass.
func (p *Pass) Expect(r *search.Result, o *serving.Outcome) calibrate.Expected {
	l := &r.Load
	s := caseOf(p.Problem.Spec.Model, p.Device, p.Tier)
	s.Method, s.Steady = calibrate.Formulas, l.Accounting == serving.Steady
	s.TensorCast = p.Problem.Spec.Policy.Name == tensorCast
	s.Apart = p.Mode != search.Aggregated
	s.Input = l.EffectiveInput()
	s.On(r.Spec.Layout.Devices, o.Concurrency, r.Spec.Layout.DP, p.Problem.Spec.Model.HasExperts())
	return p.Overlay.Expect(&s)
}

// Chance is the probability that an outcome keeps the limits of the pass.
func (p *Pass) Chance(r *search.Result, o *serving.Outcome) float64 {
	e := p.Expect(r, o)
	return e.Chance(o.TTFT, o.TPOT, p.Limits.TTFT, p.Limits.TPOT)
}

// Limited reports whether the pass has a limit to keep.
func (p *Pass) Limited() bool { return p.Limits.TTFT > 0 || p.Limits.TPOT > 0 }

const (
	// Doubtful is the chance of keeping the limits below which a best row
	// deserves a word.
	Doubtful = 0.6
	// Safe is the chance from which a deployment is called safe.
	Safe = 0.9
)

// SafeChoice is a deployment that keeps the limits with a probability of [Safe].
type SafeChoice struct {
	Row     *search.Result
	Outcome *serving.Outcome
	Chance  float64
}

// SafeChoice finds the deployment with the most throughput that keeps the limits
// with a probability of [Safe], among the best rows and the sweep's samples; nil
// where there is none.
func (p *Pass) SafeChoice() *SafeChoice {
	var out *SafeChoice
	try := func(r *search.Result, o *serving.Outcome) {
		if o.OOM != "" || out != nil && o.Throughput <= out.Outcome.Throughput {
			return
		}
		if c := p.Chance(r, o); c >= Safe {
			out = &SafeChoice{r, o, c}
		}
	}
	for i := range p.Results {
		r := &p.Results[i]
		if r.OK {
			try(r, &r.Best)
		}
		for k := range r.Points {
			try(r, &r.Points[k])
		}
	}
	return out
}
