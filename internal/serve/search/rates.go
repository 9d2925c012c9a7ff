package search

import (
	"context"
	"math"

	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
)

// rates looks for the capacity of a unit: the largest rate of requests within the limits.
type rates struct {
	*Sized

	unit   Candidate
	bounds *bounds
	batch  int // limit of a rank
	r      *Result
	least  int  // power of a rung below which the unit is not wanted
	copies int  // that are simulated together
	long   bool // sessions are simulated as rows are
}

// rung is the ratio of two neighbouring rates that are tried: no finer than the sampling
// error of a trial. Rates are powers of it, whatever the limits and the load, so that
// equal questions about a unit have equal trials.
const rung = 1.02

// below is the largest rate that is tried up to some rate, as a power of a rung; rated is the rate of such a power.
func below(rate float64) int  { return int(math.Floor(math.Log(rate) / math.Log(rung))) }
func rated(power int) float64 { return math.Pow(rung, float64(power)) }

// anyRate is the least of a unit that is wanted whatever it carries.
const anyRate = math.MinInt

// capacity finds the largest rate, up to a bound, that meets the limits, and what binds it. It
// gives up when that is below the least. A rate above the capacity is soon seen to miss the limits, one that meets
// them takes long: so the highest is tried first. The throughput is that of the rate: what a short trial happened to serve is
// off by chance.
func (x *rates) capacity(ctx context.Context, bound float64) error {
	const idle = 0.01 // requests in flight are none
	high := below(bound) + 1
	low := below(min(bound, idle/x.bounds.alone())) - 1
	k := high - 1
	if x.Bench.Sessions.Turns > 0 { // takes long to tell, and bounds are far
		k -= 8
	}
	for stride := 4; low+1 < high; {
		if high <= x.least { // nothing above it is tried any more
			x.r.Dropped, x.r.OK = true, false
			return nil
		}
		k = max(k, low+1)
		o, v, err := x.at(ctx, rated(k), 1)
		if err != nil {
			return err
		}
		if v == Fits {
			low = k
			o.Throughput = x.tokens(rated(k))
			x.r.OK, x.r.Capacity = true, o
		} else {
			high = k
			x.r.Binds, x.r.First = v, o
		}
		if k = (low + high) / 2; !x.r.OK { // in growing steps
			k = high - stride
			stride *= 2
		}
	}
	if x.r.OK && x.r.Binds == Fits {
		x.r.Binds = Saturated
	}
	if !x.r.OK {
		x.r.Reason = x.Judge.Reason(x.r.Binds, &x.r.First)
	}
	return nil
}

// reaches reports whether the unit may carry the least rate: one trial shows it, whatever it carries.
func (x *rates) reaches(ctx context.Context, bound float64) (bool, error) {
	switch {
	case x.least == anyRate:
		return true, nil
	case x.least > below(bound):
		return false, nil
	}
	_, v, err := x.at(ctx, rated(x.least), 1)
	return v == Fits, err
}

// at is the outcome of so many copies, each with a rate of requests, and what it misses.
func (x *rates) at(ctx context.Context, rate, copies float64) (formulas.Outcome, Verdict, error) {
	p := Rough
	if x.long {
		p = Carried
	}
	t, err := x.run(ctx, rate, p)
	if err != nil {
		return formulas.Outcome{}, Fits, err
	}
	o, v := x.judge(t, copies)
	return o, v, nil
}

// run simulates the copies, each with a rate of requests.
func (x *rates) run(ctx context.Context, rate float64, p Precision) (*Trial, error) {
	some := x.unit
	some.Copies = x.copies
	misses := func(t sim.Times) bool { return x.misses(&x.unit, int(math.Ceil(rate*float64(t.Latency))), t) != Fits }
	return x.Bench.Run(ctx, some, Load{Rate: float64(x.copies) * rate}, x.batch, Aim{p, x.Judge, misses})
}

// precise is judge of a trial as long as that of a row: what it does not serve by its end is not carried.
func (x *rates) precise(t *Trial, copies float64) (formulas.Outcome, Verdict) {
	const rounding = 1e-9
	o, v := x.judge(t, copies)
	if v == Fits && t.Served < 1-rounding {
		v = Saturated
	}
	return o, v
}

// judge is the outcome of a trial of some of so many copies, and what it misses.
func (x *rates) judge(t *Trial, copies float64) (formulas.Outcome, Verdict) {
	n := float64(x.copies)
	o := t.outcome(x.Judge.Percentile, copies/n)
	o.Batch, o.Concurrency = x.batch, int(math.Ceil(copies/n*t.InFlight))
	v := x.verdict(&x.unit, int(math.Ceil(t.InFlight/n)), &o, t)
	if v == Fits && t.Overloaded {
		v = Saturated
	}
	return o, v
}
