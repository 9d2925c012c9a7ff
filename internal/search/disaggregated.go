package search

import (
	"cmp"
	"context"
	"math"
	"slices"

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

// Unit is X prefill and Y decode workers, the smallest thing that is copied, and how
// many copies there are.
type Unit struct {
	Prefill, Decode int // which workers
	X, Y            int
	Copies          int
}

// Packing is what units may be made of and how they are copied.
type Packing struct {
	Devices int // of the whole cluster
	// Sizes are the devices a unit may have; nil is any number. The others bound its
	// devices and workers; 0 is no bound.
	Sizes                             []int
	MaxDevices, MaxPrefill, MaxDecode int
}

// Units lists the units of workers with p and d devices each, with as many copies as
// there is room for. Of units that are the same workers in all only the smallest is
// listed.
func (k *Packing) Units(p, d int) []Unit {
	var all []Unit
	most := func(each, limit int) int {
		n := k.Devices / each
		if limit > 0 {
			n = min(n, limit)
		}
		return n
	}
	for y := 1; y <= most(d, k.MaxDecode); y++ {
		for x := 1; x <= most(p, k.MaxPrefill); x++ {
			n := x*p + y*d
			if n > k.Devices || k.MaxDevices > 0 && n > k.MaxDevices || k.Sizes != nil && !slices.Contains(k.Sizes, n) {
				continue
			}
			all = append(all, Unit{X: x, Y: y, Copies: k.Devices / n})
		}
	}
	total := func(u Unit) (x, y int) { return u.X * u.Copies, u.Y * u.Copies }
	slices.SortFunc(all, func(a, b Unit) int {
		ax, ay := total(a)
		bx, by := total(b)
		return cmp.Or(cmp.Compare(bx, ax), cmp.Compare(by, ay), cmp.Compare(b.Copies, a.Copies))
	})
	return slices.CompactFunc(all, func(a, b Unit) bool {
		ax, ay := total(a)
		bx, by := total(b)
		return ax == bx && ay == by
	})
}

// Disaggregated searches deployments that have workers of their own for prefill and
// decode. A bound that no simulation exceeds orders the units; simulation decides.
type Disaggregated struct {
	Prefill, Decode []Worker
	Packing         Packing
	Input, Output   int
	// Longest is the TPOT beyond which no outcome meets the limits; 0 is none.
	Longest units.Seconds
	// Simulate gives the outcome of one copy of a unit, or of all, with a batch for
	// each data-parallel rank that decodes; throughput and concurrency are those of
	// all copies.
	Simulate func(ctx context.Context, u Unit, batch int, all bool) (serving.Outcome, error)
	Judge    func(*serving.Outcome) Verdict
	// Top is how many decode layouts are wanted at least.
	Top     int
	Workers int // that simulate at a time
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
}

// slack is how much faster than its bound a simulation may be: steps are taken to
// last as long as at the mean context, and their times are not quite linear in it.
const slack = 1.03

// option is a unit with its bound.
type option struct {
	Unit

	requests float64 // bound on the requests per second of one copy
	bound    float64 // and on the output tokens per second of all
	batches  []rate  // to try
}

// Run searches. It returns the best unit of every decode layout that could be among
// the Top, the most throughput first; those without an outcome within the limits come
// last.
func (s *Disaggregated) Run(ctx context.Context) ([]Found, error) {
	groups := s.options()
	slices.SortStableFunc(groups, func(a, b []option) int { return cmp.Compare(b[0].bound, a[0].bound) })
	first := min(max(1, s.Top), len(groups))
	found, err := s.evaluate(ctx, groups[:first])
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
	more, err := s.evaluate(ctx, rest)
	if err != nil {
		return nil, err
	}
	found = append(found, more...)
	slices.SortStableFunc(found, func(a, b Found) int {
		if a.OK != b.OK {
			return cmp.Compare(btoi(b.OK), btoi(a.OK))
		}
		return cmp.Compare(b.Best.Throughput, a.Best.Throughput)
	})
	return found, nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// evaluate finds the best of each group, several at a time.
func (s *Disaggregated) evaluate(ctx context.Context, groups [][]option) ([]Found, error) {
	out := make([]Found, len(groups))
	errs := make([]error, len(groups))
	err := pool.Each(ctx, len(groups), s.Workers, func(i int) { out[i], errs[i] = s.best(ctx, groups[i]) })
	for _, e := range errs {
		err = cmp.Or(err, e)
	}
	return out, err
}

// options are the units of each decode layout, those with the highest bounds first.
// Layouts without a unit are left out.
func (s *Disaggregated) options() [][]option {
	prompts := make([]float64, len(s.Prefill))
	for i := range s.Prefill {
		prompts[i] = s.prompts(&s.Prefill[i])
	}
	var groups [][]option
	for d := range s.Decode {
		rates := s.rates(&s.Decode[d])
		fastest := 0.0
		for _, r := range rates {
			fastest = max(fastest, r.per)
		}
		var g []option
		for p := range s.Prefill {
			for _, u := range s.Packing.Units(s.Prefill[p].Layout.Devices, s.Decode[d].Layout.Devices) {
				u.Prefill, u.Decode = p, d
				o := option{Unit: u, batches: rates}
				o.requests = min(float64(u.X)*prompts[p], float64(u.Y)*fastest)
				o.bound = o.requests * float64(s.Output*u.Copies)
				if o.bound > 0 {
					g = append(g, o)
				}
			}
		}
		if len(g) > 0 {
			slices.SortStableFunc(g, func(a, b option) int { return cmp.Compare(b.bound, a.bound) })
			groups = append(groups, g)
		}
	}
	return groups
}

// rate is the requests per second that a decode worker finishes at most at a batch.
type rate struct {
	batch int
	per   float64
}

// prompts bounds the prompts per second of a prefill worker: of whole steps of any
// number of prompts, or of pieces of them.
func (s *Disaggregated) prompts(w *Worker) float64 {
	e := &w.Pool.Engine
	pairs := float64(s.Input) * float64(s.Input+1) / 2
	most := 0.0
	try := func(prompts float64, requests int) {
		tokens := int(math.Ceil(prompts * float64(s.Input)))
		t := w.Pool.Stepper.Step(sim.Batch{
			PrefillRequests: requests, PrefillTokens: tokens, PrefillPairs: prompts * pairs, Sampled: requests,
		})
		most = max(most, prompts/float64(t))
	}
	const enough = 64 // prompts in a step; more gain nothing
	for n := 1; n <= min(e.MaxSequences, enough) && (n == 1 || n*s.Input <= e.TokenBudget); n++ {
		try(float64(n), n)
	}
	if s.Input > e.TokenBudget {
		try(float64(e.TokenBudget)/float64(s.Input), 1)
	}
	return slack * most * float64(max(1, w.Pool.Replicas))
}

// rates bounds what a decode worker finishes at each batch that may be tried.
func (s *Disaggregated) rates(w *Worker) []rate {
	ranks := max(1, w.Layout.DP)
	copies := max(1, w.Pool.Replicas) // ranks of a dense model step alone
	together := max(1, ranks/copies)
	e := &w.Pool.Engine
	generated := math.Max(1, float64(s.Output-1)) // the first token comes with the prompt
	context := float64(s.Input) + generated/2
	var out []rate
	for b := 1; b <= w.MaxBatch; b = next(b) {
		n := b * together
		t := w.Pool.Stepper.Step(sim.Batch{Decode: n, DecodeContext: float64(n) * context, Sampled: n})
		token := float64(t) / math.Max(1, e.AcceptedPerStep)
		if s.Longest > 0 && token > slack*float64(s.Longest) {
			break
		}
		out = append(out, rate{b, slack * float64(n*copies) / (token * generated)})
	}
	return out
}

// next is the batch to try after another: each up to 16, then steps of a sixteenth.
func next(b int) int { return b + max(1, b/16) }

// start is the first batch that nearly reaches the bound of a unit.
func (o *option) start() int {
	const near = 0.99
	reaches := func(r rate) bool { return float64(o.Y)*r.per >= near*o.requests }
	return max(0, slices.IndexFunc(o.batches, reaches))
}

// best simulates the units of a group in the order of their bounds, until what is left
// cannot be better.
func (s *Disaggregated) best(ctx context.Context, g []option) (Found, error) {
	out := Found{Unit: g[0].Unit}
	for i := range g {
		o := &g[i]
		if out.OK && o.bound <= out.Best.Throughput {
			break
		}
		if err := s.climb(ctx, o, &out); err != nil {
			return out, err
		}
	}
	return s.confirm(ctx, out)
}

// climb finds the batch of a unit with the most throughput within the limits, starting
// where its bound is reached: up while more is gained, or down until the limits are
// met, in growing steps, and between the last two by bisection.
func (s *Disaggregated) climb(ctx context.Context, o *option, out *Found) error {
	before, stride := 0.0, 1
	low, high := -1, len(o.batches) // the last batch that meets the limits, the first that does not
	for i := o.start(); low+1 < high; {
		r, err := s.Simulate(ctx, o.Unit, o.batches[i].batch, false)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		v := s.Judge(&r)
		s.keep(&r, v, o.Unit, out)
		switch {
		case v != Fits:
			high = i
		case r.Throughput < before*(1+gain):
			return nil // more requests only wait longer
		default:
			low, before = i, r.Throughput
		}
		switch {
		case high == len(o.batches):
			i = min(low+stride, high-1)
		case low < 0:
			i = max(high-stride, 0)
		default:
			i = (low + high) / 2
		}
		stride *= 2
	}
	return nil
}

// gain is what a larger batch must bring to go on.
const gain = 0.005

// keep records an outcome.
func (s *Disaggregated) keep(r *serving.Outcome, v Verdict, u Unit, out *Found) {
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

// confirm simulates the best batch on all copies; a few requests less may be needed to
// meet the limits.
func (s *Disaggregated) confirm(ctx context.Context, f Found) (Found, error) {
	if !f.OK || f.Unit.Copies == 1 {
		return f, nil
	}
	const tries, less = 8, 0.95
	batch := f.Best.Batch
	for range tries {
		r, err := s.Simulate(ctx, f.Unit, batch, true)
		if err != nil {
			return f, err
		}
		if f.Best, f.OK = r, s.Judge(&r) == Fits; f.OK || batch == 1 {
			break
		}
		batch = max(1, int(less*float64(batch)))
	}
	return f, nil
}
