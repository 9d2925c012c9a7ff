package search

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// Workers is a space: deployments made of workers with some layouts.
type Workers struct {
	// Prefill are the layouts of workers for prefill; without any, those for decode do
	// both.
	Prefill, Decode []parallel.Layout
	// Budgets are the token budgets to try beside the engine's own, of workers that do
	// both; nil is none.
	Budgets func(Candidate) []int
	Packing Packing
	// Drafts are the ways to draft tokens to try; nil is none.
	Drafts []Draft
}

// drafts are the ways to draft tokens, of which none may be one.
func (w *Workers) drafts() []Draft {
	if w.Drafts == nil {
		return []Draft{{}}
	}
	return w.Drafts
}

// Scored is an evaluator whose scores follow from the throughput of units.
type Scored interface {
	Evaluator
	// PairBound is a score that no unit of a pair of workers exceeds, UnitBound one that a unit of them does not exceed, given the
	// most that they carry.
	PairBound(most *Paired) float64
	UnitBound(c *Candidate, most *Paired) float64
}

// Paired bounds what a pair of workers carries.
type Paired struct {
	Throughput, Requests float64 // of a device: output tokens per second, and requests in flight
	Computes, Generates  float64 // output tokens per second of one worker for prefill, and of one that generates
}

// unit is the most output tokens per second of a unit.
func (p *Paired) unit(c *Candidate) float64 {
	return min(float64(c.X)*p.Computes, float64(c.Y)*p.Generates)
}

// ByLayout groups candidates by the layout of the workers that generate.
func ByLayout(c *Candidate) any { return c.Layout }

// Branches are the parts of the space: candidates, or a branch for every pair of layouts
// for prefill and decode, whose units are listed when it is their turn.
// It is cut short when ctx ends, of which [Search.Run] has the error.
func (w *Workers) Branches(ctx context.Context, s *Simulated, e Scored) []Branch {
	if len(w.Prefill) == 0 {
		return Candidates(ctx, e, w.both(ctx, true))
	}
	var out []Branch
	for _, d := range w.Decode {
		for _, p := range w.Prefill {
			for _, by := range w.drafts() {
				if ctx.Err() != nil {
					return out
				}
				most := s.paired(p, d, by, 0)
				bound := math.Inf(-1)
				if most.Throughput > 0 {
					bound = e.PairBound(&most)
				}
				out = append(out, Branch{Bound: bound, Expand: func() []Branch {
					units := w.units(p, d, by)
					out := make([]Branch, len(units))
					for i := range units {
						out[i] = Branch{Bound: min(bound, e.UnitBound(&units[i], &most)), Candidate: units[i], Rough: true}
					}
					return out
				}})
			}
		}
	}
	return out
}

// both are the candidates whose workers do both, with the engine's own budget and with
// others.
func (w *Workers) both(ctx context.Context, budgets bool) []Candidate {
	var out []Candidate
	for _, l := range w.Decode {
		if ctx.Err() != nil {
			break
		}
		c := Candidate{Layout: l, Y: 1, Copies: 1}
		if n := w.Packing.Devices; n > 0 {
			if c.Copies = n / l.Devices; c.Copies == 0 {
				continue
			}
		}
		for _, by := range w.drafts() {
			c := c.drafted(by)
			out = append(out, c)
			if budgets && w.Budgets != nil {
				for _, c.Budget = range w.Budgets(c) {
					out = append(out, c)
				}
			}
		}
	}
	return out
}

// units are the candidates of one layout for prefill and one for decode, with one way to draft.
func (w *Workers) units(prefill, decode parallel.Layout, by Draft) []Candidate {
	var out []Candidate
	for _, u := range w.Packing.list(prefill.Devices, decode.Devices) {
		out = append(out, Candidate{Prefill: prefill, X: u.X, Layout: decode, Y: u.Y, Copies: u.Copies}.drafted(by))
	}
	return out
}

// paired bounds what a pair of workers carries, at a batch of each
// rank that generates; 0 is any batch that may meet the limits. Throughput of a device is that of as many of
// each as keep the other busy. Requests wait for their first token at the one, or are in the
// batches of the other.
func (s *Simulated) paired(prefill, decode parallel.Layout, by Draft, batch int) Paired {
	const plenty = 1 << 20 // workers for prefill, so that decode alone limits
	c := Candidate{Prefill: prefill, X: plenty, Layout: decode, Y: 1, Copies: 1}.drafted(by)
	b, err := s.Bench.bounds(&c)
	if err != nil {
		return Paired{}
	}
	load, waiting := batch*c.UnitRanks(), 0.0
	if batch == 0 {
		x := s.batches(&c, b)
		load, waiting = x.requests, b.prefill.prompts().rate*float64(x.latest)
	}
	if load == 0 {
		return Paired{}
	}
	more := float64(load+1) / float64(load) // one of several workers may have one more
	generates := s.Bench.scale() * more * b.decodes(load) * float64(s.Bench.Output)
	computes := s.Bench.scale() * b.prefill.prompts().rate * float64(s.Bench.Output)
	if generates == 0 {
		return Paired{}
	}
	p, d := float64(prefill.Devices), float64(decode.Devices)
	return Paired{1 / (p/computes + d/generates), max(waiting/p, float64(load+1)/d), computes, generates}
}

// PairBound implements [Scored]: all devices carry the most.
func (s *Simulated) PairBound(most *Paired) float64 {
	return together * most.Throughput * float64(s.Devices)
}

// UnitBound implements [Scored].
func (s *Simulated) UnitBound(c *Candidate, most *Paired) float64 {
	return s.together(c) * float64(c.times()) * most.unit(c)
}

// Nearest evaluates one request alone on a candidate of every layout that generates, the
// one whose first token should come soonest: what comes nearest to limits that nothing
// meets.
func (w *Workers) Nearest(ctx context.Context, s *Simulated, workers int) ([]Result, error) {
	var all []Candidate
	for _, c := range w.both(ctx, false) {
		if len(w.Prefill) == 0 {
			all = append(all, c)
			continue
		}
		soonest := math.Inf(1)
		var best Candidate
		for _, p := range w.Prefill {
			units := w.units(p, c.Layout, Draft{c.Drafter, c.MTP})
			if len(units) == 0 {
				continue
			}
			b, err := s.Bench.bounds(&units[0])
			if err != nil {
				continue
			}
			if x := b.ttft(); x < soonest {
				soonest, best = x, units[0]
			}
		}
		if best.X > 0 {
			all = append(all, best)
		}
	}
	out := make([]Result, len(all))
	errs := make([]error, len(all))
	err := pool.Each(ctx, len(all), workers, func(i int) {
		out[i] = Result{Candidate: all[i], Label: s.Label(&all[i])}
		errs[i] = s.least(ctx, &all[i], &climb{}, &out[i])
	})
	return out, cmp.Or(err, errors.Join(errs...))
}

// promising is a candidate at a load.
type promising struct {
	c     Candidate
	load  int
	bound float64
}

// Sweep simulates the candidates that should carry the most at each of some batches, and those
// whose users should get tokens fastest, whatever the limits: the trade-off of speed and throughput.
// It ends where caches are full: more requests only wait. Each result has one point.
func (w *Workers) Sweep(ctx context.Context, s *Simulated, workers int) ([]Result, error) {
	var todo []promising
	most := 0.0
	const largest = 512 // beyond it speed for a user is no choice any more
	for batch := 1; batch <= min(largest, s.most(&Candidate{})); batch *= 2 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		best := w.promising(ctx, s, batch)
		if best.bound == 0 {
			break
		}
		if best.bound > most { // a larger batch that carries no more is only slower
			most, todo = best.bound, append(todo, best)
		}
		if fast := w.fastest(ctx, s, batch); fast.bound > 0 && fast.c != best.c {
			todo = append(todo, fast)
		}
	}
	out := make([]Result, len(todo))
	errs := make([]error, len(todo))
	err := pool.Each(ctx, len(todo), workers, func(i int) {
		out[i] = Result{Candidate: todo[i].c, Points: make([]figures.Outcome, 1)}
		out[i].Points[0], _, _, errs[i] = s.judge(ctx, &todo[i].c, todo[i].load, 1, Aim{Precision: Sketched})
	})
	return out, cmp.Or(err, errors.Join(errs...))
}

// fastest is the candidate with the highest bound of those with the layout whose tokens take the least time at a batch.
func (w *Workers) fastest(ctx context.Context, s *Simulated, batch int) promising {
	least := math.Inf(1)
	one := *w
	for _, l := range w.Decode {
		c := Candidate{Layout: l, Y: 1, Copies: 1}
		if len(w.Prefill) > 0 {
			c.Prefill, c.X = w.Prefill[0], 1
		}
		c = c.drafted(w.drafts()[0])
		b, err := s.Bench.bounds(&c)
		if err != nil || l.Devices > w.Packing.Devices || batch >= 2*b.full(s.most(&c)) {
			continue
		}
		if t := b.generates.token(batch); t < least {
			least, one.Decode = t, []parallel.Layout{l}
		}
	}
	if math.IsInf(least, 1) {
		return promising{}
	}
	return one.promising(ctx, s, batch)
}

// promising is the candidate with the highest bound at a batch that its caches nearly
// have room for.
func (w *Workers) promising(ctx context.Context, s *Simulated, batch int) promising {
	var best promising
	look := func(all []Candidate) {
		for _, c := range all {
			b, err := s.Bench.bounds(&c)
			if err != nil {
				continue
			}
			full := b.full(s.most(&c))
			load := min(batch, full) * c.UnitRanks()
			if x := float64(c.times()) * b.throughput(load); batch < 2*full && x > best.bound {
				best = promising{c, load, x}
			}
		}
	}
	if len(w.Prefill) == 0 {
		look(w.both(ctx, false))
		return best
	}
	type pair struct {
		prefill, decode parallel.Layout
		by              Draft
		bound           float64
	}
	var pairs []pair
	for _, d := range w.Decode {
		for _, p := range w.Prefill {
			if ctx.Err() != nil {
				return best
			}
			for _, by := range w.drafts() {
				most := s.paired(p, d, by, batch)
				pairs = append(pairs, pair{p, d, by, s.PairBound(&most)})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(b.bound, a.bound) })
	for _, p := range pairs {
		if p.bound <= best.bound || ctx.Err() != nil {
			break
		}
		look(w.units(p.prefill, p.decode, p.by))
	}
	return best
}
