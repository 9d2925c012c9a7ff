package document

import (
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/evidence/provenance"
	"github.com/plimsoll-project/plimsoll/internal/ops/estimate"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// NewPlan makes the record. Command gives the command line of a request; nil = none.
func NewPlan(r *plan.Response, version string, command func(*plan.Request) string) *Plan {
	if command == nil {
		command = func(*plan.Request) string { return "" }
	}
	out := &Plan{
		Schema: PlanSchema, Version: version, Data: dataHashes(), Command: command(&r.Request), Request: &r.Request, Model: r.Model,
		RankedBy: string(r.RankedBy), Contenders: []Contender{}, NotRun: append([]plan.NotRun{}, r.Failed...), Changes: []Change{}, Loads: []Load{},
		Pools: append([]estimate.Pool{}, r.Pools...), Timeline: []Moment{}, Workloads: append([]session.PlanWorkload{}, r.Workloads...), Notes: append([]string{}, r.Notes...), Caution: session.Caution,
	}
	for i := range r.Contenders {
		out.Contenders = append(out.Contenders, contenderOf(&r.Contenders[i]))
	}
	for i := range r.Changes {
		out.Changes = append(out.Changes, changeOf(&r.Changes[i], command))
	}
	for i := range r.Loads {
		out.Loads = append(out.Loads, loadOf(&r.Loads[i]))
	}
	for _, p := range r.Series {
		out.Timeline = append(out.Timeline, Moment{float64(p.At), p.Waiting, p.Running, p.KV})
	}
	if d := r.Day; d != nil {
		out.Day = &Day{r.Request.Daily, d.Devices, d.Mean}
		if c := out.Contenders[0].Cost; c != nil {
			c.Scaled = &d.PerMonth
		}
	}
	out.Answer, out.Next = answerOf(out), nextOf(out)
	return out
}

func dataHashes() []Data {
	out := []Data{}
	for _, e := range provenance.Entries() {
		if strings.Contains(e.Path, "/testdata") || strings.HasPrefix(e.Path, "internal/face/web/") {
			continue
		}
		out = append(out, Data{e.Path, e.SHA256})
	}
	return out
}

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

func contenderOf(c *plan.Contender) Contender {
	e, x := &c.Experiment, &c.Expected
	devices := float64(c.Devices())
	out := Contender{
		Name: c.Name(), System: e.System, Engine: e.Engine.Name, EngineTitle: c.Engine,
		EngineVersion: e.Engine.Version, Mode: string(e.Mode), Deployment: deploymentInWords(c), Meets: c.Meets, GPUs: c.Used, GPUsGiven: c.Devices(),
		Concurrency: c.Concurrency, Batch: c.Batch,
		Tokens: rangeOf(c.Throughput, x.Throughput), TokensPerGPU: rangeOf(c.Throughput/devices, x.Throughput),
		TokensPerUser: second(c.TPOTMean.Rate(), x.TPOT.Inverse()), RequestRate: rangeOf(c.RequestRate, x.Throughput), TTFT: rangeOf(c.TTFTMean.Ms(), x.TTFT), TPOT: second(c.TPOTMean.Ms(), x.TPOT),
		TTFT95: rangeOf(c.TTFT95.Ms(), x.TTFT), TPOT95: second(c.TPOT95.Ms(), x.TPOT), Latency: c.Latency.Ms(), BoundBy: string(c.Binds),
		Memory: c.MemoryBudget, KVPeak: c.KVPeak, KVTokens: c.MemoryBudget.Tokens, Tier: string(c.Tier), Basis: x.Basis,
		Frontier: append([]experiment.Speed{}, c.Frontier...), Run: c.Deployment,
	}
	out.Energy = c.Energy
	if e.Limits.Any() {
		out.Chance, out.Chance95 = &c.Chance, &c.Chance95
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
	return out
}

func changeOf(c *plan.Change, command func(*plan.Request) string) Change {
	out := Change{What: c.What, Command: command(&c.Request), Failure: c.Failure, WithinError: c.WithinError}
	b := c.Best
	if b == nil || !b.Meets {
		return out
	}
	out.Meets, out.Deployment, out.GPUs = true, deploymentInWords(b), &b.Used
	perGPU := b.Throughput / float64(b.Devices())
	out.TokensPerGPU = &perGPU
	if b.Cost.PerMillion > 0 {
		out.PerMillion = &b.Cost.PerMillion
	}
	if c.Ratio > 0 {
		out.Ratio = &c.Ratio
	}
	return out
}

func loadOf(l *plan.LoadPoint) Load {
	x := &l.Expected
	return Load{
		Concurrency: l.Concurrency, Tokens: rangeOf(l.Throughput, x.Throughput), RequestRate: l.RequestRate,
		TTFT: rangeOf(l.TTFT.Ms(), x.TTFT), TPOT: second(l.TPOT.Ms(), x.TPOT), TTFT95: l.TTFT95.Ms(), TPOT95: l.TPOT95.Ms(), Chance: l.Chance,
	}
}
