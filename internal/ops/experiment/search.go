package experiment

import (
	"cmp"
	"context"
	"fmt"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/searchrun"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// prepared is what searches of the same deployments share, whatever their limits and the
// number of devices: what was simulated, and which layouts run.
type prepared struct {
	subject *searchrun.Subject
	bench   *search.Bench
}

// maxPrepared bounds the benches that are remembered: a few megabytes each.
const maxPrepared = 32

// prepare sets up the simulations of an experiment, from memory if they were before.
func (x *run) prepare() error {
	e := *x.e
	find := func() (*prepared, error) {
		shape := searchrun.NewShape(x.stage, e.Asked(), e.Prefix > 0 || e.Host.GiB > 0 || x.stage.Kinds != nil && x.stage.Kinds.Sessions != nil)
		shape.PrefillBatch, shape.AcceptanceRates = e.Workers.MaxBatch, e.AcceptanceRates
		s := &searchrun.Subject{
			Shape: shape,
			World: x.world, Stage: x.stage,
			Lengths:   simulate.Traffic{Process: e.Process, Variation: e.Variation, Input: e.Input, Output: e.Output, LengthLow: 1, Prefix: e.Prefix, Workloads: e.Workloads},
			Statistic: e.Statistic, Scale: e.scale(),
		}
		s.Whole = searchrun.Whole(x.stage, &s.Asked, s.Prompt())
		if e.Goodput > 0 {
			s.Together = e.Limits
		}
		return &prepared{s, s.Bench()}, nil
	}
	memo := x.world.Memo
	if x.how.PerfData.Dir != "" { // tables count what is taken from them
		memo = nil
	}
	key := e
	key.Name, key.Confidence, key.Devices, key.Replica = "", 0, 0, ReplicaSpace{}
	if e.Goodput == 0 {
		key.Limits = workload.Limits{}
	}
	key.Workers.Sizes, key.Decode.Sizes = search.Sizes{}, search.Sizes{}
	p, err := session.Recall(memo, "benches", maxPrepared, []any{key, x.how.Sources}, find)
	if err != nil {
		return err
	}
	space := &e.Workers
	if e.Mode == Disaggregated {
		space = &e.Decode
	}
	x.Run = searchrun.Run{
		Judge: search.Judge{Limits: e.Limits, Percentile: e.At(), Together: e.Goodput > 0, Confidence: e.Confidence},
		Group: search.ByLayout, Top: x.how.Top, Jobs: x.how.Jobs,
	}
	x.Simulate(p.subject, p.bench, search.Range{Min: 1, Max: space.MaxBatch, Given: true}, func(c *search.Candidate) string { return c.Layout.Label(x.out.Experts) })
	x.Simulated.Devices = e.Devices
	return nil
}

// scale is the correction of throughput that was asked for: that of the slower role.
func (e *Experiment) scale() float64 {
	out := cmp.Or(e.Workers.Scale, 1)
	if e.Mode == Disaggregated {
		out = min(out, cmp.Or(e.Decode.Scale, 1))
	}
	return out
}

// workers finds the layouts of workers that run on up to a number of devices.
func (x *run) workers(devices int) error {
	e := x.e
	space, other := &e.Workers, x.stage.Device
	if e.Mode == Disaggregated {
		space = &e.Decode
		x.space.Prefill = x.fitting(&e.Workers, x.layouts(&e.Workers, x.stage.Device, devices), 1, true)
	}
	if e.DecodeSystem != "" {
		other = x.stage.Systems[e.DecodeSystem]
	}
	x.space.Decode = x.fitting(space, x.layouts(space, other, devices), 1, false)
	if len(x.space.Decode) == 0 || e.Mode == Disaggregated && len(x.space.Prefill) == 0 {
		return session.BadInput(x.nothingRuns(devices))
	}
	x.space.Drafts = e.drafts()
	if e.Mode == Aggregated && x.Subject.Sessions().Turns == 0 { // most of a session's prompt is cached: little is left to divide
		x.space.Budgets = x.Subject.Budgets
	}
	return nil
}

// layouts are those of workers that a space has on a device.
func (x *run) layouts(s *WorkerSpace, d *device.Profile, devices int) []parallel.Layout {
	return x.Subject.Layouts(d, devices, &s.Sizes)
}

// fitting keeps the layouts that run, those for prefill with their own batches.
func (x *run) fitting(s *WorkerSpace, all []parallel.Layout, batch int, prefill bool) []parallel.Layout {
	fit, rejected := search.Fitting(all, s.PP != nil, func(l parallel.Layout) error {
		n := batch
		if prefill {
			n = x.Subject.Prompts(l)
		}
		return x.Subject.Fits(l, prefill, n, x.e.drafts()[0])
	})
	for i := range rejected {
		x.out.Left = append(x.out.Left, Left{
			Layout: rejected[i].Layout, Prefill: prefill, Why: field.Say(rejected[i].Err, parallel.Word), Kind: kind(rejected[i].Err),
		})
	}
	if len(fit) == 0 && len(rejected) > 0 {
		x.closest = new(search.Closest(rejected))
	}
	return fit
}

// NoRoomError says that no layout of a model runs on so many devices: Closest is the one that comes nearest, and Why it does not.
type NoRoomError struct {
	Model        string
	Devices      int
	Closest, Why string
}

// Error is the reason of the layout that comes nearest.
func (e *NoRoomError) Error() string {
	return fmt.Sprintf("no layout of %s runs on up to %d devices: %s: %s", e.Model, e.Devices, e.Closest, e.Why)
}

// nothingRuns is why there is no layout: the reason of the one that comes nearest.
func (x *run) nothingRuns(devices int) error {
	if x.closest != nil {
		return &NoRoomError{x.stage.Model.Name(), devices, x.closest.Layout.Label(x.out.Experts), field.Say(x.closest.Err, parallel.Word)}
	}
	return fmt.Errorf("no layout of %s has the sizes asked for on up to %d devices", x.stage.Model.Name(), devices)
}

// fill sets up units of up to as many devices as there are.
func (x *run) fill() error {
	e := x.e
	if err := x.workers(e.Devices); err != nil {
		return err
	}
	x.space.Packing = search.Packing{
		Devices: e.Devices, Sizes: e.Replica.Devices, MaxDevices: e.Replica.MaxDevices,
		MaxPrefill: e.Replica.MaxPrefill, MaxDecode: e.Replica.MaxDecode,
	}
	return nil
}

// find finds the best deployments, one for each layout that generates; if none meets the limits, those that come nearest.
func (x *run) find(ctx context.Context) error {
	if err := x.Find(ctx); err != nil {
		return err
	}
	if x.scored(); len(x.Rows) > 0 {
		return nil
	}
	more, err := x.space.Nearest(ctx, x.Simulated, x.Workers())
	if err != nil {
		return err
	}
	x.Results = append(x.Results, more...)
	x.nearest = x.Nearest()
	return nil
}

// scored takes the score of the best row.
func (x *run) scored() {
	if len(x.Rows) > 0 {
		x.out.Score = x.Rows[0].Score
	}
}
