package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/money"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// Status is how a cell went.
type Status string

// What happens to cells.
const (
	OK         Status = "ok"
	OverLimits Status = "over_limits" // the figures are of the nearest deployment that was found
	Failed     Status = "failed"      // there are no figures; the reason says why
)

// Row is a cell of the table: where it is, what came out, and the request that gives the same answer again. Figures that a cell
// does not have are null.
type Row struct {
	Index  int64  `json:"index" parquet:"index"`
	Key    string `json:"key" parquet:"key"`
	Status Status `json:"status" parquet:"status,dict"`
	Reason string `json:"reason" parquet:"reason"`

	Ask         Ask      `json:"ask" parquet:"ask,dict"`
	Model       string   `json:"model" parquet:"model,dict"`
	System      string   `json:"system" parquet:"system,dict"`
	Engine      string   `json:"engine" parquet:"engine,dict"`
	Workload    string   `json:"workload" parquet:"workload,dict"`
	Input       *int64   `json:"isl" parquet:"isl,optional"`
	Output      *int64   `json:"osl" parquet:"osl,optional"`
	GPUs        *int64   `json:"gpus" parquet:"gpus,optional"`
	Rate        *float64 `json:"rate" parquet:"rate,optional"`
	TTFTLimit   *float64 `json:"ttft_limit_ms" parquet:"ttft_limit_ms,optional"`
	TPOTLimit   *float64 `json:"tpot_limit_ms" parquet:"tpot_limit_ms,optional"`
	LatLimit    *float64 `json:"latency_limit_ms" parquet:"latency_limit_ms,optional"`
	Price       *float64 `json:"usd_per_gpu_hour" parquet:"usd_per_gpu_hour,optional"`
	Mode        string   `json:"mode" parquet:"mode,dict"`
	Deployment  string   `json:"deployment" parquet:"deployment,dict"`
	Used        *int64   `json:"gpus_used" parquet:"gpus_used,optional"`
	Concurrency *int64   `json:"concurrency" parquet:"concurrency,optional"`

	Tokens      *float64 `json:"tokens_per_second" parquet:"tokens_per_second,optional"`
	TokensLow   *float64 `json:"tokens_per_second_low" parquet:"tokens_per_second_low,optional"`
	TokensHigh  *float64 `json:"tokens_per_second_high" parquet:"tokens_per_second_high,optional"`
	RequestRate *float64 `json:"request_rate" parquet:"request_rate,optional"`
	TTFT        *float64 `json:"ttft_ms" parquet:"ttft_ms,optional"`
	TTFTLow     *float64 `json:"ttft_low_ms" parquet:"ttft_low_ms,optional"`
	TTFTHigh    *float64 `json:"ttft_high_ms" parquet:"ttft_high_ms,optional"`
	TPOT        *float64 `json:"tpot_ms" parquet:"tpot_ms,optional"`
	TPOTLow     *float64 `json:"tpot_low_ms" parquet:"tpot_low_ms,optional"`
	TPOTHigh    *float64 `json:"tpot_high_ms" parquet:"tpot_high_ms,optional"`
	TTFT95      *float64 `json:"ttft_p95_ms" parquet:"ttft_p95_ms,optional"`
	TPOT95      *float64 `json:"tpot_p95_ms" parquet:"tpot_p95_ms,optional"`
	Latency     *float64 `json:"request_latency_ms" parquet:"request_latency_ms,optional"`
	Chance      *float64 `json:"chance_within_limits" parquet:"chance_within_limits,optional"`
	Million     *float64 `json:"usd_per_million_output_tokens" parquet:"usd_per_million_output_tokens,optional"`
	MillionLow  *float64 `json:"usd_per_million_output_tokens_low" parquet:"usd_per_million_output_tokens_low,optional"`
	MillionHigh *float64 `json:"usd_per_million_output_tokens_high" parquet:"usd_per_million_output_tokens_high,optional"`
	Month       *float64 `json:"usd_per_month" parquet:"usd_per_month,optional"`
	Joules      *float64 `json:"joules_per_output_token" parquet:"joules_per_output_token,optional"`
	KVPeak      *float64 `json:"kv_use_peak" parquet:"kv_use_peak,optional"`
	Tier        string   `json:"tier" parquet:"tier,dict"`

	Request json.RawMessage `json:"request" parquet:"request,json"`
}

// some is a number, nil for 0.
func some[T int | float64, To int64 | float64](x T) *To {
	if x == 0 {
		return nil
	}
	return new(To(x))
}

// row is a cell before its answer.
func (s *Sweep) row(index int, c *cell, request json.RawMessage) *Row {
	x := &c.workload
	return &Row{
		Index: int64(index), Key: Key(s.Grid.Ask, request), Ask: s.Grid.Ask, Model: c.model, System: c.system, Engine: c.engine, Request: request,
		Workload: nameOf(x), Input: some[int, int64](x.Input), Output: some[int, int64](x.Output), GPUs: some[int, int64](c.gpus),
		Rate: some[float64, float64](c.rate), Concurrency: some[int, int64](c.concurrency), Price: some[float64, float64](c.price),
		TTFTLimit: session.LimitMs(c.limits.TTFT), TPOTLimit: session.LimitMs(c.limits.TPOT), LatLimit: session.LimitMs(c.limits.Latency),
	}
}

// nameOf is a workload's name, preset or trace, "" where it has lengths alone.
func nameOf(x *session.Workload) string {
	for _, name := range []string{x.Name, x.Preset, x.Trace} {
		if name != "" {
			return name
		}
	}
	return ""
}

// answer answers a cell. What the cell itself is to blame for is its reason; another error ends the sweep.
func (s *Sweep) answer(ctx context.Context, w *session.Session, index int) (*Row, error) {
	c := s.cell(index)
	request, data, err := s.request(&c)
	if err != nil {
		return nil, err
	}
	out := s.row(index, &c, data)
	switch r := request.(type) {
	case plan.Request:
		r.Jobs = 1 // the cells are what runs side by side
		var a *plan.Response
		if a, err = plan.Run(ctx, w, r); err == nil {
			out.plan(a)
		}
	case simulate.Request:
		var a *simulate.Response
		if a, err = s.predicted(ctx, w, &r); err == nil {
			out.predict(a, s.cost(&c, a))
		}
	}
	if _, blame := errors.AsType[*session.InputError](err); blame {
		out.Status, out.Reason = Failed, strings.ReplaceAll(field.Say(err, field.Name.String), "\n", "; ")
		return out, ctx.Err()
	}
	out.round()
	return out, err
}

// round gives the figures the digits that documents have. They are copied: cells share answers.
func (r *Row) round() {
	for _, x := range reflect.ValueOf(r).Elem().Fields() {
		if p, ok := reflect.TypeAssert[*float64](x); ok && p != nil {
			x.Set(reflect.ValueOf(new(units.Rounded(*p))))
		}
	}
}

// predicted simulates a cell. Those that differ in limits and prices share the simulation.
func (s *Sweep) predicted(ctx context.Context, w *session.Session, r *simulate.Request) (*simulate.Response, error) {
	run := func() (*simulate.Response, error) { return simulate.Run(ctx, w, *r) }
	if s.Grid.group() == 1 {
		return run()
	}
	full := *r
	full.Complete()
	return simulate.Remembered(w, &full, &full.Sources, run)
}

// plan takes the figures of the best contender.
func (r *Row) plan(a *plan.Response) {
	if len(a.Contenders) == 0 {
		r.Status, r.Reason = Failed, reasons(a)
		return
	}
	c := &a.Contenders[0]
	r.Status = OK
	if !c.Meets {
		r.Status, r.Reason = OverLimits, a.Answer.Reason
	}
	r.Engine, r.Mode, r.Deployment, r.Used, r.Concurrency = c.InRelease(), c.Mode, c.Deployment, new(int64(c.GPUs)), new(int64(c.Concurrency))
	r.figures(&c.Tokens, c.RequestRate.Value, &c.Mean, &c.P95)
	r.Chance, r.KVPeak, r.Tier = c.Judged.Chance, &c.KVPeak, string(c.Tier)
	if k := c.Cost; k != nil {
		r.Price, r.Month = &k.PerGPUHour, &k.PerMonth
		r.Million, r.MillionLow, r.MillionHigh = columns(&k.PerMillion)
	}
	if e := c.Energy; e != nil {
		r.Joules = &e.PerToken.Value
	}
}

// figures takes how much and how fast.
func (r *Row) figures(tokens *figures.Estimate, requests float64, mean, p95 *figures.Latencies) {
	r.Tokens, r.TokensLow, r.TokensHigh = columns(tokens)
	r.RequestRate = &requests
	r.TTFT, r.TTFTLow, r.TTFTHigh = columns(mean.TTFT)
	r.TPOT, r.TPOTLow, r.TPOTHigh = columns(mean.TPOT)
	r.Latency, _, _ = columns(mean.Latency)
	r.TTFT95, _, _ = columns(p95.TTFT)
	r.TPOT95, _, _ = columns(p95.TPOT)
}

// columns are those of an estimate, null where there is none.
func columns(e *figures.Estimate) (value, low, high *float64) {
	if e == nil {
		return nil, nil, nil
	}
	return &e.Value, &e.Low, &e.High
}

// reasons say why nothing can be run.
func reasons(a *plan.Response) string {
	var out []string
	for i := range a.NotRun {
		n := &a.NotRun[i]
		out = append(out, fmt.Sprintf("%s %s: %s", n.Engine, n.Mode, n.Reason))
	}
	if len(out) == 0 {
		return a.Answer.Sentence
	}
	return strings.Join(out, "; ")
}

// predict takes the figures of a simulation.
func (r *Row) predict(a *simulate.Response, cost money.Cost) {
	if a.Finished == 0 {
		r.Status, r.Reason = Failed, fmt.Sprintf("no request fits the KV cache of %d tokens", a.KVTokens)
		return
	}
	r.Status = OK
	if a.Request.Limits.Any() && !a.Request.Limits.Meets(ms(a.Judged.TTFT), ms(a.Judged.TPOT), ms(a.Judged.Latency)) {
		r.Status, r.Reason = OverLimits, "the predicted "+a.Judged.Statistic+" is above a limit"
	}
	d := &a.Request.Deployment
	r.Engine, r.Mode, r.Deployment, r.Used = plan.InRelease(d.Engine.Name, d.Engine.Version), "agg", a.Layout, new(int64(d.Devices()))
	if d.Disaggregated() {
		r.Mode, r.Deployment = "disagg", a.PrefillLayout+" → "+a.Layout
	} else if n := d.Pools[0].Replicas; n > 1 {
		r.Deployment = fmt.Sprintf("%d × %s", n, a.Layout)
	}
	mean, p95 := a.Mean(), a.P95()
	r.figures(&a.OutputRate, a.RequestRate, &mean, &p95)
	r.Chance, r.KVPeak, r.Tier = a.Judged.Chance, &a.KVPeak, string(a.Tier)
	more := calibration.Error{} // a rate is given
	if a.Request.Concurrency > 0 {
		more = a.Expected.Throughput.Inverse()
	}
	if cost.USDPerHour > 0 {
		r.Price, r.Month = &cost.USDPerHour, &cost.PerMonth
		m := more.Of(cost.PerMillion)
		r.Million, r.MillionLow, r.MillionHigh = columns(&m)
	}
	if e := a.Energy; e != nil {
		r.Joules = &e.PerToken.Value
	}
}

func ms(x *figures.Estimate) units.Seconds { return units.Seconds(x.Zero().Value) * units.Millisecond }

// cost is what a predicted deployment costs, as in a plan.
func (s *Sweep) cost(c *cell, a *simulate.Response) money.Cost {
	out := money.Cost{USDPerHour: s.devices[c.system].Price.USDPerHour}
	if c.price != 0 {
		out.USDPerHour = c.price
	}
	if out.USDPerHour == 0 || a.OutputRate.Value == 0 || a.RequestRate == 0 {
		return money.Cost{}
	}
	l := money.Load{Devices: a.Request.Deployment.Devices(), Tokens: a.OutputRate.Value, Requests: a.RequestRate}
	if a.Energy != nil {
		l.PerToken = units.Joules(a.Energy.PerToken.Value)
	}
	return out.Of(l, simulate.DefaultEnergyPrice)
}
