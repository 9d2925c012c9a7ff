package search

import (
	"context"
	"math"

	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
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

// capacity finds the largest rate, up to a bound, that meets the limits, and what binds it. It gives up when that is below the least.
// A rate above the capacity is soon seen to miss the limits, one that
// meets them takes long: so the highest is tried first, and lower ones in growing steps until one meets them. Which are tried depends on
// the unit and the limits alone.
func (x *rates) capacity(ctx context.Context, bound float64) error {
	in := x.upTo(bound)
	k := in.high - 1
	if x.Bench.Sessions.Turns > 0 { // a verdict takes long, and bounds are far
		k -= 8
	}
	for stride := 4; in.low+1 < in.high; {
		if in.high <= x.least { // nothing above it is tried any more
			x.r.Dropped, x.r.OK, x.r.Most, x.r.Has = true, false, x.rateScore(&x.unit, x.tokens(rated(in.high-1))), math.Inf(-1)
			return nil
		}
		least := in.low + 1
		if x.Bench.Sessions.mixes() { // its capacity alone is only a start
			least = max(least, x.least)
		}
		if err := x.takes(ctx, max(k, least), &in); err != nil {
			return err
		}
		if k = in.middle(); !x.r.OK {
			k = in.high - stride
			stride *= 2
		}
	}
	if !x.r.OK {
		x.r.Reason = x.Judge.Reason(x.r.Binds, &x.r.First)
		return nil
	}
	if x.r.Binds == Fits {
		x.r.Binds = Saturated
	}
	return nil
}

// bracket is what is known of a capacity: it is at least the rate of one power of a rung, and below that of another.
type bracket struct {
	low, high   int
	under, over float64 // by how much the two meet the limits, as in [rates.clears]; NaN where it is not known
	width       int     // when it was last divided
}

// upTo is the bracket of a capacity up to a bound. Its lowest rate is not known to meet the limits.
func (x *rates) upTo(bound float64) bracket {
	const idle = 0.01 // requests in flight are none
	return bracket{low: below(min(bound, idle/x.bounds.alone())) - 1, high: below(bound) + 1, under: math.NaN(), over: math.NaN(), width: math.MaxInt}
}

// middle is where to divide it: times are taken to grow evenly between the ends, or if that did not help before it is halved.
func (b *bracket) middle() int {
	width := b.high - b.low
	slow := width > b.width/2
	b.width = width
	share := b.under / (b.under - b.over)
	if slow || !(share >= 0 && share <= 1) {
		return b.low + width/2
	}
	return min(b.high-1, b.low+max(1, int(share*float64(width))))
}

// takes tries a rate and narrows a bracket.
func (x *rates) takes(ctx context.Context, power int, in *bracket) error {
	t, err := x.run(ctx, rated(power), x.precision())
	if err != nil {
		return err
	}
	o, v := x.judge(t, 1)
	if v == Fits {
		in.low, in.under = power, x.clears(t, &o)
		o.Throughput = x.tokens(rated(power)) * min(1, t.Served)
		x.r.OK, x.r.Capacity = true, o
		return nil
	}
	in.high, in.over = power, x.clears(t, &o)
	x.r.Binds, x.r.First = v, o
	return nil
}

// clears is by how much an outcome meets the limits: standard deviations of its errors, or where these are not known, logarithms of
// times. It is NaN where that shows nothing, as no limit is near or the load is not steady.
func (x *rates) clears(t *Trial, o *figures.Outcome) float64 {
	if !t.steady || !x.Judge.Limits.Finite().Any() {
		return math.NaN()
	}
	e := x.errors(&x.unit, int(math.Ceil(t.InFlight/float64(x.copies))), t)
	if e == nil {
		return -math.Log(x.Judge.Over(o.Times))
	}
	chance := x.Judge.Chance(o.Times, e)
	const sure = 1e-6
	if chance < sure || chance > 1-sure {
		return math.NaN()
	}
	deviations := func(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }
	return deviations(chance) - deviations(x.Judge.Confidence)
}

// at is the outcome of so many copies, each with a rate of requests, and what it misses.
func (x *rates) at(ctx context.Context, rate, copies float64) (figures.Outcome, Verdict, error) {
	t, err := x.run(ctx, rate, x.precision())
	if err != nil {
		return figures.Outcome{}, Fits, err
	}
	o, v := x.judge(t, copies)
	return o, v, nil
}

// precision is that of the trials.
func (x *rates) precision() Precision {
	if x.long {
		return Carried
	}
	return Rough
}

// run simulates the copies, each with a rate of requests.
func (x *rates) run(ctx context.Context, rate float64, p Precision) (*Trial, error) {
	some := x.unit
	some.Copies = x.copies
	misses := func(t figures.Times) bool {
		return x.misses(&x.unit, int(math.Ceil(rate*float64(t.Latency))), t) != Fits
	}
	return x.Bench.Run(ctx, some, Load{Rate: float64(x.copies) * rate}, x.batch, Aim{p, x.Judge, misses})
}

// precise is judge of a trial as long as that of a row: what it does not serve by its end is not carried.
func (x *rates) precise(t *Trial, copies float64) (figures.Outcome, Verdict) {
	const rounding = 1e-9
	o, v := x.judge(t, copies)
	if v == Fits && t.Served < 1-rounding {
		v = Saturated
	}
	return o, v
}

// judge is the outcome of a trial of some of so many copies, and what it misses.
func (x *rates) judge(t *Trial, copies float64) (figures.Outcome, Verdict) {
	n := float64(x.copies)
	o := t.outcome(copies / n)
	o.Batch, o.Concurrency = x.batch, int(math.Ceil(copies/n*t.InFlight))
	v := x.verdict(&x.unit, int(math.Ceil(t.InFlight/n)), &o, t)
	if v == Fits && t.Overloaded {
		v = Saturated
	}
	return o, v
}
