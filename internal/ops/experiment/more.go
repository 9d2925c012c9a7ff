package experiment

import (
	"cmp"
	"context"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// step is a candidate at a load that may be a row.
type step struct {
	of *search.Result
	o  figures.Outcome
}

// further are deployments whose throughput falls, so that only the next is simulated.
type further struct {
	steps []step  // not yet simulated
	next  *Option // nil where there is none, or it was taken
}

// more fills rows, where layouts are fewer than rows, with what carries the next most: lower loads of the deployments shown, and other
// units that were found on the way. It keeps the order of throughput; the first row stays the first.
func (x *run) more(ctx context.Context, shown []*search.Result) error {
	if len(x.out.Rows) == 0 {
		return nil
	}
	from := x.sources(shown)
	for len(x.out.Rows) < x.how.Top {
		if err := x.advance(ctx, from); err != nil {
			return err
		}
		var best *further
		for _, f := range from {
			if f.next != nil && (best == nil || f.next.Throughput > best.next.Throughput) {
				best = f
			}
		}
		if best == nil {
			return nil
		}
		at := 1
		for at < len(x.out.Rows) && x.out.Rows[at].Throughput >= best.next.Throughput {
			at++
		}
		x.out.Rows = slices.Insert(x.out.Rows, at, *best.next)
		best.next = nil
	}
	return nil
}

// sources are what rows may be filled from: the lower loads of each row, and the other units. Another token budget alone is no other row.
func (x *run) sources(shown []*search.Result) []*further {
	var out []*further
	taken := map[search.Candidate]bool{}
	for _, r := range shown {
		c, f := r.Candidate, &further{}
		for _, n := range x.Simulated.Lower(&c, r.Best.Concurrency) {
			f.steps = append(f.steps, step{r, figures.Outcome{Batch: c.Batch(parallel.MaxPerRank(n, max(1, c.Copies))), Concurrency: n}})
		}
		out = append(out, f)
		c.Budget = 0
		taken[c] = true
	}
	units := &further{}
	for i := range x.Results {
		r := &x.Results[i]
		c := r.Candidate
		if c.Budget = 0; r.OK && !r.Dropped && !taken[c] {
			units.steps, taken[c] = append(units.steps, step{r, r.Best}), true
		}
	}
	slices.SortStableFunc(units.steps, func(a, b step) int { return cmp.Compare(b.o.Throughput, a.o.Throughput) })
	return append(out, units)
}

// advance simulates the next of every source that has none: one within the limits that carries no more than the first row.
func (x *run) advance(ctx context.Context, from []*further) error {
	return pool.All(ctx, len(from), x.Workers(), func(i int) error {
		f := from[i]
		for f.next == nil && len(f.steps) > 0 {
			s := &f.steps[0]
			f.steps = f.steps[1:]
			row, _, err := x.option(ctx, s.of, &s.o)
			if err != nil {
				return err
			}
			if s.o.Concurrency < s.of.Best.Concurrency { // a larger load is within the limits
				row.Binds = search.Fits
			}
			if row.Throughput <= x.out.Rows[0].Throughput && row.Judged.Sure() >= x.e.Confidence {
				f.next = &row
			}
		}
		return nil
	})
}

// left says of each layout that generates and has no row why.
func (x *run) left(ctx context.Context) error {
	rest := x.space
	rest.Decode = slices.DeleteFunc(slices.Clone(rest.Decode), func(l parallel.Layout) bool {
		return slices.ContainsFunc(x.out.Rows, func(o Option) bool { return o.Deployment.Pools[len(o.Deployment.Pools)-1].Layout == l })
	})
	alone, err := rest.Nearest(ctx, x.Simulated, x.Workers())
	if err != nil {
		return err
	}
	for _, l := range rest.Decode {
		why := "no replica has room for such a worker"
		if i := slices.IndexFunc(alone, func(r search.Result) bool { return r.Candidate.Layout == l }); i >= 0 {
			if why = alone[i].Reason; alone[i].Binds == search.Fits {
				why = "carries less than the rows above"
			}
		}
		x.out.Left = append(x.out.Left, Left{Layout: l, Why: why})
	}
	return nil
}
