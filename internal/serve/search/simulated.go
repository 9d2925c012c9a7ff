package search

import (
	"context"
	"errors"
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/replica"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
)

// Simulated evaluates candidates by simulating their deployments in a steady state, with a
// number of requests in flight: the figures are exactly those that a simulation of the
// deployment at that concurrency has.
type Simulated struct {
	Bench *Bench
	Judge Judge
	// Errors are those to expect of the figures of one copy of a candidate with so many
	// requests in flight. Nil is none.
	Errors func(c *Candidate, requests int, t *Trial) Errors
	Range  Range // of the batch per data-parallel rank
	// Devices are those that units are packed on.
	Devices int
	// Label is a candidate as printed.
	Label func(*Candidate) string

	mu    sync.Mutex
	pairs map[Candidate]batched
}

// batched is the most requests in the batches of one worker that only generates, and how long one
// may wait for its first token.
type batched struct {
	requests int
	latest   units.Seconds
}

var _ Evaluator = (*Simulated)(nil)

// Bound implements [Evaluator].
func (s *Simulated) Bound(c *Candidate) float64 {
	b, err := s.Bench.bounds(c)
	if err != nil {
		return math.Inf(1) // Evaluate says why
	}
	n := s.limit(c, b)
	if n == 0 {
		return math.Inf(-1)
	}
	return s.together(c) * float64(c.times()) * s.carries(c, b, n)
}

// carries bounds the throughput of a copy with so many requests in flight.
func (s *Simulated) carries(c *Candidate, b *bounds, requests int) float64 {
	out := b.throughput(requests)
	if c.X == 0 {
		return out
	}
	return min(out, s.Bench.scale()*b.decodes(s.batches(c, b).requests)*float64(s.Bench.Output))
}

// together is how much more copies are taken to carry than one of them by itself times
// their number. Chance may make it a little more where requests differ.
const together = 1.02

func (s *Simulated) together(c *Candidate) float64 {
	if s.alike(c) {
		return 1
	}
	return together
}

// alike says that all copies of a candidate do the same at the same time, so that one
// shows what all carry.
func (s *Simulated) alike(c *Candidate) bool { return c.times() == 1 || !s.Bench.Varied && c.X == 0 }

// Explore implements [Evaluator]: one copy is climbed where it may reach the target. Ranks that step together, and requests that are
// alike where all wait for prompts, settle in one of several rhythms, in which a load may miss a limit that a larger one meets: they
// are evaluated at once.
func (s *Simulated) Explore(ctx context.Context, c Candidate, target float64) (most, least float64) {
	b, err := s.Bench.bounds(&c)
	if err != nil || c.X == 0 && (c.Layout.DP > 1 || !s.Bench.Varied && b.generates.pool.Engine.Policy == server.PrefillFirst) {
		return math.Inf(1), math.Inf(1) // Evaluate says why
	}
	loads := s.loads(&c, s.limit(&c, b))
	if len(loads) == 0 {
		return math.Inf(-1), math.Inf(-1)
	}
	t := s.climbing(&c, b, loads, target/s.together(&c), func(load int) (figures.Outcome, Verdict, bool, error) { return s.try(ctx, c, load, 1) })
	t.start = s.start(&c, b, loads)
	switch ok, most, err := t.reaches(); {
	case err != nil:
		return math.Inf(1), math.Inf(1)
	case !ok:
		return min(math.Nextafter(target, math.Inf(-1)), s.together(&c)*most), math.Inf(-1)
	}
	switch err := t.run(); {
	case err != nil:
		return math.Inf(1), math.Inf(1)
	case t.dropped:
		return math.Nextafter(target, math.Inf(-1)), math.Inf(-1)
	case !t.ok:
		return math.Inf(-1), math.Inf(-1)
	}
	most = s.together(&c) * t.most.outcome.Throughput
	return most, most
}

// Evaluate implements [Evaluator]. One copy is climbed, and its best load simulated as it is shown; where copies together
// differ from one, then on several.
func (s *Simulated) Evaluate(ctx context.Context, c Candidate, floor float64) Result {
	r := Result{Candidate: c, Label: s.Label(&c), Load: s.load(&c)}
	b, err := s.Bench.bounds(&c)
	if err != nil {
		r.Refuse(err)
		return r
	}
	r.Load.Budget = b.budget()
	t, err := s.climbed(ctx, &c, b, floor/s.together(&c))
	if err != nil {
		r.Refuse(err)
		return r
	}
	if t.ok && !t.dropped {
		r.take(&t.best, t.binds)
		err = s.confirm(ctx, &c, t, &r)
	}
	r.Points, r.Dropped = t.points, t.dropped
	if err == nil && !r.OK && !r.Dropped {
		err = s.least(ctx, &c, t, &r)
	}
	if err != nil {
		r.Refuse(err)
	}
	return r
}

// climbed is one copy climbed, and its best load simulated as it is shown.
func (s *Simulated) climbed(ctx context.Context, c *Candidate, b *bounds, floor float64) (*climb, error) {
	last := s.limit(c, b)
	loads := s.loads(c, last)
	run := func(try func(context.Context, Candidate, int, int) (figures.Outcome, Verdict, bool, error)) (*climb, error) {
		t := s.climbing(c, b, loads, floor, func(load int) (figures.Outcome, Verdict, bool, error) { return try(ctx, *c, load, 1) })
		if len(loads) == 0 {
			return t, nil
		}
		t.start = s.start(c, b, loads)
		return t, t.run()
	}
	t, err := run(s.try)
	if err != nil || !t.ok || t.dropped {
		return t, err
	}
	if s.Bench.Sessions.Turns == 0 {
		var v Verdict
		if t.best.outcome, v, _, err = s.show(ctx, *c, t.best.load, 1); err == nil && v != Fits { // what looked clear was not
			t, err = run(s.show)
		}
		if err != nil || !t.ok || t.dropped {
			return t, err
		}
	}
	t.binds = s.ends(c, b, t, last)
	if c.times() > 1 && s.Bench.Sessions.mixes() {
		return s.shared(ctx, c, b, t)
	}
	return t, nil
}

// climbing is a climb over loads of one copy.
func (s *Simulated) climbing(c *Candidate, b *bounds, loads []int, floor float64, try func(load int) (figures.Outcome, Verdict, bool, error)) *climb {
	t := &climb{
		loads: loads, step: 1, floor: floor, binds: Fits, try: try,
		bound: func(load int) float64 { return float64(c.times()) * s.carries(c, b, load) },
	}
	if n := len(loads); n > 0 && loads[n-1] >= c.UnitRanks() {
		t.step = c.UnitRanks()
	}
	if c.X > 0 && !s.Bench.Varied { // requests that are alike and computed in batches come back in batches, until as many again wait
		if e := &b.prefill.pool.Engine; e.MaxSequences > max(1, e.Ranks)*b.prefill.stages {
			t.least = 2 * c.X * e.MaxSequences
		}
	}
	return t
}

// take makes a load the best.
func (r *Result) take(x *climbed, binds Verdict) {
	r.Best, r.OK, r.Binds, r.Score, r.MostQPS = x.outcome, true, binds, x.outcome.Throughput, x.outcome
}

// budget is the most tokens of a step of a rank that computes prompts.
func (s *bounds) budget() int {
	w, _ := s.computes()
	return w.pool.Engine.TokenBudget / max(1, w.pool.Engine.Ranks)
}

// Refuse says why a candidate cannot be run.
func (r *Result) Refuse(err error) {
	r.OK, r.Err = false, err
	r.Binds, r.Reason = IllegalShape, sentence(err)
	if errors.Is(err, replica.ErrNoCache) {
		r.Binds = NoMemory
	}
}

// load is what rows show of the requests.
func (s *Simulated) load(c *Candidate) formulas.Load {
	return formulas.Load{Input: s.Bench.Input, Output: s.Bench.Output, DecodeQuery: 1 + c.MTP}
}

// try simulates some copies with so many requests in flight in each. What surely misses the limit on TPOT has no figures.
func (s *Simulated) try(ctx context.Context, c Candidate, load, copies int) (figures.Outcome, Verdict, bool, error) {
	return s.judge(ctx, &c, load, copies, s.aim(&c, load, Rough))
}

// show simulates some copies with so many requests in flight in each, with the figures that are shown, whatever the limits.
func (s *Simulated) show(ctx context.Context, c Candidate, load, copies int) (figures.Outcome, Verdict, bool, error) {
	if s.Bench.Sessions.Turns > 0 {
		return s.judge(ctx, &c, load, copies, s.aim(&c, load, Carried))
	}
	return s.judge(ctx, &c, load, copies, Aim{})
}

// aim is that of a trial of copies with so many requests in flight in each.
func (s *Simulated) aim(c *Candidate, load int, p Precision) Aim {
	return Aim{p, s.Judge, func(t figures.Times) bool {
		return s.gentler(c, load, func(e Errors) Verdict { return s.Judge.Misses(t, e) }) != Fits
	}}
}

// judge is the outcome of all copies of a candidate with so many requests in flight in each, by a trial of some.
func (s *Simulated) judge(ctx context.Context, c *Candidate, load, copies int, aim Aim) (o figures.Outcome, v Verdict, thrashes bool, err error) {
	batch, all := min(c.Batch(load), s.most(c)), c.times()
	some := *c
	some.Copies = copies
	x, err := s.Bench.Run(ctx, some, Load{Requests: load * copies}, batch, aim)
	switch {
	case errors.Is(err, replica.ErrNoCache): // a higher batch limit takes memory itself
		return figures.Outcome{Batch: batch, Concurrency: load * all, OOM: figures.Decode}, NoMemory, false, nil
	case err != nil:
		return o, v, false, err
	case x.Slow:
		return figures.Outcome{Batch: batch, Concurrency: load * all}, OverTPOT, false, nil
	}
	o = x.outcome(float64(all) / float64(copies))
	o.Batch, o.Concurrency = batch, load*all
	if s.Bench.Sessions.Turns > 0 {
		load = int(math.Ceil(x.InFlight / float64(copies)))
	}
	return o, s.verdict(c, load, &o, x), x.Preempted, nil
}

func (s *Simulated) verdict(c *Candidate, load int, o *figures.Outcome, t *Trial) Verdict {
	return s.Judge.Verdict(o, s.errors(c, load, t))
}

func (s *Simulated) errors(c *Candidate, load int, t *Trial) Errors {
	if s.Errors == nil {
		return nil
	}
	return s.Errors(c, load, t)
}

// plausible says which limit a load surely misses.
func (s *Simulated) plausible(c *Candidate, b *bounds, load int, ttft, tpot float64) Verdict {
	return s.within(c, b, b.inFlight(load), ttft, tpot)
}

// within says which limit so many requests in flight surely miss, or in the batches of
// workers that only generate.
func (s *Simulated) within(c *Candidate, b *bounds, load int, ttft, tpot float64) Verdict {
	return s.gentler(c, load, func(e Errors) Verdict {
		return s.surely(b, load, figures.Times{TTFT: units.Seconds(ttft * b.ttft()), TPOT: units.Seconds(tpot * b.tpot(load))}, e)
	})
}

// gentler is a verdict with the errors of an empty or of a full cache, whichever are better.
func (s *Simulated) gentler(c *Candidate, load int, verdict func(Errors) Verdict) Verdict {
	v := verdict(s.errors(c, load, &Trial{}))
	if v != Fits && s.Errors != nil && verdict(s.errors(c, load, &Trial{KVPeak: 1})) == Fits {
		return Fits
	}
	return v
}

// surely says which limit times surely miss that are no better than some. Where the mean
// latency of a request is known to be long, what TTFT may not take of it, TPOT must.
func (s *Simulated) surely(b *bounds, load int, t figures.Times, e Errors) Verdict {
	rest := units.Seconds(b.generated())
	if s.Judge.Percentile == 0 {
		t.Latency = units.Seconds(b.latency(load))
		if first := s.Judge.latest(e); first < t.Latency {
			t.TPOT = max(t.TPOT, (t.Latency-first)/rest)
		}
	}
	t.Latency = max(t.Latency, t.TTFT+t.TPOT*rest)
	return s.Judge.Misses(t, e)
}

// limit is the most requests in flight in a copy that may meet the limits. It is a whole
// batch of all ranks where they have several each.
func (s *Simulated) limit(c *Candidate, b *bounds) int {
	ranks := c.UnitRanks()
	most := s.most(c)
	// A cache never runs more requests than it has room for their prompts, and requests that
	// wait for it bring nothing; as many may be on their way from workers for prefill.
	if holds := b.holds(max(1, b.Input-b.Prefix)); holds > 0 && !s.Bench.Varied {
		most = min(most, (1+min(1, c.X))*holds+1)
	}
	n := 0
	if c.X == 0 {
		n = sort.Search(b.carries(most*ranks), func(i int) bool { return s.plausible(c, b, i+1, 1, 1) != Fits })
	} else if x := s.batches(c, b); x.requests > 0 {
		n = b.carries(min(most*ranks, x.requests+b.waiting(x.latest)))
	}
	const several = 16
	if n >= several*ranks {
		n = n / ranks * ranks
	}
	return n
}

// batches is the most requests in the batches of a copy that may meet the limits, where
// others compute the prompts. It is found for one worker: the others are like it.
func (s *Simulated) batches(c *Candidate, b *bounds) batched {
	one := Candidate{Prefill: c.Prefill, X: 1, Layout: c.Layout, Y: 1, Copies: 1, MTP: c.MTP, Drafter: c.Drafter, Budget: c.Budget}
	s.mu.Lock()
	defer s.mu.Unlock()
	out, ok := s.pairs[one]
	if !ok {
		out = s.alone(one, *b)
		if s.pairs == nil {
			s.pairs = map[Candidate]batched{}
		}
		s.pairs[one] = out
	}
	if out.requests > 0 { // one worker may have one more
		out.requests = (out.requests+1)*c.Y - 1
	}
	return out
}

// alone is the most requests in the batches of one worker that may meet the limits.
func (s *Simulated) alone(one Candidate, b bounds) (out batched) {
	b.x, b.y = 1, 1
	out.requests = sort.Search(s.most(&one)*one.UnitRanks(), func(i int) bool { return s.within(&one, &b, i+1, 1, 1) != Fits })
	e := s.errors(&one, max(1, out.requests), &Trial{})
	out.latest = s.Judge.latest(e)
	return out
}

// DefaultBatch is the largest batch of a rank that is tried where nobody says: as many
// sequences as vLLM runs at a time on large devices (max_num_seqs 1024).
const DefaultBatch = 1024

// most is the largest batch of a rank that is tried: engines run no more requests than a
// step has tokens.
func (s *Simulated) most(c *Candidate) int {
	out := s.Range.Max
	if !s.Range.Given {
		out = min(DefaultBatch, out)
	}
	if c.Budget > 0 {
		out = min(out, c.Budget/(1+c.MTP))
	}
	return out
}

// loads are those to try.
func (s *Simulated) loads(c *Candidate, last int) []int {
	first := 1
	if s.Range.Min > 1 {
		first = s.Range.Min * c.UnitRanks()
	}
	return ladder(first, last, c.UnitRanks())
}

// Lower are the loads below one of a candidate, in requests in flight of all copies, the highest first: as many as a search tries, with
// another batch each.
func (s *Simulated) Lower(c *Candidate, requests int) []int {
	own := requests / c.times()
	loads := s.loads(c, own)
	var out []int
	batch := c.Batch(own)
	for _, n := range slices.Backward(loads[:max(0, len(loads)-1)]) {
		if b := c.Batch(n); b < batch {
			batch, out = b, append(out, n*c.times())
		}
	}
	return out
}

// start is where to begin: at the first load that nearly reaches the bound of the last, or
// the last that should meet the limits if its times are as far above their bounds as they
// usually are.
func (s *Simulated) start(c *Candidate, b *bounds, loads []int) int {
	const nearly = 0.99
	ttft, tpot := 1.3, 1.06
	if c.X == 0 { // prompts between its tokens
		tpot = 1.25
	}
	most := b.throughput(loads[len(loads)-1])
	i := sort.Search(len(loads), func(i int) bool { return b.throughput(loads[i]) >= nearly*most })
	over := sort.Search(len(loads), func(i int) bool { return s.plausible(c, b, loads[i], ttft, tpot) != Fits })
	// Beyond what caches hold, requests wait for each other.
	full := sort.SearchInts(loads, b.full(s.most(c))*c.UnitRanks())
	return min(i, max(0, over-1), full, len(loads)-1)
}

// ends is what binds where no load that was tried failed: the range, or the limit that the
// next load surely misses.
func (s *Simulated) ends(c *Candidate, b *bounds, t *climb, last int) Verdict {
	switch {
	case t.binds != Fits:
		return t.binds
	case t.best.load < last:
		return Saturated
	case last < b.carries(s.most(c)*c.UnitRanks()):
		return s.plausible(c, b, last+1, 1, 1)
	case s.Range.Given:
		return RangeEnds
	}
	return Saturated
}

// confirm takes the best load. Where copies of a candidate are not alike, several are
// simulated, and a few requests less may be needed to meet the limits.
func (s *Simulated) confirm(ctx context.Context, c *Candidate, t *climb, r *Result) error {
	sessions := s.Bench.Sessions.Turns > 0
	if s.alike(c) && !sessions {
		return nil
	}
	copies, most := s.Bench.Sessions.Sample(c), s.together(c)*r.Score
	const tries = 8
	less := 0.95
	if sessions { // where caches are nearly too small, a load is carried for long and then not any more
		less = 0.85
	}
	load := t.best.load
	for range tries {
		o, v, _, err := s.show(ctx, *c, load, copies)
		if err != nil {
			return err
		}
		r.Best, r.OK, r.MostQPS, r.Score = o, v == Fits, o, min(most, o.Throughput)
		if r.OK || load == 1 {
			break
		}
		r.First, r.Binds = o, v
		load = max(1, int(less*float64(load)))
	}
	if !r.OK {
		r.Reason = s.Judge.Reason(r.Binds, &r.First)
	}
	return nil
}

// least is the smallest load, which comes nearest to limits that no load meets.
func (s *Simulated) least(ctx context.Context, c *Candidate, t *climb, r *Result) error {
	first := max(1, s.Range.Min)
	if s.Range.Min > 1 {
		first *= c.UnitRanks()
	}
	o, v, _, err := s.show(ctx, *c, first, 1)
	if err != nil {
		return err
	}
	r.First = o
	if o.OOM == "" {
		r.Points = append(r.Points, o)
	}
	if r.Binds = v; v == Fits {
		r.Binds = t.binds
	}
	r.Reason = s.Judge.Reason(r.Binds, &r.First)
	return nil
}
