package search

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sort"

	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
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
	Simulate func(ctx context.Context, u Unit, requests int, all bool) (formulas.Outcome, Verdict, error)
	// Least is the throughput of all copies below which nothing is of interest; what
	// comes nearest to the limits is not looked for then.
	Least float64
	// Top is how many decode layouts are wanted at least.
	Top     int
	Workers int // that simulate at a time

	prompts, own []prompts // bounds of the prefill and of the decode workers
	tokens       [][]token // of the decode workers
}

// Found is the best of the units with one decode layout.
type Found struct {
	Unit   Unit
	Best   formulas.Outcome
	OK     bool
	Binds  Verdict // what limits the batch, or why there is no best
	Points []formulas.Outcome
	// Near is the outcome that came nearest to the limits, if none met them.
	Near formulas.Outcome

	floor     float64 // throughput below which nothing is of interest
	drift     drift
	confirmed bool // all copies were simulated
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
	s.Prepare()
	groups := s.options()
	slices.SortStableFunc(groups, func(a, b []option) int { return cmp.Compare(b[0].bound, a[0].bound) })
	top := max(1, s.Top)
	var found []Found
	floor := s.Least
	tooLittle := func(g []option) bool { return g[0].bound < floor }
	for groups = slices.DeleteFunc(groups, tooLittle); len(groups) > 0; {
		next := groups[:min(top, len(groups))]
		more, err := s.evaluate(ctx, next, floor)
		if err != nil {
			return nil, err
		}
		found, groups = append(found, more...), groups[len(next):]
		if err := s.confirmed(ctx, found); err != nil {
			return nil, err
		}
		// What is worse than all of the best so far need not be looked at.
		if len(found) >= top && found[top-1].OK {
			floor = max(floor, found[top-1].Best.Throughput)
		}
		groups = slices.DeleteFunc(groups, tooLittle)
	}
	if s.Least == 0 && !slices.ContainsFunc(found, func(f Found) bool { return f.OK }) {
		near, err := s.nearest(ctx)
		if err != nil {
			return nil, err
		}
		found = near
	}
	Rank(found)
	return found, nil
}

// Rank orders what was found: the most throughput first, and last what has no outcome
// within the limits.
func Rank(found []Found) {
	slices.SortStableFunc(found, func(a, b Found) int {
		if a.OK != b.OK {
			return cmp.Compare(btoi(b.OK), btoi(a.OK))
		}
		return cmp.Compare(b.Best.Throughput, a.Best.Throughput)
	})
}

// confirmed ranks what was found, and simulates all copies of what is or may be among
// the Top.
func (s *Units) confirmed(ctx context.Context, found []Found) error {
	const certain = 0.99 // one copy shows what each of several carries so well
	top := max(1, s.Top)
	for {
		Rank(found)
		var todo []int
		for i := range found {
			f := &found[i]
			if f.OK && !f.confirmed && (i < top || f.Best.Throughput >= certain*found[top-1].Best.Throughput) {
				todo = append(todo, i)
			}
		}
		if len(todo) == 0 {
			return nil
		}
		errs := make([]error, len(todo))
		err := pool.Each(ctx, len(todo), s.Workers, func(i int) { found[todo[i]], errs[i] = s.confirm(ctx, found[todo[i]]) })
		if err := cmp.Or(err, errors.Join(errs...)); err != nil {
			return err
		}
	}
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

// drift is how far simulations are off their bounds: factors of TTFT, TPOT and
// throughput. Units of a group are much alike, so each tells where to begin with the
// next.
type drift struct{ ttft, tpot, rate float64 }

// start is where to begin with a unit: the first load that nearly reaches its bound, or
// the last that should meet the limits; but no load that should not be better than the
// best. Where what is simulated differs from what it should be, climbing goes on.
func (s *Units) start(o *option, loads []int, f *Found) int {
	const near = 0.99
	i := sort.Search(len(loads), func(i int) bool { return s.bound(o.Unit, loads[i]) >= near*o.bound })
	if s.Plausible != nil {
		over := sort.Search(len(loads), func(i int) bool {
			n := loads[i]
			ttft, tpot := f.drift.ttft*s.ttft(o.Unit, n), f.drift.tpot*s.token(o.Decode, s.least(o.Unit, n))
			return !s.Plausible(o.Unit, n, units.Seconds(ttft), units.Seconds(tpot))
		})
		i = min(i, max(0, over-1))
	}
	if f.OK {
		i = max(i, sort.Search(len(loads), func(i int) bool { return f.drift.rate*s.bound(o.Unit, loads[i]) > f.Best.Throughput }))
	}
	return min(i, len(loads)-1)
}

// best simulates the units of a group in the order of their bounds, until what is left
// cannot be better.
func (s *Units) best(ctx context.Context, g []option, floor float64) (Found, error) {
	out := Found{Unit: g[0].Unit, floor: floor, drift: drift{1.3, 1.06, 0.97}}
	for _, o := range scouted(g) {
		if out.beats(o.bound) {
			break
		}
		if err := s.climb(ctx, o, &out); err != nil {
			return out, err
		}
	}
	return out, s.descend(ctx, g, &out)
}

// descend looks whether the best unit carries more with fewer requests in flight: where
// caches are full, requests are stopped and computed again. It ends with the first load
// that carries less.
func (s *Units) descend(ctx context.Context, g []option, out *Found) error {
	at := slices.IndexFunc(g, func(o option) bool { return o.Unit == out.Unit })
	if !out.OK || at < 0 {
		return nil
	}
	loads, best := g[at].loads(), out.Best.Concurrency/out.Unit.Copies
	i, _ := slices.BinarySearch(loads, best)
	for stride := 1; i-stride >= 0; stride *= 2 {
		i -= stride
		if s.bound(out.Unit, loads[i]) <= out.Best.Throughput*(1+gain) {
			return nil
		}
		before := out.Best.Throughput
		r, v, err := s.Simulate(ctx, out.Unit, loads[i], false)
		if err != nil {
			return err
		}
		if s.keep(&r, v, out.Unit, out); out.Best.Throughput <= before {
			return nil
		}
		out.Binds = Saturated
	}
	return nil
}

// scouted are options in the order of their bounds, but first the one with the most
// copies of those that are nearly the best: a small unit is simulated quickly and shows
// what the others have to beat.
func scouted(g []option) []*option {
	const nearly = 0.95
	var out []*option
	scout := 0
	for i := range g {
		if g[i].bound >= nearly*g[0].bound && g[i].Copies > g[scout].Copies {
			scout = i
		}
		out = append(out, &g[i])
	}
	first := out[scout]
	return slices.Insert(slices.Delete(out, scout, scout+1), 0, first)
}

// climb finds the load of a unit with the most throughput within the limits, starting
// where its bound is reached: up while more is gained, or down until the limits are
// met, to where simulations point or in growing steps, and between the last two by
// bisection. A smaller load carries less: what fails the limits and is not better than
// the best ends it; unless throughput fell, as where caches run full or a batch outgrows
// captured graphs.
func (s *Units) climb(ctx context.Context, o *option, out *Found) error {
	loads := o.loads()
	stride := 1
	at := bracket{low: -1, high: len(loads)}
	for i := s.start(o, loads, out); at.low+1 < at.high; {
		if bound := s.bound(o.Unit, loads[i]); out.beats(bound) {
			at.skip(i, bound)
		} else {
			r, v, err := s.Simulate(ctx, o.Unit, loads[i], false)
			if err := cmp.Or(err, ctx.Err()); err != nil {
				return err
			}
			beaten := out.beats(r.Throughput)
			s.learn(&r, o.Unit, loads[i], out)
			s.keep(&r, v, o.Unit, out)
			if at.ends(i, &r, v == Fits, beaten && out.drift.rate >= sane) {
				return nil
			}
			if v != Fits && (!out.OK || out.Unit == o.Unit) {
				out.Binds = v
			}
		}
		i = s.next(o, loads, out, at.low, at.high, stride)
		stride *= 2
	}
	return nil
}

// bracket is where the best load of a unit is: behind the last that need not be looked
// at, with its throughput, and before the first that does not meet the limits or carries
// less.
type bracket struct {
	low, high int
	before    float64
}

// skip narrows the bracket by a load whose bound is beaten: so is what is smaller, but for
// what a still smaller one that carries more tells.
func (b *bracket) skip(i int, bound float64) {
	if bound < b.before {
		b.high = i
	} else {
		b.low = i
	}
}

// ends narrows the bracket by the outcome of a load and reports whether that is the end:
// it fits and brings no more, or does not fit and is surely beaten.
func (b *bracket) ends(i int, r *formulas.Outcome, fits, beaten bool) bool {
	fell := r.Throughput < b.before*(1-gain)
	switch {
	case fell, !fits && (!beaten || r.OOM != ""):
		b.high = i
	case !fits, r.Throughput < b.before*(1+gain):
		return true
	default:
		b.low, b.before = i, r.Throughput
	}
	return false
}

// next is what to try next between two places: where simulations point as long as one of
// them is open, or else on from there.
func (s *Units) next(o *option, loads []int, f *Found, low, high, stride int) int {
	if low < 0 || high == len(loads) {
		if i := s.start(o, loads, f); low < i && i < high {
			return i
		}
	}
	return between(low, high, stride, len(loads))
}

// learn notes how far a simulation is off its bounds.
func (s *Units) learn(r *formulas.Outcome, u Unit, load int, out *Found) {
	if r.OOM == "" {
		out.drift = drift{
			float64(r.TTFT) / s.ttft(u, load), float64(r.TPOT) / s.token(u.Decode, s.least(u, load)), r.Throughput / s.bound(u, load),
		}
	}
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

// sane is the share of its bound below which throughput has fallen.
const sane = 0.8

// gain is what a larger load must bring to go on.
const gain = 0.005

// keep records an outcome.
func (s *Units) keep(r *formulas.Outcome, v Verdict, u Unit, out *Found) {
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
	f.confirmed = true
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
// whatever the limits: the trade-off of speed and throughput. It ends where caches are
// full: more requests only wait.
func (s *Units) Sweep(ctx context.Context) ([]formulas.Outcome, error) {
	free := *s
	free.Plausible = nil
	free.Prepare()
	groups := free.options()
	var todo []option
	most := 0.0
	for batch := 1; ; batch *= 2 {
		var all []option
		for _, g := range groups {
			for _, o := range g {
				d := &s.Decode[o.Decode]
				full := s.full(d)
				o.limit = min(batch, full) * o.Y * d.ranks()
				if o.bound = free.bound(o.Unit, o.limit); batch <= d.MaxBatch && batch < 2*full {
					all = append(all, o)
				}
			}
		}
		if len(all) == 0 {
			break
		}
		slices.SortStableFunc(all, func(a, b option) int { return cmp.Compare(b.bound, a.bound) })
		if all[0].bound > most { // a larger batch that carries no more is only slower
			most = all[0].bound
			todo = append(todo, *scouted(all)[0])
		}
	}
	out := make([]formulas.Outcome, len(todo))
	errs := make([]error, len(todo))
	err := pool.Each(ctx, len(todo), s.Workers, func(i int) {
		out[i], _, errs[i] = s.Simulate(ctx, todo[i].Unit, todo[i].limit, false)
	})
	return out, cmp.Or(err, errors.Join(errs...))
}
