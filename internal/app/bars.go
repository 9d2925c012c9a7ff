package app

import (
	"slices"

	"plimsoll/internal/calibrate"
	"plimsoll/internal/rank"
	"plimsoll/internal/search"
	"plimsoll/internal/serving"
)

// Expect is the errors to expect of an outcome of the pass.
func (p *Pass) Expect(r *search.Result, o *serving.Outcome) calibrate.Expected {
	l := &r.Load
	s := caseOf(p.Problem.Spec.Model, p.Device, p.Pricing, p.Tier)
	s.Method, s.Steady = calibrate.Formulas, l.Accounting == serving.Steady
	s.TensorCast = p.Problem.Spec.Policy.IsTensorCast()
	s.Apart = p.Mode != search.Aggregated
	s.Input = l.EffectiveInput()
	s.On(r.Spec.Layout.Devices, o.Concurrency, r.Spec.Layout.DP, p.Problem.Spec.Model.HasExperts())
	return p.Overlay.Expect(&s)
}

// Chance is the probability that an outcome keeps the limits of the pass.
func (p *Pass) Chance(r *search.Result, o *serving.Outcome) float64 {
	e := p.Expect(r, o)
	return p.Within(&e, o)
}

// Within is the same by errors that are already known.
func (p *Pass) Within(e *calibrate.Expected, o *serving.Outcome) float64 {
	return e.Chance(o.TTFT, o.TPOT, p.Limits.TTFT, p.Limits.TPOT)
}

// Limited reports whether the pass has a limit to keep.
func (p *Pass) Limited() bool { return p.Limits.TTFT > 0 || p.Limits.TPOT > 0 }

// ExpectPair is the errors to expect of matched phases, and the chance that both
// keep their limits. TTFT is prefill's and TPOT decode's. The balanced rate takes
// the error of decode's throughput: residuals are of the answer tokens of whole
// deployments, there are none of prefill alone. The phases' errors are taken as
// independent, as those of TTFT and TPOT are.
func (d *DeviceResult) ExpectPair(x *rank.Pair) (e calibrate.Expected, chance float64) {
	prefill, decode := &d.Passes[0], &d.Passes[1]
	p, q := prefill.Expect(x.P, &x.Prefill), decode.Expect(x.D, &x.Decode)
	e = calibrate.Expected{TTFT: p.TTFT, TPOT: q.TPOT, Throughput: q.Throughput, Basis: q.Basis}
	return e, prefill.Within(&p, &x.Prefill) * decode.Within(&q, &x.Decode)
}

// Limited reports whether a pass has a limit to keep.
func (d *DeviceResult) Limited() bool {
	return slices.ContainsFunc(d.Passes, func(p Pass) bool { return p.Limited() })
}

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
// where there is none, or nothing to keep.
func (p *Pass) SafeChoice() *SafeChoice {
	if !p.Limited() {
		return nil
	}
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
