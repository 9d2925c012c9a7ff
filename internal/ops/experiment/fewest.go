package experiment

import (
	"cmp"
	"context"

	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/ops/searchrun"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// Fewer compares options that carry a load: by devices, then by throughput per device.
func Fewer(a, b *Option) int {
	per := func(o *Option) float64 { return o.Capacity.Throughput / float64(o.Used) }
	return cmp.Or(cmp.Compare(a.Used, b.Used), cmp.Compare(per(b), per(a)))
}

// mostDevices of a unit that a load is sized by: a unit of more is hardly run.
const mostDevices = 64

// atLoad turns what was found for a load into rows, those with the fewest devices first.
func (x *run) atLoad(ctx context.Context, load searchrun.Load) error {
	for i, r := range x.Rows[:min(len(x.Rows), x.how.Top)] {
		row, about, err := x.loaded(ctx, load, r)
		if err != nil {
			return err
		}
		if i == 0 {
			x.out.Tier, x.out.Notes = about.tier, about.notes
		}
		x.out.Rows = append(x.out.Rows, row)
	}
	return nil
}

// widen sets up units of up to as many devices as the model needs.
func (x *run) widen() error {
	// Where a unit of so many devices does not hold the model, larger ones are tried.
	devices := max(mostDevices, x.stage.Device.Node)
	err := x.workers(devices)
	for ; err != nil && devices < min(MaxDevices, x.stage.Device.Ranks()); err = x.workers(devices) {
		devices *= 2
		x.out.Left = nil
	}
	if err != nil {
		return err
	}
	x.e.Devices = devices
	x.space.Packing = search.Packing{MaxDevices: devices, Sizes: x.e.Replica.Devices, MaxPrefill: x.e.Replica.MaxPrefill, MaxDecode: x.e.Replica.MaxDecode}
	if m := x.e.Replica.MaxDevices; m > 0 {
		x.space.Packing.MaxDevices = min(m, devices)
	}
	return nil
}

// loaded is a row, simulated once more under the load.
func (x *run) loaded(ctx context.Context, load searchrun.Load, r *search.Result) (Option, about, error) {
	copies, all := max(1, r.Candidate.Copies), *r
	all.Candidate.Copies = copies + x.how.Spare
	out := x.found(&all, &r.Best)
	out.Least, out.Spare = r.Least, x.how.Spare
	full := load
	full.Ran = r.Ran
	full.Requests = copies * parallel.MaxPerRank(load.Requests, copies)
	got, err := x.show(ctx, r.Candidate, r.Best.Batch, full)
	if err != nil {
		return out, about{}, err
	}
	x.figures(&out, got)
	out.Throughput = got.Result.OutputRate * x.e.scale()
	out.RequestRate = got.Result.RequestRate * x.e.scale()
	out.Concurrency = r.Best.Concurrency
	most := float64(copies) * r.Capacity.Throughput
	out.Capacity = Capacity{Throughput: most, RequestRate: most / float64(x.e.Output), Concurrency: copies * r.Capacity.Concurrency}
	out.Load = load.Rate * out.Turns / out.Capacity.RequestRate
	if load.Requests > 0 {
		out.Load = float64(load.Requests) / float64(out.Capacity.Concurrency)
	}
	return out, about{got.Tier, x.e.Notes(x.stage, got.Notes)}, nil
}
