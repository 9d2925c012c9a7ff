package plan

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// changes are the answers with one thing changed, everything else as in the best
// contender: its engine and mode are searched again.
func (p *planning) changes(ctx context.Context, r *Response) error {
	if len(r.Contenders) == 0 {
		return nil
	}
	best := &r.Contenders[0].Found
	asked := p.alternatives(best)
	errs := make([]error, len(asked))
	p.done.more("finding what would change the answer", len(asked))
	err := pool.Each(ctx, len(asked), experiment.AtATime, func(i int) {
		errs[i] = p.change(ctx, best, &asked[i])
		p.done.add()
	})
	if err = cmp.Or(err, pool.Bug(errs...)); err != nil {
		return err
	}
	for i := range asked {
		switch c := &asked[i]; {
		case errs[i] != nil:
			c.Failure = errs[i].Error()
			r.Changes = append(r.Changes, *c)
		case c.Meets || best.Meets:
			r.Changes = append(r.Changes, *c)
		}
	}
	return ctx.Err()
}

// change searches again.
func (p *planning) change(ctx context.Context, best *Found, c *Change) error {
	other := &planning{world: p.world, r: &c.Request}
	if err := complete(p.world, &c.Request); err != nil {
		return err
	}
	all, err := experiments(p.world, &c.Request)
	if err != nil {
		return err
	}
	found, err := other.contender(ctx, all[0], false, nil)
	if err != nil {
		return err
	}
	if c.Found = &found; !found.Meets {
		return nil
	}
	c.Meets, c.Deployment, c.GPUs, c.TokensPerGPU = true, found.inWords(), &found.Used, new(found.Throughput/float64(found.Devices()))
	if found.Cost.PerMillion > 0 {
		c.PerMillion = &found.Cost.PerMillion
	}
	if !best.Meets {
		return nil
	}
	ratio := found.perDevice() / best.perDevice()
	if p.r.peak() > 0 {
		ratio = float64(found.Used) / float64(best.Used)
	}
	c.Ratio = &ratio
	spread := calibration.Apart(best.Expected.Throughput, found.Expected.Throughput)
	if found.Experiment.System == best.Experiment.System {
		// The same model, engine and device are wrong in the same way: what is left is
		// the error of the difference, of which a quarter is taken.
		spread /= 4
	}
	c.WithinError = math.Abs(math.Log(ratio)) < spread
	return nil
}

// alternatives are the requests of the changes.
func (p *planning) alternatives(best *Found) []Change {
	var out []Change
	add := func(what string, edit func(*Request)) {
		r := *p.r
		r.Workloads, r.NoChanges = slices.Clone(r.Workloads), true
		r.Systems, r.Engines, r.Modes = []string{best.Experiment.System}, []string{inRelease(best.Experiment.Engine.Name, best.Experiment.Engine.Version)}, []experiment.ServingMode{best.Experiment.Mode}
		if r.DeviceFile != "" {
			r.Systems = nil
		}
		edit(&r)
		out = append(out, Change{What: what, Request: r})
	}
	l := p.r.Limits.Finite()
	const looser = 2
	if l.TTFT > 0 {
		add(fmt.Sprintf("TTFT limit %g ms instead of %g ms", looser*l.TTFT.TypedMs(), l.TTFT.TypedMs()), func(r *Request) { r.Limits.TTFT *= looser })
	}
	if l.TPOT > 0 {
		add(fmt.Sprintf("TPOT limit %g ms instead of %g ms", looser*l.TPOT.TypedMs(), l.TPOT.TypedMs()), func(r *Request) { r.Limits.TPOT *= looser })
	}
	if l.Latency > 0 {
		add(fmt.Sprintf("request latency limit %g ms instead of %g ms", looser*l.Latency.TypedMs(), l.Latency.TypedMs()), func(r *Request) { r.Limits.Latency *= looser })
	}
	if l.Any() && p.r.At() == 0 {
		add("limits on the 95th percentile instead of the mean", func(r *Request) { r.Percentile = 95 })
	}
	p.formats(best, add)
	if x := &p.r.Workloads[0]; len(p.r.Workloads) == 1 && x.Session == nil && x.Prefix == 0 && x.Trace == "" && x.InputLengths == nil {
		half := x.Input / 2
		if x.LengthLow == 1 || float64(half) < x.LengthLow*float64(x.Input) {
			add(fmt.Sprintf("half of each prompt (%d tokens) in the prefix cache", half), func(r *Request) { r.Workloads[0].Prefix = half })
		}
	}
	p.caching(best, add)
	p.neighbours(best, add)
	return out
}

// formats are the changes of number formats and of drafts that a model has.
func (p *planning) formats(best *Found, add func(string, func(*Request))) {
	s, err := p.world.Stage(&best.Deployment, &p.r.Sources)
	if err != nil {
		return
	}
	resolved, err := best.Deployment.Resolve(s.Parts)
	if err != nil {
		return
	}
	q := &resolved.Generates().Spec.Quant
	if p.r.Formats == (deployment.Formats{}) && s.Device.Matrix[dtype.FP8] > 0 {
		if q.Dense.Weight == q.Base && q.Experts.Weight == q.Base {
			add("FP8 weights", func(r *Request) { r.Formats.Checkpoint = "fp8" })
		}
		if q.KV == q.Base {
			add("FP8 cache", func(r *Request) { r.Formats.KV = "fp8" })
		}
	}
	p.draftChanges(best, s.Model, add)
}

// alike says that a system of the same vendor is connected as another one and has a price.
func alike(d, own *device.Profile) bool {
	return d.Vendor == own.Vendor && d.Name != own.Name && launch.Engines(d.Vendor) != nil && d.Price.USDPerHour > 0 &&
		d.Node == own.Node && d.Domain() == own.Domain()
}

// neighbours are the systems of the same vendor with the next slower and the next faster
// memory that are connected alike and have a price, unless several systems are compared.
func (p *planning) neighbours(best *Found, add func(string, func(*Request))) {
	own, err := p.world.Device(best.Experiment.System, p.r.DeviceFile)
	if err != nil || len(p.r.Systems) > 1 {
		return
	}
	var slower, faster *device.Profile
	for _, name := range device.Names() {
		d, err := p.world.Device(name, "")
		if err != nil || !alike(d, own) {
			continue
		}
		switch {
		case d.Bandwidth > own.Bandwidth && (faster == nil || d.Bandwidth < faster.Bandwidth):
			faster = d
		case d.Bandwidth < own.Bandwidth && (slower == nil || d.Bandwidth > slower.Bandwidth):
			slower = d
		}
	}
	for _, d := range []*device.Profile{slower, faster} {
		if d != nil {
			add(d.Name+" instead of "+own.Name, func(r *Request) { r.Systems, r.DeviceFile = []string{d.Name}, "" })
		}
	}
}
