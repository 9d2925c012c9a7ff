package plan

import (
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// second is rangeOf for figures of the tokens after the first, nil where there are none.
func second(value float64, e calibration.Error) *Range {
	if value == 0 {
		return nil
	}
	r := rangeOf(value, e)
	return &r
}

// rangeOf is a value with its interval.
func rangeOf(value float64, e calibration.Error) Range {
	low, high := e.Interval(value)
	return Range{value, low, high}
}

// newContender is what was found as plans show it.
func newContender(c *Found) Contender {
	e, x := &c.Experiment, &c.Expected
	devices := float64(c.Devices())
	out := Contender{
		Name: e.System + " " + e.Engine.Name + " " + string(e.Mode), System: e.System, Engine: e.Engine.Name, EngineTitle: c.Engine,
		EngineVersion: e.Engine.Version, Mode: string(e.Mode), Deployment: c.inWords(), Meets: c.Meets, Spare: c.Spare, GPUs: c.Used, GPUsGiven: c.Devices(),
		Concurrency: c.Concurrency, Batch: c.Batch,
		Tokens: rangeOf(c.Throughput, x.Throughput), TokensPerGPU: rangeOf(c.Throughput/devices, x.Throughput),
		TokensPerUser: second(c.TPOTMean.Rate(), x.TPOT.Inverse()), RequestRate: rangeOf(c.RequestRate, x.Throughput), TTFT: rangeOf(c.TTFTMean.Ms(), x.TTFT), TPOT: second(c.TPOTMean.Ms(), x.TPOT),
		TTFT95: rangeOf(c.TTFT95.Ms(), x.TTFT), TPOT95: second(c.TPOT95.Ms(), x.TPOT), Latency: c.Latency.Ms(), BoundBy: string(c.Binds),
		Memory: c.MemoryBudget, KVPeak: c.KVPeak, KVTokens: c.MemoryBudget.Tokens, Tier: c.Tier, Basis: x.Basis,
		Frontier: append([]experiment.Speed{}, c.Frontier...), Run: c.Deployment, Energy: c.Energy, Found: *c,
	}
	if e.Limits.Any() {
		out.Chance, out.Chance95 = &c.Chance, &c.Chance95
		out.GoodShare, out.Goodput = &c.Good, new(c.Good*c.RequestRate)
	}
	if m := &c.Capacity; c.Load > 0 {
		out.Load = &c.Load
		out.Capacity = &Carried{rangeOf(m.RequestRate, x.Throughput), rangeOf(m.Throughput, x.Throughput), m.Concurrency}
		sure := calibration.Error{} // they are given
		out.RequestRate, out.Tokens, out.TokensPerGPU = rangeOf(c.RequestRate, sure), rangeOf(c.Throughput, sure), rangeOf(c.Throughput/devices, sure)
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
			PerGPUHour: k.USDPerHour, Source: k.Source, PerMillion: rangeOf(k.PerMillion, more), PerRequest: rangeOf(k.PerRequest, more), PerMonth: k.PerMonth,
			Energy: k.Energy, EnergyPrice: k.EnergyPrice,
		}
	}
	out.Sessions = sessionsOf(c, &out)
	return out
}
