package ops

import (
	"cmp"
	"context"
	"errors"
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/replica"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
)

// trialOf and trialResult are a deployment that was simulated, and what came of it.
type trialOf struct {
	search.Unit

	requests int // in flight in a copy
	all      bool
}

type trialResult struct {
	response *SimulateResponse
	outcome  formulas.Outcome
	verdict  search.Verdict
}

// simulate simulates an option, once.
func (x *experiment) simulate(ctx context.Context, u search.Unit, requests int, all bool) (formulas.Outcome, search.Verdict, error) {
	r, err := x.trial(ctx, trialOf{u, requests, all || u.Copies == 1})
	if err != nil {
		return formulas.Outcome{}, "", err
	}
	return r.outcome, r.verdict, nil
}

// trial is the simulation of an option, from memory if it was done before.
func (x *experiment) trial(ctx context.Context, t trialOf) (*trialResult, error) {
	x.mu.Lock()
	r, ok := x.seen[t]
	x.mu.Unlock()
	if ok {
		return r, nil
	}
	r, err := x.try(ctx, t)
	if err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.seen[t] = r
	return r, nil
}

// try simulates an option and holds it to the limits.
func (x *experiment) try(ctx context.Context, t trialOf) (*trialResult, error) {
	batch := x.batch(t.Unit, t.requests)
	copies, rest := 1, t.Copies
	if t.all {
		copies, rest = t.Copies, 1
	}
	out, err := x.serve(ctx, x.deployment(t.Unit, batch, t.all), Traffic{Concurrency: t.requests * copies})
	if err != nil {
		return nil, err
	}
	o := &out.outcome
	o.Batch, o.Concurrency, o.Throughput = batch, t.requests*copies*rest, float64(rest)*o.Throughput
	return out, nil
}

// serve simulates a deployment under some traffic and holds it to the limits.
func (x *experiment) serve(ctx context.Context, d deployment.Deployment, of Traffic) (*trialResult, error) {
	q := SimulateRequest{Deployment: d, Limits: x.e.Limits, Traffic: of}
	q.Input, q.Output, q.Prefix, q.Workloads = x.e.Input, x.e.Output, x.e.Prefix, x.e.Workloads
	q.Complete()
	res, err := x.world.remembered(&q, &x.r.Sources, func() (*SimulateResponse, error) { return x.world.simulate(ctx, x.stage, &q) })
	if errors.Is(err, replica.ErrNoCache) {
		return &trialResult{outcome: formulas.Outcome{OOM: formulas.DecodePhase}, verdict: search.NoMemory}, nil
	}
	if err != nil {
		return nil, err
	}
	got := &res.Result
	out := &trialResult{response: res, outcome: formulas.Outcome{
		TTFT: x.figure(&got.TTFT), TPOT: x.figure(&got.TPOT), Throughput: got.OutputRate * x.scale(),
	}}
	if got.Finished == 0 {
		out.outcome.OOM = formulas.DecodePhase
	}
	out.verdict = x.judge(out)
	return out, nil
}

// batch is the batch of the fullest rank that decodes with so many requests in flight in
// a copy of a unit.
func (x *experiment) batch(u search.Unit, requests int) int {
	return parallel.Fullest(requests, u.Y*max(1, x.decode[u.Decode].DP))
}

// scale is the correction of throughput that was asked for: that of the slower role.
func (x *experiment) scale() float64 {
	out := cmp.Or(x.e.Workers.Scale, 1)
	if x.e.Mode == Disaggregated {
		out = min(out, cmp.Or(x.e.Decode.Scale, 1))
	}
	return out
}

// figure is the latency that is held to a limit.
func (x *experiment) figure(s *sim.Summary) units.Seconds {
	switch p := x.e.Percentile; {
	case p == meanPercentile:
		return s.Mean
	case p <= 50:
		return s.P50
	case p <= 90:
		return s.P90
	case p <= 95:
		return s.P95
	default:
		return s.P99
	}
}

// judge holds what was simulated to the limits, with the confidence asked for.
func (x *experiment) judge(r *trialResult) search.Verdict {
	l, o := x.e.Limits, &r.outcome
	if o.OOM != "" {
		return search.NoMemory
	}
	e := &r.response.Expected
	ttft, tpot := e.TTFT.Within(o.TTFT, l.TTFT), e.TPOT.Within(o.TPOT, l.TPOT)
	whole := e.TPOT.Within(x.figure(&r.response.Result.Latency), l.Latency)
	switch least := min(ttft, tpot, whole); {
	case ttft*tpot*whole >= x.e.Confidence:
		return search.Fits
	case least == whole:
		return search.OverLatency
	case least == tpot:
		return search.OverTPOT
	}
	return search.OverTTFT
}

// plausible reports whether an option with at least such a TTFT and TPOT may meet the
// limits, with the narrowest errors that may be expected of it.
func (x *experiment) plausible(u search.Unit, requests int, ttft, tpot units.Seconds) bool {
	l := x.e.Limits
	least := math.Inf(1) // concurrency of a replica decides about errors, by ranges: see calibration
	for _, e := range x.errors(u, requests) {
		least = min(least, 1-e.TTFT.Within(ttft, l.TTFT)*e.TPOT.Within(tpot, l.TPOT))
	}
	return 1-least >= x.e.Confidence
}

// errors are those to expect of an option with an empty and with a full cache.
func (x *experiment) errors(u search.Unit, requests int) [2]calibration.Expected {
	key := trialOf{search.Unit{Decode: u.Decode}, parallel.Fullest(requests, u.Y), false}
	x.mu.Lock()
	e, ok := x.expected[key]
	x.mu.Unlock()
	if ok {
		return e
	}
	var out [2]calibration.Expected
	if resolved := x.alone(u); resolved != nil {
		q := SimulateRequest{}
		q.Concurrency, q.Input = key.requests, x.e.Input
		tier := x.stage.Prices.Tier(x.stage.Device, resolved.Pricing)
		for i := range out {
			empty := &sim.Result{Workers: sim.PoolUse{KVPeak: float64(i)}}
			out[i] = x.stage.Overlay.Expect(q.About(x.stage, resolved, empty, tier))
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.expected[key] = out
	return out
}

// alone is a unit with one decode worker, whose errors are those of any number; nil if
// it cannot be resolved.
func (x *experiment) alone(u search.Unit) *deployment.Resolved {
	x.mu.Lock()
	defer x.mu.Unlock()
	r, ok := x.resolved[u.Decode]
	if !ok {
		u.X, u.Y = min(u.X, 1), 1
		d := x.deployment(u, 1, false)
		r, _ = d.Resolve(x.stage.Parts) // without one its layout was refused before
		x.resolved[u.Decode] = r
	}
	return r
}
