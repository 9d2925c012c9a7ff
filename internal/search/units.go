package search

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sort"

	"plimsoll/internal/parallel"
	"plimsoll/internal/pool"
	"plimsoll/internal/serving"
	"plimsoll/internal/sim"
	"plimsoll/internal/units"
)

// Worker is a worker that a unit may be made of. Pool is one of it, for bounds.
type Worker struct {
	Layout parallel.Layout
	Pool   sim.Pool
	// MaxBatch is the largest batch of a data-parallel rank.
	MaxBatch int
}

// Units searches deployments made of units of workers. A bound that no simulation
// exceeds orders them; simulation decides.
type Units struct {
	// Prefill are the workers for prompts; without any, those for decode do both.
	Prefill, Decode []Worker
	Packing         Packing
	Link            sim.Link // of caches from prefill to decode workers
	Input, Output   int
	Prefix          int // tokens of a prompt that are in the prefix cache
	// Percentile at which TTFT is held to its limit; 0 is the mean.
	Percentile float64
	// Plausible reports whether an outcome with at least such a TTFT and TPOT may meet
	// the limits; nil is always.
	Plausible func(u Unit, requests int, ttft, tpot units.Seconds) bool
	// Simulate gives the outcome of one copy of a unit, or of all, with so many
	// requests in flight in each copy, and whether it meets the limits; throughput and
	// concurrency are those of all copies.
	Simulate func(ctx context.Context, u Unit, requests int, all bool) (serving.Outcome, Verdict, error)
	// Top is how many decode layouts are wanted at least.
	Top     int
	Workers int // that simulate at a time

	prompts, own []prompts // bounds of the prefill and of the decode workers
	tokens       [][]token // of the decode workers
}

// Found is the best of the units with one decode layout.
type Found struct {
	Unit   Unit
	Best   serving.Outcome
	OK     bool
	Binds  Verdict // what limits the batch, or why there is no best
	Points []serving.Outcome
	// Near is the outcome that came nearest to the limits, if none met them.
	Near serving.Outcome

	floor float64 // throughput below which nothing is of interest
}

// beats reports whether a throughput is not worth looking at.
func (f *Found) beats(throughput float64) bool {
	return throughput < f.floor || f.OK && throughput <= f.Best.Throughput
}

// option is a unit with its bound.
type option struct {
	Unit

	bound float64 // output tokens per second of all copies
	limit int     // requests in flight in a copy beyond which no limit is met
}

// Run searches. It returns the best unit of every decode layout that could be among
// the Top, the most throughput first; those without an outcome within the limits come
// last.
func (s *Units) Run(ctx context.Context) ([]Found, error) {
	s.prepare()
	groups := s.options()
	slices.SortStableFunc(groups, func(a, b []option) int { return cmp.Compare(b[0].bound, a[0].bound) })
	first := min(max(1, s.Top), len(groups))
	found, err := s.evaluate(ctx, groups[:first], 0)
	if err != nil {
		return nil, err
	}
	// What is worse than all of these need not be looked at.
	least := math.Inf(1)
	for i := range found {
		if found[i].OK {
			least = min(least, found[i].Best.Throughput)
		} else {
			least = 0
		}
	}
	rest := slices.DeleteFunc(slices.Clone(groups[first:]), func(g []option) bool { return g[0].bound < least })
	more, err := s.evaluate(ctx, rest, least)
	if err != nil {
		return nil, err
	}
	found = append(found, more...)
	if !slices.ContainsFunc(found, func(f Found) bool { return f.OK }) {
		if found, err = s.nearest(ctx); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(found, func(a, b Found) int {
		if a.OK != b.OK {
			return cmp.Compare(btoi(b.OK), btoi(a.OK))
		}
		return cmp.Compare(b.Best.Throughput, a.Best.Throughput)
	})
	return found, nil
}

// nearest is one request alone on a unit of every decode layout: what comes nearest to
// limits that nothing meets.
func (s *Units) nearest(ctx context.Context) ([]Found, error) {
	free := *s
	free.Plausible = nil
	var out []Found
	for _, g := range free.options() {
		soonest := slices.MinFunc(g, func(a, b option) int {
			return cmp.Or(cmp.Compare(s.ttft(a.Unit, 1), s.ttft(b.Unit, 1)), cmp.Compare(b.bound, a.bound))
		})
		r, v, err := s.Simulate(ctx, soonest.Unit, 1, false)
		if err != nil {
			return nil, err
		}
		f := Found{Unit: soonest.Unit, Binds: v}
		s.keep(&r, v, soonest.Unit, &f)
		out = append(out, f)
	}
	return out, nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// evaluate finds the best of each group, several at a time. What carries less than floor
// is of no interest.
func (s *Units) evaluate(ctx context.Context, groups [][]option, floor float64) ([]Found, error) {
	out := make([]Found, len(groups))
	errs := make([]error, len(groups))
	err := pool.Each(ctx, len(groups), s.Workers, func(i int) { out[i], errs[i] = s.best(ctx, groups[i], floor) })
	for _, e := range errs {
		err = cmp.Or(err, e)
	}
	return out, err
}

// options are the units of each decode layout, those with the highest bounds first.
// Layouts without a unit are left out.
func (s *Units) options() [][]option {
	var groups [][]option
	for d := range s.Decode {
		var g []option
		add := func(u Unit) {
			o := option{Unit: u, limit: s.limit(u)}
			if o.bound = s.bound(u, o.limit); o.bound > 0 {
				g = append(g, o)
			}
		}
		each := s.Decode[d].Layout.Devices
		if n := s.Packing.Devices / each; len(s.Prefill) == 0 && n > 0 {
			add(Unit{Decode: d, Y: 1, Copies: n})
		}
		for p := range s.Prefill {
			for _, u := range s.Packing.List(s.Prefill[p].Layout.Devices, each) {
				u.Prefill, u.Decode = p, d
				add(u)
			}
		}
		if len(g) > 0 {
			slices.SortStableFunc(g, func(a, b option) int { return cmp.Compare(b.bound, a.bound) })
			groups = append(groups, g)
		}
	}
	return groups
}

// loads are the requests in flight that are tried: each up to 16, then steps of a
// sixteenth, and the largest.
func (o *option) loads() []int {
	var out []int
	for n := 1; n < o.limit; n += max(1, n/16) {
		out = append(out, n)
	}
	return append(out, o.limit)
}

// start is where to begin with a unit: the first load that nearly reaches its bound, or
// the last that should meet the limits. Simulations take about so much longer than the
// bounds of TTFT and TPOT; where they do not, climbing goes on.
func (s *Units) start(o *option, loads []int) int {
	const near, first, each = 0.99, 1.3, 1.06
	i := sort.Search(len(loads), func(i int) bool { return s.bound(o.Unit, loads[i]) >= near*o.bound })
	if s.Plausible != nil {
		over := sort.Search(len(loads), func(i int) bool {
			n := loads[i]
			ttft, tpot := first*s.ttft(o.Unit, n), each*s.token(o.Decode, s.least(o.Unit, n))
			return !s.Plausible(o.Unit, n, units.Seconds(ttft), units.Seconds(tpot))
		})
		i = min(i, max(0, over-1))
	}
	return min(i, len(loads)-1)
}

// best simulates the units of a group in the order of their bounds, until what is left
// cannot be better.
func (s *Units) best(ctx context.Context, g []option, floor float64) (Found, error) {
	out := Found{Unit: g[0].Unit, floor: floor}
	for i := range g {
		o := &g[i]
		if out.beats(o.bound) {
			break
		}
		if err := s.climb(ctx, o, &out); err != nil {
			return out, err
		}
	}
	return s.confirm(ctx, out)
}

// climb finds the load of a unit with the most throughput within the limits, starting
// where its bound is reached: up while more is gained, or down until the limits are
// met, in growing steps, and between the last two by bisection. A smaller load carries
// less: what fails the limits and is not better than the best ends it.
func (s *Units) climb(ctx context.Context, o *option, out *Found) error {
	loads := o.loads()
	before, stride := 0.0, 1
	low, high := -1, len(loads) // the last load that need not be looked at, the first that does not meet the limits
	for i := s.start(o, loads); low+1 < high; {
		if out.beats(s.bound(o.Unit, loads[i])) {
			low = i
		} else {
			r, v, err := s.Simulate(ctx, o.Unit, loads[i], false)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			beaten := out.beats(r.Throughput)
			s.keep(&r, v, o.Unit, out)
			switch {
			case v != Fits && beaten && r.OOM == "":
				return nil
			case v != Fits:
				high = i
				if !out.OK || out.Unit == o.Unit {
					out.Binds = v
				}
			case r.Throughput < before*(1+gain):
				return nil // more requests only wait longer
			default:
				low, before = i, r.Throughput
			}
		}
		i = between(low, high, stride, len(loads))
		stride *= 2
	}
	return nil
}

// between is what to try next between two places: beyond the last of n, before the
// first, or the middle.
func between(low, high, stride, n int) int {
	switch {
	case high == n:
		return min(low+stride, high-1)
	case low < 0:
		return max(high-stride, 0)
	}
	return (low + high) / 2
}

// gain is what a larger load must bring to go on.
const gain = 0.005

// keep records an outcome.
func (s *Units) keep(r *serving.Outcome, v Verdict, u Unit, out *Found) {
	if r.OOM == "" {
		out.Points = append(out.Points, *r)
	}
	switch {
	case v == Fits && (!out.OK || r.Throughput > out.Best.Throughput*(1+same)):
		out.Best, out.OK, out.Unit = *r, true, u
	case !out.OK && r.OOM == "" && (out.Near.Batch == 0 || r.TPOT+r.TTFT < out.Near.TPOT+out.Near.TTFT):
		out.Near = *r
		out.Unit = u
	}
}

// confirm simulates the best load on all copies; a few requests less may be needed to
// meet the limits.
func (s *Units) confirm(ctx context.Context, f Found) (Found, error) {
	if !f.OK || f.Unit.Copies == 1 {
		return f, nil
	}
	const tries, less = 8, 0.95
	load := f.Best.Concurrency / f.Unit.Copies
	for range tries {
		r, v, err := s.Simulate(ctx, f.Unit, load, true)
		if err != nil {
			return f, err
		}
		if f.Best, f.OK = r, v == Fits; f.OK || load == 1 {
			break
		}
		load = max(1, int(less*float64(load)))
	}
	return f, nil
}

// Sweep simulates the units that should carry the most at each of some batches,
// whatever the limits: the trade-off of speed and throughput.
func (s *Units) Sweep(ctx context.Context) ([]serving.Outcome, error) {
	free := *s
	free.Plausible = nil
	if free.tokens == nil {
		free.prepare()
	}
	groups := free.options()
	var todo []option
	for batch := 1; ; batch *= 2 {
		best := option{}
		for _, g := range groups {
			for _, o := range g {
				o.limit = batch * o.Y * s.Decode[o.Decode].ranks()
				if o.bound = free.bound(o.Unit, o.limit); batch <= s.Decode[o.Decode].MaxBatch && o.bound > best.bound {
					best = o
				}
			}
		}
		if best.bound == 0 {
			break
		}
		todo = append(todo, best)
	}
	out := make([]serving.Outcome, len(todo))
	errs := make([]error, len(todo))
	err := pool.Each(ctx, len(todo), s.Workers, func(i int) {
		out[i], _, errs[i] = s.Simulate(ctx, todo[i].Unit, todo[i].limit, false)
	})
	return out, cmp.Or(err, errors.Join(errs...))
}
