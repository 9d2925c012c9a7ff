package plan

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/ways"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// changes are the answers with one thing changed, everything else as in the best
// contender: its engine and mode are searched again. Where the limits are not met, or nothing fits, they are those that help.
func (p *planning) changes(ctx context.Context, r *Response) error {
	var best *Found
	var asked []way
	switch {
	case len(r.Contenders) > 0:
		best = &r.Contenders[0].Found
		asked = p.alternatives(best)
	case p.small != nil:
		asked = p.fitting()
	}
	found := make([]*Change, len(asked))
	errs := make([]error, len(asked))
	p.done.more("finding what would change the answer", len(asked))
	err := pool.Each(ctx, len(asked), experiment.AtATime, func(i int) {
		found[i], errs[i] = ways.Take(asked[i], func(c *Change) (bool, error) {
			err := p.change(ctx, best, c)
			return c.Meets, err
		})
		p.done.add()
	})
	if err = cmp.Or(err, pool.Bug(errs...)); err != nil {
		return err
	}
	meets := best != nil && best.Meets
	for i, c := range found {
		switch {
		case errs[i] != nil && meets:
			c.Failure = errs[i].Error()
			r.Changes = append(r.Changes, *c)
		case errs[i] != nil: // of no help
		case meets:
			r.Changes = append(r.Changes, *c)
		case c.Meets || best == nil: // a plan of its own, which compares what this one does
			p.widen(&c.Request)
			r.Changes = append(r.Changes, *c)
		}
	}
	return ctx.Err()
}

// widen compares the engines and modes of the request again, where they run on the system.
func (p *planning) widen(r *Request) {
	r.Modes, r.NoChanges = p.r.Modes, p.r.NoChanges
	if p.r.Engines == nil || slices.Contains(p.r.Engines, r.Engines[0]) {
		r.Engines = p.r.Engines
	}
}

// fill takes over what was found.
func (c *Change) fill(best *Found) {
	found := c.Found
	if !found.Meets && found.Nearest.Any() {
		c.Nearest = session.LimitsOf(found.Nearest)
	}
	c.Meets, c.Deployment, c.GPUs, c.TokensPerGPU = found.Meets, found.InWords(), &found.Used, new(found.Throughput/float64(found.Devices()))
	c.RequestRate = &found.RequestRate
	if best != nil && (found.Experiment.Engine.Name != best.Experiment.Engine.Name || found.Experiment.Mode != best.Experiment.Mode) {
		c.Deployment = fmt.Sprintf("%s %s, %s", found.Run.Title, found.Experiment.Mode, c.Deployment)
	}
	if found.Cost.PerMillion > 0 {
		c.PerMillion, c.PerMonth = &found.Cost.PerMillion, &found.Cost.PerMonth
	}
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
	if !c.Safe { // one engine and mode
		all = all[:1]
	}
	found, err := other.first(ctx, all)
	if err != nil {
		return err
	}
	c.Found = found
	if found.Meets || best == nil {
		c.fill(best)
	}
	if !found.Meets || best == nil || !best.Meets {
		return nil
	}
	ratio := found.perDevice() / best.perDevice()
	if p.r.peak() > 0 {
		ratio = float64(found.Used) / float64(best.Used)
	}
	c.Ratio = &ratio
	spread := calibration.Apart(best.Run.Expected.Throughput, found.Run.Expected.Throughput)
	if found.Experiment.System == best.Experiment.System {
		// The same model, engine and device are wrong in the same way: what is left is
		// the error of the difference, of which a quarter is taken.
		spread /= 4
	}
	c.WithinError = math.Abs(math.Log(ratio)) < spread
	return nil
}

// alternatives are the requests of the changes.
func (p *planning) alternatives(best *Found) []way {
	w := &changing{r: p.r, base: best.Experiment}
	if !best.Meets {
		p.meeting(best, w)
		p.more(best, w.add)
		return w.all
	}
	p.safer(best, w)
	p.usual(w.add)
	p.formats(best, w.add)
	p.more(best, w.add)
	p.neighbours(best, w.add)
	return w.all
}

// safer is the same with more certainty, where the answer has less.
func (p *planning) safer(best *Found, w *changing) {
	if !p.r.Limits.Finite().Any() || best.Judged.Sure() >= SafeConfidence || p.r.Confidence >= SafeConfidence {
		return
	}
	c := w.step(fmt.Sprintf("%.0f %% confidence instead of %.0f %%", 100*SafeConfidence, 100*best.Judged.Sure()), func(r *Request) {
		r.Confidence, r.Engines, r.Modes = SafeConfidence, p.r.Engines, p.r.Modes // another engine or mode may be the safer one
	})
	c.Safe = true
	w.all = append(w.all, way{c})
}

// usual are the changes of limits.
func (p *planning) usual(add func(string, func(*Request))) {
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
}

// more are the changes of caches, and of drafts that a model has.
func (p *planning) more(best *Found, add func(string, func(*Request))) {
	if s, err := p.world.Stage(&best.Deployment, &p.r.Sources); err == nil {
		p.draftChanges(best, s.Model, add)
	}
	if x := &p.r.Workloads[0]; len(p.r.Workloads) == 1 && x.Session == nil && x.Prefix == 0 && x.Trace == "" && x.InputLengths == nil {
		half := x.Input / 2
		if x.LengthLow == 1 || float64(half) < x.LengthLow*float64(x.Input) {
			add(fmt.Sprintf("half of each prompt (%d tokens) in the prefix cache", half), func(r *Request) { r.Workloads[0].Prefix = half })
		}
	}
	p.caching(best, add)
}

// formats are the changes of number formats.
func (p *planning) formats(best *Found, add func(string, func(*Request))) {
	s, resolved, err := p.world.Resolved(&best.Deployment, &p.r.Sources)
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
}

// alike says that a system of the same vendor is connected as another one and has a price.
func alike(d, own *device.Profile) bool {
	return d.Vendor == own.Vendor && d.Name != own.Name && launch.Engines(d.Vendor) != nil && d.Price.USDPerHour > 0 &&
		d.Node == own.Node && d.Domain() == own.Domain()
}

// halves is how fast a device multiplies 16-bit floats.
func halves(d *device.Profile) units.OpsPerSecond {
	return max(d.Matrix[dtype.BF16], d.Matrix[dtype.F16])
}

// neighbours are the systems of the same vendor with the next slower and the next faster memory that are connected alike and have a
// price, unless several systems are compared. One with faster memory that computes less is older, or made to compute less: nobody
// would change to it.
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
		case d.Bandwidth > own.Bandwidth && halves(d) >= halves(own) && (faster == nil || d.Bandwidth < faster.Bandwidth):
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
