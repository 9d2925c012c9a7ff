package plan

import (
	"github.com/plimsoll-project/plimsoll/internal/cost/money"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// newContender is what was found as plans show it.
func newContender(c *Found) Contender {
	e, r, x := &c.Experiment, c.Run, &c.Run.Expected
	out := Contender{
		Name: label(e), System: e.System, Engine: e.Engine.Name, EngineTitle: r.Title,
		EngineVersion: e.Engine.Version, Mode: string(e.Mode), Deployment: c.InWords(), Meets: c.Meets, Spare: c.Spare, GPUs: c.Used, GPUsGiven: c.Devices(), NodeGPUs: c.NodeGPUs,
		Concurrency: c.Concurrency, Batch: c.Batch,
		Record: c.Record, Mean: r.Mean(), P95: r.P95(), BoundBy: string(c.Binds),
		Memory: r.Memory, KVPeak: r.KVPeak, KVTokens: r.KVTokens, Tier: c.Tier,
		Frontier: append([]experiment.Speed{}, c.Frontier...), Run: c.Deployment, Energy: c.Energy, Links: c.Links, Found: *c,
	}
	out.KVFlow = out.flow(e.Input)
	if e.Limits.Any() {
		out.GoodShare, out.Goodput = &r.GoodShare, new(r.GoodShare*c.RequestRate)
	}
	if m := &c.Capacity; c.Load > 0 {
		out.Load = &c.Load
		out.Capacity = &Carried{x.Throughput.Of(m.RequestRate), x.Throughput.Of(m.Throughput), m.Concurrency}
	}
	if !c.Meets && c.Nearest.Any() {
		out.Nearest = session.LimitsOf(c.Nearest)
	}
	if k := &c.Cost; k.USDPerHour > 0 {
		more := x.Throughput.Inverse()
		if c.Load > 0 { // the load is given
			more = calibration.Error{}
		}
		out.Cost = &Cost{
			PerGPUHour: k.USDPerHour, Source: k.Source, Class: c.Price.Class, Date: c.Price.Date, Region: c.Price.Region, PerMillion: more.Of(k.PerMillion), PerRequest: more.Of(k.PerRequest), PerMonth: k.PerMonth,
			Energy: k.Energy, EnergyPrice: k.EnergyPrice,
		}
		if c.Apart {
			out.Cost.Apart = c.Price.Class.InWords() + ": not comparable with the other prices"
		}
		if c.Day != nil {
			out.Cost.Scaled = &c.Scaled
		}
	}
	if out.Sessions = sessionsOf(c, &out); out.Sessions == nil {
		out.CachedShare = c.Cached
	}
	for i := range out.Frontier {
		describe(&out.Frontier[i], c)
	}
	return out
}

// describe says which deployment a point of the trade-off is.
func describe(f *experiment.Speed, c *Found) {
	if f.Option == nil {
		return
	}
	x := *c
	x.Option = *f.Option
	f.Deployment, f.GPUs, f.TTFT, f.TPOT = x.InWords(), x.Used, x.TTFT.Ms(), x.TPOT.Ms()
	if k := c.Cost.USDPerHour; k > 0 && x.Throughput > 0 {
		f.PerMillion = money.PerMillion(k*float64(x.Devices()), x.Throughput)
	}
}

// InRelease names an engine as a request does: with the release if one was asked for.
func InRelease(name, release string) string {
	if release == "" {
		return name
	}
	return name + "@" + release
}

// InRelease is the contender's engine, with the release that was asked for.
func (c *Contender) InRelease() string { return InRelease(c.Engine, c.EngineVersion) }
