package plan

import (
	"github.com/plimsoll-project/plimsoll/internal/cost/money"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
)

// newContender is what was found as plans show it.
func newContender(c *Found) Contender {
	e, x := &c.Experiment, &c.Expected
	devices := float64(c.Devices())
	out := Contender{
		Name: label(e), System: e.System, Engine: e.Engine.Name, EngineTitle: c.Engine,
		EngineVersion: e.Engine.Version, Mode: string(e.Mode), Deployment: c.InWords(), Meets: c.Meets, Spare: c.Spare, GPUs: c.Used, GPUsGiven: c.Devices(), NodeGPUs: c.NodeGPUs,
		Concurrency: c.Concurrency, Batch: c.Batch,
		Tokens: simulate.RangeOf(c.Throughput, x.Throughput), TokensPerGPU: simulate.RangeOf(c.Throughput/devices, x.Throughput),
		TokensPerUser: simulate.RangeOrNull(c.User(), x.TPOT.Inverse()), RequestRate: simulate.RangeOf(c.RequestRate, x.Throughput), Judged: c.Judged,
		TTFT: simulate.RangeOf(c.TTFTMean.Ms(), c.Means.TTFT), TPOT: simulate.RangeOrNull(c.TPOTMean.Ms(), c.Means.TPOT), Latency: c.LatencyMean.Ms(),
		TTFT95: simulate.RangeOf(c.TTFT95.Ms(), c.P95.TTFT), TPOT95: simulate.RangeOrNull(c.TPOT95.Ms(), c.P95.TPOT), BoundBy: string(c.Binds),
		Memory: c.MemoryBudget, KVPeak: c.KVPeak, KVTokens: c.MemoryBudget.Tokens, Tier: c.Tier, Basis: x.Basis,
		Frontier: append([]experiment.Speed{}, c.Frontier...), Run: c.Deployment, Energy: c.Energy, Links: c.Links, Found: *c,
	}
	out.KVFlow = out.flow(e.Input)
	if e.Limits.Any() {
		out.Chance, out.Chance95 = &c.Chance, &c.Chance95
		out.GoodShare, out.Goodput = &c.Good, new(c.Good*c.RequestRate)
	}
	if m := &c.Capacity; c.Load > 0 {
		out.Load = &c.Load
		out.Capacity = &Carried{simulate.RangeOf(m.RequestRate, x.Throughput), simulate.RangeOf(m.Throughput, x.Throughput), m.Concurrency}
		out.RequestRate, out.Tokens, out.TokensPerGPU = simulate.Sure(c.RequestRate), simulate.Sure(c.Throughput), simulate.Sure(c.Throughput/devices)
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
			PerGPUHour: k.USDPerHour, Source: k.Source, Class: c.Price.Class, Date: c.Price.Date, Region: c.Price.Region, PerMillion: simulate.RangeOf(k.PerMillion, more), PerRequest: simulate.RangeOf(k.PerRequest, more), PerMonth: k.PerMonth,
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
