package search

import (
	"context"
	"math"
	"sort"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
)

// Sessions is what a search knows of a load of sessions. A load in flight is then sessions under way, of which some wait for
// an answer while people or tools take their time; a rate is that of all requests.
type Sessions struct {
	// Turns is the requests of a session on average; 0 is no sessions.
	Turns float64
	// Think is the time from an answer to the next request, on average over all requests.
	Think units.Seconds
	// Pairs is the tokens of a prompt to compute, each times those before it, in a cache that never evicts.
	Pairs float64
	// Routing is how requests are spread over copies.
	Routing sim.Routing
}

// mixes reports whether the capacity of a copy depends on the number of copies. Routers that keep a session where it is and spread new
// ones evenly have each copy serve its own: one copy with its part of the sessions then shows what all do, but for the
// sessions that move away from a long queue. Others send turns of a session to several copies, or, because prompts of all
// sessions begin with the same system prompt, sessions to few copies until these are busy.
func (s *Sessions) mixes() bool {
	return s.Turns > 0 && s.Routing != sim.BySession && s.Routing != sim.LLMD
}

// mostMixed is the copies that are simulated at most where they depend on each other: with more, hardly any turn comes to a copy
// that had an earlier one.
const mostMixed = 32

// Sample is how many of the copies are simulated to show what all carry.
func (s *Sessions) Sample(c *Candidate) int {
	if s.mixes() {
		return min(c.times(), mostMixed)
	}
	return c.Sample()
}

// inFlight is the least requests in flight of a copy with so much load: all of it, or of sessions those that cannot be thinking.
// They think no longer than they do in all, and no more of them do than answers come.
func (s *bounds) inFlight(load int) int {
	think := float64(s.Sessions.Think)
	if think == 0 {
		return load
	}
	alone := s.alone()
	least := float64(load) * alone / (alone + think)
	rate := s.throughput(load) / s.scale() / float64(s.Output)
	return min(load, max(1, int(math.Ceil(max(least, float64(load)-rate*think)))))
}

// carries is the most load of which no more than so many requests are in flight.
func (s *bounds) carries(requests int) int {
	think := float64(s.Sessions.Think)
	if think == 0 {
		return requests
	}
	most := int(math.Ceil(float64(requests) * (1 + think/s.alone())))
	return sort.Search(most, func(i int) bool { return s.inFlight(i+1) > requests })
}

// misses says which limit times miss with no more than so many requests in flight in a copy.
func (s *Simulated) misses(c *Candidate, requests int, t figures.Times) Verdict {
	return s.Judge.Misses(t, s.errors(c, requests, &Trial{}))
}

// shared climbs a candidate again whose copies get requests of each other's sessions, up to the load that one copy carries by
// itself: what a session said is then not where its next request comes to.
func (s *Simulated) shared(ctx context.Context, c *Candidate, b *bounds, alone *climb) (*climb, error) {
	copies := s.Bench.Sessions.Sample(c)
	try := func(load int) (figures.Outcome, Verdict, bool, error) { return s.try(ctx, *c, load, copies) }
	t := s.climbing(c, b, s.loads(c, alone.best.load), alone.floor, try)
	most := alone.most.outcome.Throughput * (1 + Tolerance)
	bound := t.bound
	t.bound = func(load int) float64 { return min(most, bound(load)) }
	t.start = sort.SearchInts(t.loads, (alone.best.load+1)/2)
	return t, t.run()
}

// mixedSteps are the numbers of copies whose capacity is found, where copies get requests of each other's sessions. In
// between, a copy is taken to carry as much as one of more copies.
func mixedSteps() []int { return []int{1, 2, 3, 4, 6, 8, 12, 16, 24, mostMixed} }

// shared finds the copies for a rate where they get requests of each other's sessions, from the capacity of one copy alone.
// The numbers of copies tried, and their capacity, do not depend on the rate.
func (x *rates) shared(ctx context.Context) error {
	alone := x.r.Capacity
	perCopy := func() float64 { return x.r.Capacity.Throughput / x.Bench.scale() / float64(x.Bench.Output) }
	most := perCopy()
	rate := x.Rate / x.share()
	wanted := math.MaxInt
	if x.least != anyRate {
		wanted = int(math.Ceil(rate / rated(x.least)))
	}
	before := 0
	for i, n := range mixedSteps() {
		last := i == len(mixedSteps())-1
		if before >= wanted {
			x.r.OK = false
			x.r.below(x.of(x.r, before+1), math.Inf(1))
			return nil
		}
		if float64(n)*most < rate && !last {
			before = n
			continue
		}
		x.copies, x.r.OK, x.r.Capacity = n, true, alone
		if n > 1 {
			x.r.OK, x.least = false, below(rate/float64(n))
			if last {
				x.least = anyRate
			}
			if err := x.capacity(ctx, most); err != nil {
				return err
			}
			x.r.Dropped = false
		}
		if x.r.OK && (last || float64(n)*perCopy() >= rate) {
			x.r.Least = max(before+1, int(math.Ceil(rate/perCopy())))
			return nil
		}
		if before = n; x.r.OK {
			most = min(most, perCopy())
		} else {
			most = min(most, rated(x.least))
		}
	}
	return nil
}

// atSessions finds the copies for a rate of sessions: the rate over the capacity of one copy, where its requests come at random.
func (s *Sized) atSessions(ctx context.Context, x *rates, bound float64) error {
	r := x.r
	if err := x.capacity(ctx, bound); err != nil || r.Dropped || !r.OK {
		return err
	}
	if r.Least = s.copies(r.Capacity.Throughput, 0); s.Bench.Sessions.mixes() {
		if err := x.shared(ctx); err != nil || !r.OK {
			return err
		}
	}
	r.OK, x.long = false, true
	// The capacity has a sampling error: in rare cases one copy more is needed.
	for n := r.Least; s.devices(&x.unit, n) <= s.MaxDevices && n <= r.Least+2+r.Least/64; n++ {
		all := x.unit
		all.Copies = n
		x.copies = s.Bench.Sessions.Sample(&all)
		o, v, err := x.at(ctx, s.Rate/float64(n), float64(n))
		if err != nil {
			return err
		}
		if s.carried(r, o, v, n) {
			return x.lasting(ctx, s.Rate/float64(n))
		}
	}
	r.Reason = s.Judge.Reason(r.Binds, &r.First)
	return nil
}

// lasting makes the capacity of a copy one that lasts, but no less than what it was found to carry: where caches are nearly too small,
// short trials show a load as carried that is not in the end.
func (x *rates) lasting(ctx context.Context, carried float64) error {
	c := &x.r.Capacity
	rate := c.Throughput / x.Bench.scale() / float64(x.Bench.Output)
	const less = 0.85
	for ; rate > carried; rate *= less {
		o, v, err := x.at(ctx, rate, 1)
		if err != nil {
			return err
		}
		if v == Fits {
			o.Throughput = x.tokens(rate)
			*c = o
			return nil
		}
	}
	o, _, err := x.at(ctx, carried, 1) // known
	if err == nil {
		o.Throughput = x.tokens(carried)
		*c = o
	}
	return err
}
