package estimate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/table"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/searchrun"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/replica"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
)

// Static is a part of the life of one batch that is served without a scheduler.
type Static string

// The parts.
const (
	NotStatic     Static = ""
	Whole         Static = "static"
	PromptsOnly   Static = "static_ctx"
	GeneratesOnly Static = "static_gen"
)

// Request asks for the figures of one deployment: an experiment whose workers
// are given. Its limits only decide about the chance to meet them.
type Request struct {
	Experiment experiment.Experiment `json:"experiment"`
	session.Sources

	// Workers do both or decode; Prefill are those of a disaggregated experiment.
	Workers Workers `json:"workers"`
	Prefill Workers `json:"prefill_workers,omitzero"`
	// Concurrency is the requests in flight; 0 = as many as the batches hold.
	Concurrency int `json:"concurrency,omitempty"`
	// Static serves one full batch of each rank instead of a stream of requests.
	Static Static `json:"static,omitempty"`
	// Steps asks for a prefill and a decode step in detail.
	Steps bool `json:"steps,omitempty"`
}

// Workers are equal workers of a deployment.
type Workers struct {
	Count  int             `json:"count"`
	Layout parallel.Layout `json:"layout"`
	// Batch is the limit on the batch of a data-parallel rank.
	Batch int `json:"batch_size"`
	// Budget is the most tokens of a step; 0 = the engine's own.
	Budget int `json:"token_budget,omitempty"`
}

// complete fills in what was left open.
func (r *Request) complete() {
	for _, w := range []*Workers{&r.Workers, &r.Prefill} {
		w.Count = cmp.Or(w.Count, 1)
		l := &w.Layout
		l.TP, l.PP, l.DP = cmp.Or(l.TP, 1), cmp.Or(l.PP, 1), cmp.Or(l.DP, 1)
		l.Devices = l.TP * l.PP * l.DP
	}
	e := &r.Experiment
	e.Devices = r.Workers.Count * r.Workers.Layout.Devices
	if e.Mode == experiment.Disaggregated {
		e.Devices += r.Prefill.Count * r.Prefill.Layout.Devices
	} else {
		r.Prefill = Workers{}
	}
	e.Complete()
	full := r.Workers.Batch * r.Workers.Layout.DP * r.Workers.Count
	if r.Static != NotStatic {
		r.Concurrency = full
	}
	r.Concurrency = cmp.Or(r.Concurrency, full)
}

// check reports what is wrong with the request itself.
func (r *Request) check() error {
	e := &r.Experiment
	errs := []error{field.Between("batch_size", r.Workers.Batch, 1, experiment.MaxBatch), field.Between("concurrency", r.Concurrency, 1, session.MaxTokens), e.Check()}
	if e.Mode == experiment.Disaggregated {
		errs[0] = errors.Join(field.Between("prefill_batch_size", r.Prefill.Batch, 1, experiment.MaxBatch), field.Between("decode_batch_size", r.Workers.Batch, 1, experiment.MaxBatch))
		if r.Static != NotStatic {
			errs = append(errs, fmt.Errorf("%s needs workers that do both prefill and decode", r.Static))
		}
	}
	return errors.Join(errs...)
}

// Run predicts one deployment, with the figures of a simulation.
func Run(ctx context.Context, w *session.Session, r Request) (*Response, error) {
	r.complete()
	e := &r.Experiment
	if err := r.check(); err != nil {
		return nil, session.BadInput(err)
	}
	asked := e.Asked()
	s, err := w.Stage(&asked, &r.Sources)
	if err != nil {
		return nil, err
	}
	d := r.deployment(asked, s)
	if err := session.Within(s.Model, session.Span{Name: "isl", Tokens: e.Input}, session.Span{Name: "osl", Tokens: e.Output}, 0); err != nil {
		return nil, session.BadInput(err)
	}
	resolved, fleet, err := s.Fleet(&d)
	if err != nil {
		return nil, session.BadInput(err)
	}
	out := newEstimate(&r, d, s, resolved, fleet)
	if r.Static == NotStatic {
		err = byRequests(ctx, w, s, out)
	} else {
		err = out.static(s, resolved, fleet)
	}
	if err == nil && r.Steps {
		err = steps(ctx, w, out, resolved)
	}
	if err != nil {
		return nil, err
	}
	out.Notes = e.Notes(s, out.Notes)
	if err := searchrun.Runs(d, resolved, e.Input, e.Output); err != nil {
		out.Notes = append(out.Notes, field.Say(err, parallel.Word))
	}
	out.Tables, err = s.Prices.Used()
	out.present()
	return session.Finish(ctx, out, session.BadInput(err))
}

// deployment is the one that is asked for with its workers.
func (r *Request) deployment(asked deployment.Deployment, s *session.Stage) deployment.Deployment {
	of := searchrun.NewShape(s, asked, r.Experiment.Prefix > 0 || r.Experiment.Host.GiB > 0)
	of.PrefillBatch, of.AcceptanceRates = r.Prefill.Batch, r.Experiment.AcceptanceRates
	if r.Static == NotStatic { // as a search has it; steps alone are of any size
		of.Whole = searchrun.Whole(s, &asked, r.Experiment.Input)
	}
	w := &r.Workers
	return of.Deployment(search.Candidate{
		Layout: w.Layout, Y: w.Count, Prefill: r.Prefill.Layout, X: r.Prefill.Count, Budget: w.Budget, MTP: r.Experiment.MTP, Drafter: r.Experiment.Drafter,
	}, w.Batch)
}

// newEstimate is an estimate before its figures.
func newEstimate(r *Request, d deployment.Deployment, s *session.Stage, resolved *deployment.Resolved, fleet *replica.Fleet) *Response {
	out := &Response{
		Mode: cmp.Or(string(r.Static), string(r.Experiment.Mode)), Request: *r, Deployment: d, Model: s.Model.Name(), Concurrency: r.Concurrency,
		Experts: s.Model.HasExperts(), Devices: r.Experiment.Devices, Tier: s.Prices.Tier(s.Device, resolved.Pricing),
		Notes: slices.Concat(s.Model.Notes, resolved.Notes), Caution: session.Caution,
	}
	asked := []*Workers{&r.Workers}
	copies := []*replica.Replica{fleet.Generates()}
	if resolved.Disaggregated() {
		asked, copies = []*Workers{&r.Prefill, &r.Workers}, []*replica.Replica{fleet.First(), fleet.Generates()}
	}
	for i := range resolved.Pools {
		p := &resolved.Pools[i]
		out.Pools = append(out.Pools, Pool{
			Role: p.Role, System: p.Device.Name, Workers: asked[i].Count, Layout: p.Spec.Layout, Batch: asked[i].Batch,
			KVTokens: copies[i].Memory.Tokens, Memory: copies[i].Memory,
		})
	}
	return out
}

// byRequests takes the figures of a simulation.
func byRequests(ctx context.Context, w *session.Session, s *session.Stage, out *Response) error {
	e := &out.Request.Experiment
	q := simulate.Request{Deployment: out.Deployment, Limits: e.Limits}
	q.Concurrency, q.Input, q.Output, q.Prefix = out.Request.Concurrency, e.Input, e.Output, e.Prefix
	q.Complete()
	res, err := simulate.Metered(ctx, w, s, &q)
	if err != nil {
		return err
	}
	got := &res.Result
	if got.Finished == 0 {
		return session.BadInput(fmt.Errorf("no request of %d tokens fits the KV cache of %d tokens", e.Input+e.Output, res.Memory.Tokens))
	}
	out.Figures, out.RequestRate = got.Figures(0), got.RequestRate
	out.Energy = res.Energy
	out.Guide = simulate.GuideOf(ctx, s, &out.Deployment, e.Input, e.Output, float64(q.Concurrency))
	out.Expected, out.Tier, out.Notes = res.Expected, res.Tier, res.Notes
	out.Pools[0].KVPeak = got.Workers.KVPeak
	if got.Decode != nil {
		out.Pools[1].KVPeak = got.Decode.KVPeak
	}
	if got.Refused > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("%d of %d requests are longer than the KV cache", got.Refused, got.Requests))
	}
	return nil
}

// static takes the figures of one batch that is served without a scheduler.
func (r *Response) static(s *session.Stage, resolved *deployment.Resolved, fleet *replica.Fleet) error {
	q, e := &r.Request, &r.Request.Experiment
	pool := &r.Pools[0]
	batch := fleet.Static(q.Concurrency, replica.Static{Input: e.Input, Output: e.Output, Prefix: e.Prefix})
	held := batch.Held(q.Workers.Batch)
	if held > pool.Memory.Tokens {
		return session.BadInput(field.Errorf("%s %d: the requests of a rank hold %d tokens at their end, and its KV cache has room for %d",
			field.Name("batch_size"), q.Workers.Batch, held, pool.Memory.Tokens))
	}
	pool.KVPeak = float64(held) / float64(pool.Memory.Tokens)
	prompts, decode := batch.Times()
	rest, made := e.Output-1, 0
	var first, each units.Seconds
	if q.Static != GeneratesOnly {
		first, made = prompts, 1
	}
	if q.Static != PromptsOnly && rest > 0 {
		each, made = decode/units.Seconds(rest), made+rest
	} else {
		decode = 0
	}
	latency := first + decode
	r.Times = figures.Times{TTFT: first, TPOT: each, Latency: latency}
	if latency > 0 {
		r.RequestRate = float64(q.Concurrency) / float64(latency)
		r.Throughput = float64(made) * r.RequestRate
	}
	c := session.About(&resolved.Generates().Spec, s.Device, resolved.Pricing, r.Tier)
	c.Method = calibration.SingleStep
	l := &pool.Layout
	c.On(l.Devices, q.Workers.Batch*l.DP, l.DP, r.Experts)
	prefill := s.Overlay.Expect(&c)
	c.Decode = true
	r.Expected = s.Overlay.Expect(&c)
	r.Expected.TTFT = prefill.TTFT
	r.Energy = simulate.EnergyOf(batch.Meter(first, decode), &statistics.Result{OutputRate: r.Throughput, Workers: statistics.PoolUse{Busy: 1}}, resolved)
	if each == 0 {
		r.Expected.Throughput, r.Expected.Basis = prefill.Throughput, prefill.Basis
	}
	return nil
}

// steps adds a prefill step and a decode step of the workers that run them.
func steps(ctx context.Context, w *session.Session, out *Response, resolved *deployment.Resolved) error {
	q := &out.Request
	e := &q.Experiment
	for i := range out.Pools {
		p, served := &out.Pools[i], &resolved.Pools[i]
		if p.Role != deployment.Decode && q.Static != GeneratesOnly {
			whole := e.Input - e.Prefix
			prompts, tokens := 1, min(whole, served.Engine.TokenBudget)
			switch {
			case q.Static != NotStatic:
				prompts, tokens = p.Batch, whole
			case p.Role == deployment.Prefill: // as many as the budget has room for
				prompts = max(1, min(p.Batch, served.Engine.TokenBudget/whole))
			}
			if err := detail(ctx, w, out, i, served.Device, step.Request{Queries: prompts * p.Layout.DP, QueryLength: tokens, ContextLength: e.Prefix}); err != nil {
				return err
			}
		}
		if p.Role != deployment.Prefill && q.Static != PromptsOnly && e.Output > 1 {
			inFlight := min(p.Batch*p.Layout.DP, max(1, q.Concurrency/p.Workers))
			// halfway through their output
			if err := detail(ctx, w, out, i, served.Device, step.Request{Queries: inFlight, ContextLength: e.Input + e.Output/2, Decode: true}); err != nil {
				return err
			}
		}
	}
	return nil
}

// detail adds a step of one pool.
func detail(ctx context.Context, w *session.Session, out *Response, i int, d *device.Profile, q step.Request) error {
	q.Deployment, q.Sources = single(out.Deployment, i), out.Request.Sources
	r, err := step.Run(ctx, w, q)
	if err != nil {
		return err
	}
	all := &r.Result
	s := Step{Phase: "prefill", Requests: r.Requests, Query: r.Query, Cached: r.Seq - r.Query, Time: units.InMs(all.Time), Engine: r.Engine, Operators: []Operator{}}
	if r.Decode {
		s.Phase = "decode"
	}
	limits, limit := map[string]units.Seconds{}, table.NewLimit(d)
	var least units.Seconds
	for k := range all.Items {
		it := &all.Items[k]
		t := units.Seconds(it.Count) * limit.Of(&it.Op)
		limits[it.Op.Name.String()] += t
		least += t
	}
	s.Limit, s.LimitShare = units.InMs(least), units.Share(least, all.Time)
	for k := range all.Operators {
		o := &all.Operators[k]
		s.Operators = append(s.Operators, Operator{
			Name: o.Name, Calls: o.Calls, Time: units.InMs(o.Time), Share: units.Share(o.Time, all.Time), Limit: units.InMs(limits[o.Name]), LimitShare: units.Share(limits[o.Name], o.Time),
			Bound: o.Bound.String(), Source: sourceOf(o.Measured, o.Total, r.Pricing.Tier(d)), Kernels: o.Kernels,
		})
	}
	s.bound()
	out.Pools[i].Steps = append(out.Pools[i].Steps, s)
	return nil
}

// sourceOf says where the time of an operator comes from.
func sourceOf(measured, total units.Seconds, otherwise device.Tier) string {
	const whole = 0.999
	switch {
	case measured <= 0:
		return string(otherwise)
	case measured >= whole*total:
		return string(device.Measured)
	}
	return "measured and " + string(otherwise)
}

// single is one pool of a deployment as a deployment of its own, for a step of it.
func single(d deployment.Deployment, i int) deployment.Deployment {
	p := d.Pools[i]
	p.Role, p.Replicas = deployment.Both, 1
	if p.System != "" {
		d.System, p.System = p.System, ""
	}
	if p.Formats != (deployment.Formats{}) {
		d.Formats, p.Formats = p.Formats, deployment.Formats{}
	}
	d.Pools = []deployment.Pool{p}
	return d
}
