package experiment

import (
	"cmp"
	"context"
	"errors"

	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/ops/trial"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// summarize turns what was found into rows.
func (x *run) summarize(ctx context.Context) error {
	shown := x.rows[:min(len(x.rows), x.how.Top)]
	if len(shown) == 0 && x.near != nil {
		shown = []*search.Result{x.near}
	}
	options := make([]Option, len(shown))
	notes := make([]about, len(shown))
	errs := make([]error, len(shown))
	err := pool.Each(ctx, len(shown), cmp.Or(x.how.Jobs, session.DefaultJobs), func(i int) {
		o := &shown[i].Best
		if !shown[i].OK {
			o = &shown[i].First
		}
		options[i], notes[i], errs[i] = x.option(ctx, shown[i], o)
	})
	if err := cmp.Or(err, errors.Join(errs...)); err != nil {
		return err
	}
	if len(shown) > 0 {
		x.out.Tier, x.out.Notes = notes[0].tier, notes[0].notes
	}
	if len(x.rows) > 0 {
		x.out.Rows = options
	} else if len(options) > 0 {
		x.out.Near = &options[0]
		x.out.Nearest = x.eval.Judge.Nearest(&x.near.First, &options[0].Expected)
	}
	return nil
}

// frontier is the best trade-offs of speed and throughput, of what was simulated.
func (x *run) frontier(points []formulas.Outcome) {
	speeds := make([]Speed, 0, len(points))
	add := func(all []formulas.Outcome) {
		for i := range all {
			if o := &all[i]; o.TPOT > 0 && o.OOM == "" {
				speeds = append(speeds, Speed{o.TPOT.Rate(), o.Throughput / float64(x.e.Devices)})
			}
		}
	}
	add(points)
	for i := range x.results {
		add(x.results[i].Points)
	}
	x.out.Frontier = append([]Speed{}, search.Frontier(speeds, func(s *Speed) (a, b float64) { return s.User, s.Device })...)
}

// option is a row, simulated once more with its energy.
func (x *run) option(ctx context.Context, r *search.Result, o *formulas.Outcome) (Option, about, error) {
	out := x.found(r, o)
	got, err := x.show(ctx, r.Candidate, o.Batch, trial.Load{Requests: o.Concurrency})
	if err != nil {
		return out, about{}, err
	}
	x.figures(&out, got)
	out.Throughput = got.Result.OutputRate * x.e.scale()
	out.RequestRate = out.Throughput / float64(x.e.Output)
	out.Capacity = Capacity{out.Throughput, out.RequestRate, out.Concurrency}
	return out, about{got.Tier, x.e.Notes(x.stage, got.Notes)}, nil
}

// show simulates a candidate that is shown.
func (x *run) show(ctx context.Context, c search.Candidate, batch int, l trial.Load) (*simulate.Response, error) {
	return x.subject.Show(ctx, c, batch, l, simulate.Request{Sources: x.how.Sources, Limits: x.e.Limits, Statistic: x.e.Statistic})
}

// found is a row without figures.
func (x *run) found(r *search.Result, o *formulas.Outcome) Option {
	c, talks := &r.Candidate, x.subject.Sessions()
	out := Option{
		Deployment: x.subject.Deployment(*c, o.Batch), Copies: max(1, c.Copies), X: c.X, Y: max(1, c.Y), Used: c.Devices(),
		Concurrency: o.Concurrency, Batch: o.Batch, Binds: r.Binds, Sampled: talks.Sample(c), Turns: x.stage.Kinds.Turns(),
	}
	if c.X > 0 {
		out.Prompts = x.e.Workers.MaxBatch
	}
	return out
}

// figures takes those of a simulation.
func (x *run) figures(o *Option, r *simulate.Response) {
	got, p := &r.Result, x.e.At()
	ttft, tpot, latency := got.TTFT.Percentile(p), got.TPOT.Percentile(p), got.Latency.Percentile(p)
	o.TTFT, o.TPOT, o.Latency = units.InMs(ttft), units.InMsOrNull(tpot), units.InMs(latency)
	o.TTFTMean, o.TPOTMean, o.LatencyMean, o.TTFT95, o.TPOT95 = got.TTFT.Mean, got.TPOT.Mean, got.Latency.Mean, got.TTFT.P95, got.TPOT.P95
	o.Judged, o.Means, o.P95 = r.Judged, r.Means, r.At(95)
	o.Chance, o.Chance95 = 1, o.P95.Chance(got.TTFT.P95, got.TPOT.P95, got.Latency.P95, x.e.Limits)
	if x.e.Limits.Any() {
		o.Chance, o.Good = *r.Chance, got.GoodShare
	}
	o.Cached, o.Hosted, o.Sessions = got.CachedShare, got.HostShare, got.Sessions
	o.Engine, o.MemoryBudget, o.KVPeak = r.Title, r.Memory, got.KVPeak()
	o.Memory = r.Memory.InUse(o.KVPeak)
	o.Expected, o.Budget, o.Energy = r.Expected, r.Budget, r.Energy
}
