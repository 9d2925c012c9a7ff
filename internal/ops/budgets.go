package ops

import (
	"cmp"
	"context"
	"errors"

	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// budgets tries other token budgets for the best layouts of an aggregated experiment:
// half, twice and four times the engine's own. Of every layout the best remains.
func (x *experiment) budgets(ctx context.Context, s *search.Units, found []search.Found) ([]search.Found, error) {
	if x.e.Mode != Aggregated || x.e.setting("token_budget") != "" {
		return found, nil
	}
	others := make([][]int, min(len(found), max(1, s.Top)))
	for i := range others {
		for _, budget := range x.otherBudgets(s, &found[i]) {
			d, err := x.withBudget(s, &found[i], budget)
			if err != nil {
				return nil, err
			}
			if d > 0 {
				others[i] = append(others[i], d)
			}
		}
	}
	errs := make([]error, len(others))
	err := pool.Each(ctx, len(others), s.Workers, func(i int) {
		for _, d := range others[i] {
			if found[i], errs[i] = s.Instead(ctx, found[i], d); errs[i] != nil {
				return
			}
		}
	})
	search.Rank(found)
	return found, cmp.Or(err, errors.Join(errs...))
}

// otherBudgets are the budgets that may matter to what was found: not below a full step of
// decoding, and larger ones only if the prompts in flight do not fit one step anyway.
func (x *experiment) otherBudgets(s *search.Units, f *search.Found) []int {
	w := &s.Decode[f.Unit.Decode]
	own, at := w.Pool.Engine.TokenBudget, &f.Best
	if !f.OK {
		at = &f.Near
	}
	var out []int
	for _, n := range []int{own / 2, 2 * own, 4 * own} {
		enough := n/2 >= at.Batch*(x.e.Input-x.e.Prefix+1+x.e.MTP)
		if n >= w.MaxBatch*(1+x.e.MTP) && (n < own || !enough) {
			out = append(out, n)
		}
	}
	return out
}

// withBudget adds the workers of what was found with another token budget; 0 if the
// engine cannot be run so.
func (x *experiment) withBudget(s *search.Units, f *search.Found, budget int) (int, error) {
	w := s.Decode[f.Unit.Decode]
	x.decode = append(x.decode, w.Layout)
	if x.budget == nil {
		x.budget = map[int]int{}
	}
	d := len(x.decode) - 1
	x.budget[d] = budget
	u := search.Unit{Decode: d, Y: 1, Copies: 1}
	asked := x.deployment(u, max(1, f.Best.Batch), false)
	resolved, fleet, err := x.stage.Fleet(&asked)
	if err == nil {
		p := launch.Plan{Deployment: asked, Resolved: resolved, Input: x.e.Input, Output: x.e.Output}
		_, err = p.Values()
	}
	if err != nil {
		x.decode = x.decode[:d]
		return 0, nil //nolint:nilerr // a budget that cannot be run is not tried
	}
	w.Pool = fleet.Config(nil).Workers
	if s.Add(w) != d {
		return 0, errors.New("app: workers and layouts do not match")
	}
	return d, nil
}
