package search

import (
	"context"
	"math"
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
}

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
	return s.score(s.copies(b.throughput(n), n)*unit.UnitDevices(), math.Inf(1))
}

// copies is how many copies a load needs that each carry some throughput with so many
// requests in flight.
func (s *Sized) copies(throughput float64, requests int) int {
	if s.Requests > 0 {
		return int(math.Ceil(float64(s.Requests) / float64(requests)))
	}
	return int(math.Ceil(s.Rate * float64(s.Bench.Output) / throughput))
}

// score is that of a number of devices; throughput per device decides between equal ones.
func (s *Sized) score(devices int, perDevice float64) float64 {
	if math.IsInf(perDevice, 1) {
		return 1 - float64(devices)
	}
	return perDevice/(1+perDevice) - float64(devices)
}

// PairBound implements [Scored].
func (s *Sized) PairBound(perDevice float64) float64 {
	if s.Requests > 0 {
		return 0
	}
	return s.score(int(math.Ceil(s.Rate*float64(s.Bench.Output)/perDevice)), math.Inf(1))
}

// Evaluate implements [Evaluator]: it finds what one copy carries, then as many copies as
// the load needs, and more where that is not enough for requests that come at random.
func (s *Sized) Evaluate(ctx context.Context, c Candidate, floor float64) Result {
	unit := c.Unit()
	r := s.Simulated.Evaluate(ctx, unit, s.throughput(&unit, floor))
	if !r.OK || r.Dropped {
		return r
	}
	alone, requests := r.Best, r.Best.Concurrency
	r.Alone = alone
	least := s.copies(alone.Throughput, requests)
	each := unit.UnitDevices()
	r.OK, r.Least = false, least
	for n := least; n*each <= s.MaxDevices && n <= 2*least+2; n += max(1, n/64) {
		// Requests are dealt out to copies that know nothing of each other: one tells.
		load := Load{Rate: s.Rate / float64(n)}
		if s.Requests > 0 {
			load = Load{Requests: (s.Requests + n - 1) / n}
		}
		x, err := s.Bench.Run(ctx, unit, load, unit.Batch(requests))
		if err != nil {
			r.refuse(err)
			return r
		}
		o := x.outcome(s.Judge.Percentile, 1)
		o.Batch, o.Concurrency = alone.Batch, requests*n
		if v := s.verdict(&unit, inFlight(x, load), &o, x); v != Fits {
			r.Binds, r.First = v, o
			continue
		}
		// Throughput is what the copies can carry, times are those under the load.
		o.Throughput = float64(n) * alone.Throughput
		r.Best, r.OK, r.Candidate.Copies = o, true, n
		r.Score = s.score(n*each, alone.Throughput/float64(each))
		return r
	}
	r.Reason = s.Judge.Reason(r.Binds, &r.First)
	return r
}

// inFlight is the requests in flight on average, by Little's law.
func inFlight(t *Trial, l Load) int {
	if l.Requests > 0 {
		return l.Requests
	}
	return int(math.Ceil(l.Rate * float64(t.Latency.Mean)))
}

// throughput is what one copy must carry for a score.
func (s *Sized) throughput(unit *Candidate, score float64) float64 {
	if math.IsInf(score, -1) || s.Requests > 0 {
		return math.Inf(-1)
	}
	copies := int(1-score) / unit.UnitDevices()
	if copies < 1 {
		return math.Inf(1)
	}
	return s.Rate * float64(s.Bench.Output) / float64(copies)
}

// Needed is how many of some copies carry a rate of requests that one carries a part of.
func Needed(rate, carries float64, copies int) int {
	return min(copies, max(1, int(math.Ceil(rate/carries))))
}
