package experiment

import (
	"cmp"
	"context"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/ops/searchrun"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// summarize turns what was found into rows.
func (x *run) summarize(ctx context.Context) error {
	shown := x.Rows[:min(len(x.Rows), x.how.Top)]
	near := len(shown) == 0 && x.nearest != nil
	if near {
		shown = []*search.Result{x.nearest}
	}
	options := make([]Option, len(shown))
	notes := make([]about, len(shown))
	err := pool.All(ctx, len(shown), x.Workers(), func(i int) (err error) {
		o := &shown[i].Best
		if !shown[i].OK {
			o = &shown[i].First
		}
		options[i], notes[i], err = x.option(ctx, shown[i], o)
		return err
	})
	if err != nil {
		return err
	}
	if len(shown) > 0 {
		x.out.Tier, x.out.Notes = notes[0].tier, notes[0].notes
	}
	if near {
		x.out.Near = &options[0]
		x.out.Nearest = x.Judge.Nearest(x.nearest.First.Times, &options[0].Run.Expected)
	} else {
		x.out.Rows = options
	}
	if !x.how.Table {
		return nil
	}
	if err := x.more(ctx, shown); err != nil {
		return err
	}
	return x.left(ctx)
}

// frontier is the best trade-offs of speed and throughput, of what was simulated and of the rows. Nothing on it is better than the best row
// in both: the limits rule that out.
func (x *run) frontier(swept []search.Result) {
	type point struct {
		Speed
		of *search.Result
		o  *figures.Outcome
	}
	rows := x.out.Rows
	better := func(p *Speed) bool {
		return len(rows) > 0 && p.User >= rows[0].User() && p.Device >= rows[0].PerDevice(x.e)
	}
	var all []point
	for r, o := range searchrun.Points(slices.Concat(x.Results, swept)) {
		if p := (Speed{User: o.TPOT.Rate(), Device: o.Throughput / float64(x.e.Devices)}); !better(&p) {
			all = append(all, point{p, r, o})
		}
	}
	for i := range rows {
		p := Speed{User: rows[i].User(), Device: rows[i].PerDevice(x.e), Option: &rows[i]}
		if rows[i].TPOT > 0 && (i == 0 || !better(&p)) {
			all = append(all, point{Speed: p})
		}
	}
	x.out.Frontier = []Speed{}
	for _, p := range search.Frontier(all, func(p *point) (a, b float64) { return p.User, p.Device }) {
		if p.Option == nil {
			o := x.found(p.of, p.o)
			o.Figures, o.RequestRate = p.o.Figures, p.o.Throughput/float64(x.e.Output)
			p.Option = &o
		}
		x.out.Frontier = append(x.out.Frontier, p.Speed)
	}
}

// option is a row, simulated once more with its energy.
func (x *run) option(ctx context.Context, r *search.Result, o *figures.Outcome) (Option, about, error) {
	out := x.found(r, o)
	got, err := x.show(ctx, r.Candidate, o.Batch, searchrun.Load{Requests: o.Concurrency})
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
func (x *run) show(ctx context.Context, c search.Candidate, batch int, l searchrun.Load) (*simulate.Response, error) {
	return x.Subject.Show(ctx, c, batch, l, simulate.Request{Sources: x.how.Sources, Limits: x.e.Limits, Statistic: x.e.Statistic})
}

// found is a row without figures.
func (x *run) found(r *search.Result, o *figures.Outcome) Option {
	c, talks := &r.Candidate, x.Subject.Sessions()
	out := Option{
		Deployment: x.Subject.Deployment(*c, o.Batch), Copies: max(1, c.Copies), X: c.X, Y: max(1, c.Y), Used: c.Devices(),
		Concurrency: o.Concurrency, Batch: o.Batch, Binds: r.Binds, Sampled: talks.Sample(c), Turns: x.stage.Kinds.Turns(),
		Version: cmp.Or(x.e.Engine.Version, x.stage.Engine.Known),
	}
	if c.X > 0 {
		out.Prompts = x.Subject.Prompts(c.Prefill)
	}
	return out
}

// figures takes those of a simulation.
func (x *run) figures(o *Option, r *simulate.Response) {
	r.Result.Series, r.Result.Records = nil, nil
	o.Times, o.Judged = r.Result.Times(x.e.At()), r.Judged
	if k := x.stage.Kinds; x.e.Prefix > 0 || k != nil && k.Sessions != nil { // others find again what they had before a preemption
		o.Cached, o.Hosted = r.CachedShare, r.HostShare
	}
	o.Run, o.Memory, o.Budget, o.Energy = r, r.Memory.InUse(r.KVPeak), r.Budget, r.Energy
}
