package plan

import (
	"cmp"
	"context"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
)

// Alternatives are the deployments that a decision is between: of every engine and mode the best of up to so many layouts, the
// best first. It returns the request complete. A plan shows the first of each engine and mode.
func Alternatives(ctx context.Context, w *session.Session, r Request, layouts int) (found []Found, full Request, err error) {
	if err := complete(w, &r); err != nil {
		return nil, r, err
	}
	p := &planning{world: w.Quiet(), r: &r}
	all, err := experiments(p.world, &r)
	if err != nil {
		return nil, r, err
	}
	each := make([][]Found, len(all))
	failed := make([]error, len(all))
	done := counter{tell: w.Tell, what: "searches"}
	done.more("comparing", len(all))
	err = pool.Each(ctx, len(all), experiment.AtATime, func(i int) {
		how := p.how()
		how.Top = layouts
		var got *experiment.Result
		if got, failed[i] = experiment.Find(ctx, p.world, how, r.load(), all[i], false); failed[i] == nil {
			each[i] = alternatives(got)
		}
		done.add()
	})
	if err = cmp.Or(err, experiment.Failed(all, failed)); err != nil {
		return nil, r, err
	}
	found = slices.Concat(each...)
	slices.SortStableFunc(found, func(a, b Found) int { return ByThroughput.compare(&a, &b) })
	return found, r, nil
}

// alternatives are the rows of an experiment, or what comes nearest to the limits.
func alternatives(r *experiment.Result) []Found {
	rows, meets := r.Rows, true
	if len(rows) == 0 && r.Near != nil {
		rows, meets = []experiment.Option{*r.Near}, false
	}
	var out []Found
	for i := range rows {
		f := Found{Experiment: r.Experiment, Option: rows[i], Meets: meets, Nearest: r.Nearest, Experts: r.Experts, Tier: r.Tier, Notes: r.Notes}
		f.chosen()
		out = append(out, f)
	}
	return out
}

// Copy is the simulation of one of the copies of the deployment with so many requests in flight.
func (c *Found) Copy(s *session.Sources, concurrency int) simulate.Request {
	q := c.traffic(s, concurrency)
	q.Deployment = some(&c.Option, 1)
	return q
}
