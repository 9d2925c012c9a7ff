package search

import (
	"cmp"
	"context"
	"errors"
	"math"
	"sort"

	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/replica"
)

// Sized evaluates candidates by the devices that a load needs: as many copies of a unit as
// carry it within the limits. The fewer devices, the higher the score; of equal ones the
// one with more throughput per device.
type Sized struct {
	*Simulated

	// Rate is the load in requests per second, or Requests so many in flight.
	Rate     float64
	Requests int
	// MaxDevices bounds what may be needed.
	MaxDevices int
	Margin
}

// Margin is what a fleet has beyond its load.
type Margin struct {
	Spare       int     // copies that may fail
	Utilization float64 // most share of its capacity that a copy may carry; 0 is all
}

// share is the utilization, all of the capacity by default.
func (m *Margin) share() float64 { return cmp.Or(m.Utilization, 1) }

var _ Scored = (*Sized)(nil)

// Bound implements [Evaluator].
func (s *Sized) Bound(c *Candidate) float64 {
	unit := c.Unit()
	b, err := s.Bench.bounds(&unit)
	if err != nil {
		return math.Inf(1)
	}
	n := s.limit(&unit, b)
	if n == 0 {
		return math.Inf(-1)
	}
	carries := s.carries(&unit, b, n)
	return s.score(s.devices(&unit, s.copies(carries, n)), together*carries/float64(unit.UnitDevices()))
}

// copies is how many copies a load needs that each carry some throughput with so many
// requests in flight.
func (s *Sized) copies(throughput float64, requests int) int {
	if s.Requests > 0 {
		return int(math.Ceil(float64(s.Requests) / float64(requests) / s.share()))
	}
	return int(math.Ceil(s.Rate * float64(s.Bench.Output) / throughput / s.share()))
}

// devices is those of some copies of a unit and of the spare ones.
func (s *Sized) devices(unit *Candidate, copies int) int {
	return (copies + s.Spare) * unit.UnitDevices()
}

// score is that of a number of devices; throughput per device decides between equal ones.
func (s *Sized) score(devices int, perDevice float64) float64 {
	if math.IsInf(perDevice, 1) {
		return 1 - float64(devices)
	}
	return perDevice/(1+perDevice) - float64(devices)
}

// PairBound implements [Scored].
func (s *Sized) PairBound(most *Paired) float64 {
	devices := s.Rate * float64(s.Bench.Output) / most.Throughput
	if s.Requests > 0 {
		devices = float64(s.Requests) / most.Requests
	}
	return s.score(int(math.Ceil(devices/s.share()))+s.Spare, together*most.Throughput) // a copy has at least a device
}

// UnitBound implements [Scored].
func (s *Sized) UnitBound(c *Candidate, most *Paired) float64 {
	unit := c.Unit()
	carries := most.unit(&unit)
	copies := s.copies(carries, int(math.Ceil(most.Requests*float64(unit.UnitDevices()))))
	return s.score(s.devices(&unit, copies), together*carries/float64(unit.UnitDevices()))
}

// Explore implements [Evaluator]: one trial shows whether a copy carries enough for the target.
func (s *Sized) Explore(ctx context.Context, c Candidate, target float64) (most, least float64) {
	unit := c.Unit()
	r := Result{Candidate: unit}
	power := s.leastRate(&unit, target)
	if s.Requests > 0 || power == anyRate {
		return math.Inf(1), math.Inf(-1)
	}
	x, bound, err := s.rates(&r, power)
	switch {
	case err != nil:
		return math.Inf(1), math.Inf(-1) // Evaluate says why
	case x == nil:
		return math.Inf(-1), math.Inf(-1)
	}
	in := x.upTo(bound)
	if power < in.high {
		if err := x.takes(ctx, power, &in); err != nil {
			return math.Inf(1), math.Inf(-1)
		}
	}
	if r.OK {
		return math.Inf(1), s.rateScore(&unit, s.tokens(rated(power)))
	}
	return s.rateScore(&unit, s.tokens(rated(min(power, in.high)-1))), math.Inf(-1)
}

// rateScore is the score of a unit of which a copy carries some throughput, as far as short trials show.
func (s *Sized) rateScore(unit *Candidate, carries float64) float64 {
	n := s.copies(carries, 0)
	if s.spares(n, carries) {
		n--
		carries = s.tokens(s.each(n))
	}
	return s.score(s.devices(unit, n), carries/float64(unit.UnitDevices()))
}

// tokens is the throughput of a rate of requests.
func (s *Sized) tokens(rate float64) float64 { return s.Bench.scale() * rate * float64(s.Bench.Output) }

// each is the rate that a copy must be able to carry where there are so many.
func (s *Sized) each(copies int) float64 {
	return s.Rate / s.share() / s.Bench.scale() / float64(copies)
}

// Evaluate implements [Evaluator]: it finds the capacity of one copy, then as many copies as
// the load needs.
func (s *Sized) Evaluate(ctx context.Context, c Candidate, floor float64) Result {
	unit := c.Unit()
	if s.Requests > 0 {
		return s.inFlight(ctx, unit)
	}
	r := Result{Candidate: unit, Label: s.Label(&unit), Load: s.load(&unit)}
	if err := s.atRate(ctx, &r, floor); err != nil {
		r.Refuse(err)
	}
	return r
}

// inFlight finds the copies for a number of requests in flight.
func (s *Sized) inFlight(ctx context.Context, unit Candidate) Result {
	r := s.Simulated.Evaluate(ctx, unit, math.Inf(-1))
	if !r.OK {
		return r
	}
	alone := r.Best
	least := s.copies(alone.Throughput, alone.Concurrency)
	r.Capacity, r.OK, r.Least = alone, false, least
	for n := least; s.devices(&unit, n) <= s.MaxDevices && n <= 2*least+2; n += max(1, n/64) {
		x, err := s.Bench.Run(ctx, unit, Load{Requests: (s.Requests + n - 1) / n}, alone.Batch, Aim{})
		if err != nil {
			r.Refuse(err)
			return r
		}
		o := x.outcome(float64(n))
		o.Batch, o.Concurrency = alone.Batch, s.Requests
		if s.carried(&r, o, s.verdict(&unit, (s.Requests+n-1)/n, &o, x), n) {
			return r
		}
	}
	r.Reason = s.Judge.Reason(r.Binds, &r.First)
	return r
}

// take makes so many copies the answer, with their outcome under the load.
func (s *Sized) take(r *Result, o figures.Outcome, copies int) {
	r.Best, r.OK, r.Score, r.Candidate.Copies = o, true, s.of(r, copies), copies
}

// carried takes so many copies where their outcome under the load meets the limits, and remembers what it misses where not.
func (s *Sized) carried(r *Result, o figures.Outcome, v Verdict, copies int) bool {
	if v == Fits {
		s.take(r, o, copies)
		return true
	}
	r.Binds, r.First = v, o
	return false
}

// atRate finds the copies for a rate: the rate over the capacity of one copy, where requests
// come at random. Copies deal with their own requests and know nothing of each other: one
// shows what all do. A unit whose score is below the floor is dropped.
func (s *Sized) atRate(ctx context.Context, r *Result, floor float64) error {
	unit := r.Candidate
	x, bound, err := s.rates(r, s.leastRate(&unit, floor))
	if err != nil {
		return err
	}
	if x == nil {
		return s.least(ctx, &unit, &climb{binds: Fits}, r)
	}
	if s.Bench.Sessions.Turns > 0 {
		return s.atSessions(ctx, x, bound)
	}
	const tries = 8
	for n := 0; ; {
		if err := x.capacity(ctx, bound); err != nil || r.Dropped || !r.OK {
			return err
		}
		r.OK = false
		if n, err = s.first(ctx, x, max(n+1, s.copies(r.Capacity.Throughput, 0)), floor); err != nil || r.Dropped {
			return err
		}
		if s.devices(&unit, n) > s.MaxDevices || n > 2*r.Least+tries {
			break
		}
		if r.below(s.of(r, n), floor) {
			return nil
		}
		bound = s.Rate / float64(n)
		if done, err := s.confirmed(ctx, x, n, floor); done || err != nil {
			return err
		}
	}
	r.Reason = s.Judge.Reason(r.Binds, &r.First)
	return nil
}

// confirmed takes so many copies, or drops the unit where more would have a score below the floor. The capacity has a sampling error,
// and short trials do not show a load that fills the cache in the end: what is taken meets the limits in a run as precise as it
// is shown. Where it does not, a copy carries less than its share.
func (s *Sized) confirmed(ctx context.Context, x *rates, copies int, floor float64) (bool, error) {
	t, err := x.run(ctx, s.Rate/float64(copies), Carried)
	if err != nil {
		return false, err
	}
	if o, v := x.precise(t, float64(copies)); s.carried(x.r, o, v, copies) {
		x.r.Ran = t.ran
		return true, nil
	}
	return x.r.below(s.of(x.r, copies+1), floor), nil
}

// of is the score of so many copies of the unit of a result, which each carry its capacity.
func (s *Sized) of(r *Result, copies int) float64 {
	unit := r.Candidate
	return s.score(s.devices(&unit, copies), r.Capacity.Throughput/float64(unit.UnitDevices()))
}

// below drops a candidate that has about a score if that is below a floor.
func (r *Result) below(most, floor float64) bool {
	r.Dropped, r.Most, r.Has = most < floor, most, most
	return r.Dropped
}

// rates looks for the capacity of the unit of a result, up to a bound; it is nil where a single request surely misses the limits.
func (s *Sized) rates(r *Result, least int) (x *rates, bound float64, err error) {
	unit := r.Candidate
	b, err := s.Bench.bounds(&unit)
	if err != nil {
		return nil, 0, err
	}
	r.Load.Budget = b.budget()
	last := s.limit(&unit, b)
	if last == 0 {
		return nil, 0, nil
	}
	x = &rates{Sized: s, unit: unit, bounds: b, r: r, least: least, copies: 1}
	if x.batch, err = s.roomiest(&unit, last); err != nil {
		return nil, 0, err
	}
	return x, s.carries(&unit, b, last) / s.Bench.scale() / float64(s.Bench.Output), nil
}

// spares reports whether a copy less than so many may do: of a few, one counts, and trials are short, so that a copy may carry
// a little more than was found.
func (s *Sized) spares(copies int, carries float64) bool {
	const (
		few    = 8
		served = 1.05
	)
	return copies > 1 && copies <= few && s.copies(served*carries, 0) < copies
}

// first is so many copies, of which the first that are tried may be one less. A unit that has less than the floor then is dropped.
func (s *Sized) first(ctx context.Context, x *rates, copies int, floor float64) (int, error) {
	if x.r.Least > 0 || x.r.below(s.rateScore(&x.unit, x.r.Capacity.Throughput), floor) {
		return copies, nil
	}
	n, err := s.spared(ctx, x, copies)
	x.r.Least = n
	return n, err
}

// spared is a copy less than so many where a precise run shows that each carries a little more than was found.
func (s *Sized) spared(ctx context.Context, x *rates, copies int) (int, error) {
	if !s.spares(copies, x.r.Capacity.Throughput) {
		return copies, nil
	}
	fewer := copies - 1
	t, err := x.run(ctx, s.each(fewer), Carried)
	if err != nil {
		return copies, err
	}
	if o, v := x.precise(t, 1); v == Fits {
		o.Throughput = s.tokens(s.each(fewer))
		x.r.Capacity = o
		return fewer, nil
	}
	return copies, nil
}

// roomiest is the largest batch of a rank, up to what so many requests in flight need, that
// leaves room for a cache.
func (s *Sized) roomiest(unit *Candidate, requests int) (int, error) {
	for batch := unit.Batch(requests); ; batch /= 2 {
		_, err := s.Bench.build(*unit, batch)
		if batch <= 1 || !errors.Is(err, replica.ErrNoCache) {
			return batch, err
		}
	}
}

// leastRate is the smallest rate, as a power of a rung, with which a copy of a unit has a score.
func (s *Sized) leastRate(unit *Candidate, score float64) int {
	if math.IsInf(score, -1) {
		return anyRate
	}
	const most = 1 << 11 // 10^17 requests per second
	return sort.Search(2*most, func(i int) bool { return s.rateScore(unit, s.tokens(rated(i-most))) >= score }) - most
}

// Needed is how many of some copies carry a rate of requests that one carries a part of.
func (m *Margin) Needed(rate, carries float64, copies int) int {
	return min(copies, max(1, int(math.Ceil(rate/carries/m.share()))))
}
