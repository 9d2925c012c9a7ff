package ops

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/rank"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// summarize turns what was found into rows.
func (x *experiment) summarize(found []search.Found, points []formulas.Outcome) {
	out := &x.out
	if t := x.first(); t != nil {
		out.Tier, out.Notes = t.response.Tier, x.e.notes(x.stage, t.response.Notes)
	}
	speeds := make([]Speed, 0, len(points))
	add := func(o *formulas.Outcome) {
		if o.TPOT > 0 && o.OOM == "" {
			speeds = append(speeds, Speed{o.TPOT.Rate(), o.Throughput / float64(x.e.Devices)})
		}
	}
	for i := range points {
		add(&points[i])
	}
	for i := range found {
		f := &found[i]
		for k := range f.Points {
			add(&f.Points[k])
		}
		if f.OK && len(out.Rows) < x.r.Top {
			out.Rows = append(out.Rows, x.option(f.Unit, f.Best.Concurrency/f.Unit.Copies, f.Binds))
		}
	}
	if len(out.Rows) == 0 {
		out.Near = x.near(found)
		out.Nearest = x.feasible(out.Near)
	}
	out.Frontier = rank.Frontier(speeds, func(s *Speed) (a, b float64) { return s.User, s.Device })
}

// meter finds the energy of the rows that are shown.
func (x *experiment) meter(ctx context.Context) error {
	shown := make([]*Option, 0, len(x.out.Rows)+1)
	for i := range x.out.Rows {
		shown = append(shown, &x.out.Rows[i])
	}
	if x.out.Near != nil {
		shown = append(shown, x.out.Near)
	}
	errs := make([]error, len(shown))
	err := pool.Each(ctx, len(shown), cmp.Or(x.r.Jobs, defaultJobs), func(i int) {
		if shown[i].Concurrency > 0 {
			q := SimulateRequest{Deployment: shown[i].Deployment, Traffic: Traffic{Concurrency: shown[i].Concurrency}}
			q.Input, q.Output, q.Prefix, q.Workloads = x.e.Input, x.e.Output, x.e.Prefix, x.e.Workloads
			q.Complete()
			errs[i] = shown[i].meter(ctx, x.world, x.stage, &q)
		}
	})
	return cmp.Or(err, errors.Join(errs...))
}

// copy is one copy of the deployment: requests that come at a rate are dealt out to copies
// that know nothing of each other, so that one tells what all draw.
func (o *Option) copy() deployment.Deployment {
	out := o.Deployment
	out.Pools = slices.Clone(out.Pools)
	for i := range out.Pools {
		out.Pools[i].Replicas = max(1, out.Pools[i].Replicas/o.Copies)
	}
	return out
}

// meter takes the energy of a deployment under some traffic.
func (o *Option) meter(ctx context.Context, w *World, s *stage, q *SimulateRequest) error {
	r, err := w.metered(ctx, s, q)
	if err != nil {
		return err
	}
	o.Energy = r.Energy
	return nil
}

// first is a simulation that was run: tier and notes are the same for all.
func (x *experiment) first() *trialResult {
	for _, r := range x.seen {
		if r.response != nil {
			return r
		}
	}
	return nil
}

// near is the option that comes nearest to the limits.
func (x *experiment) near(found []search.Found) *Option {
	worst := math.Inf(1)
	var best *search.Found
	for i := range found {
		f := &found[i]
		if f.Near.Batch == 0 {
			continue
		}
		over := 0.0
		for _, p := range [][2]units.Seconds{{f.Near.TTFT, x.e.Limits.TTFT}, {f.Near.TPOT, x.e.Limits.TPOT}} {
			if p[1] > 0 {
				over = max(over, float64(p[0]/p[1]))
			}
		}
		if over < worst {
			worst, best = over, f
		}
	}
	if best == nil {
		return nil
	}
	o := x.option(best.Unit, best.Near.Concurrency/best.Unit.Copies, best.Binds)
	return &o
}

// feasible are limits that an option meets with the confidence asked for.
func (x *experiment) feasible(o *Option) workload.Limits {
	if o == nil {
		return workload.Limits{}
	}
	l := x.e.Limits.Finite()
	each := x.e.Confidence
	if l.TTFT > 0 && l.TPOT > 0 {
		each = math.Sqrt(each)
	}
	each *= 1 + 1e-9 // the product of two rounded probabilities is to be no less than asked
	var out workload.Limits
	if l.TTFT > 0 {
		out.TTFT = max(l.TTFT, o.Expected.TTFT.Limit(o.TTFT, each))
	}
	if l.TPOT > 0 {
		out.TPOT = max(l.TPOT, o.Expected.TPOT.Limit(o.TPOT, each))
	}
	return out
}

// inUse is the memory of a device with a share of its cache in use.
func inUse(m *engine.Budget, kv float64) units.Bytes {
	return m.Weights + m.Activation + units.Bytes(kv)*m.KV
}

// tails takes the figures of a simulation beside the means.
func (o *Option) tails(r *SimulateResponse) {
	got := &r.Result
	o.TTFTMean, o.TPOTMean, o.TTFT95, o.TPOT95 = got.TTFT.Mean, got.TPOT.Mean, got.TTFT.P95, got.TPOT.P95
	o.Chance95 = r.Expected.Chance(got.TTFT.P95, got.TPOT.P95, r.Request.Limits)
	o.Engine, o.MemoryBudget, o.KVPeak = r.Title, r.Memory, got.KVPeak()
}

// option is a row.
func (x *experiment) option(u search.Unit, requests int, binds search.Verdict) Option {
	batch := x.batch(u, requests)
	out := Option{
		Deployment: x.deployment(u, batch, true), Copies: u.Copies, X: u.X, Y: u.Y, Batch: batch, Binds: binds,
		Used: u.Copies * u.Y * x.decode[u.Decode].Devices,
	}
	if x.e.Mode == Disaggregated {
		out.Used += u.Copies * u.X * x.prefill[u.Prefill].Devices
		out.Prompts = x.e.Workers.MaxBatch
	}
	r := x.seen[trialOf{u, requests, true}]
	if r == nil {
		r = x.seen[trialOf{u, requests, false}]
	}
	if r == nil || r.response == nil {
		return out
	}
	got := &r.response.Result
	out.tails(r.response)
	out.Concurrency, out.TTFT, out.TPOT, out.Throughput = r.outcome.Concurrency, r.outcome.TTFT, r.outcome.TPOT, r.outcome.Throughput
	out.Latency, out.RequestRate = x.figure(&got.Latency), r.outcome.Throughput/float64(x.e.Output)
	out.Memory = inUse(&r.response.Memory, got.KVPeak())
	out.Expected, out.Chance, out.Budget = r.response.Expected, r.response.Chance, r.response.Budget
	return out
}
