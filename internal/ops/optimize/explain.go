package optimize

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/compat/tensorcast"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	opsstep "github.com/plimsoll-project/plimsoll/internal/ops/step"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// Explanation explains the best row of a pass.
type Explanation struct {
	Device string         `json:"device"`
	Mode   search.Mode    `json:"phase"`
	Label  string         `json:"parallel"`
	Binds  search.Verdict `json:"bound_by"`
	Steps  []StepShare    `json:"steps"`
	// Next is the second-best layout, if any; Gap is how much less throughput it has,
	// as a share of the best row's.
	Next string   `json:"next_parallel,omitempty"`
	Gap  *float64 `json:"next_gap,omitempty"`
	What []WhatIf `json:"what_if"`

	Row       Row            `json:"-"`
	NextBinds search.Verdict `json:"-"`
}

// StepShare is where the time of a step goes.
type StepShare struct {
	Phase     string        `json:"phase"`
	Time      units.Seconds `json:"total_s"`
	Breakdown *Breakdown    `json:"breakdown"`
	Fixed     float64       `json:"fixed_share"` // of launches
	Command   string        `json:"command,omitempty"`

	Bound step.Bounds `json:"-"`
	// Request evaluates the step alone; nil where package step cannot: it knows no
	// draft model.
	Request *opsstep.Request `json:"-"`
}

// WhatIf is the effect of a change on the throughput.
type WhatIf struct {
	Change     string  `json:"change"`
	OK         bool    `json:"feasible"`
	Throughput float64 `json:"throughput"`
	Share      float64 `json:"change_of_throughput"`
}

// explain explains the best row of a search.
func (t *task) explain(ctx context.Context) Explanation {
	row := t.Rows[0]
	x := Explanation{Device: t.device.Name, Mode: t.mode, Label: row.Label, Binds: row.Binds, Row: t.row(row)}
	if len(t.Rows) > 1 {
		next := t.Rows[1]
		x.Next, x.NextBinds, x.Gap = next.Label, next.Binds, new(1-next.Best.Throughput/row.Best.Throughput)
	}
	if t.mode != search.DecodeOnly {
		x.Steps = append(x.Steps, t.share(row, false))
	}
	if t.mode != search.PrefillOnly {
		x.Steps = append(x.Steps, t.share(row, true))
	}
	x.What = t.whatIfs(ctx, row)
	return x
}

// totals evaluates a step of a row.
func (t *task) totals(row *search.Result, b graph.Batch) (step.Totals, bool) {
	g, err := graph.New(row.Spec)
	if err != nil {
		return step.Totals{}, false // the row was evaluated with this spec
	}
	return step.New(g, t.coster).Totals(b), true
}

// share evaluates a step behind a row in detail.
func (t *task) share(row *search.Result, decode bool) StepShare {
	b := t.step(row, decode)
	s := StepShare{Phase: "prefill", Request: t.stepRequest(row, b)}
	if decode {
		s.Phase = "decode"
	}
	totals, _ := t.totals(row, b)
	s.Time, s.Bound, s.Breakdown, s.Fixed = totals.Time, totals.Bound, breakdown(totals.Bound), units.Share(totals.Fixed, totals.Time)
	return s
}

// stepRequest is the request that evaluates a step alone.
func (t *task) stepRequest(row *search.Result, b graph.Batch) *opsstep.Request {
	s := &b.Segments[0]
	if t.r.Draft.Method != "" {
		return nil
	}
	out := &opsstep.Request{Deployment: t.asked(t.device), Sources: t.r.Sources, Decode: s.Decode}
	d := &out.Deployment
	d.Model, d.Engine = t.model.Name(), deployment.Engine{}
	d.Pools = []deployment.Pool{{Role: deployment.Both, Layout: row.Spec.Layout, MTP: row.Spec.MTP}}
	if t.device.Name != t.optimization.out.Devices[0].Name {
		out.DeviceFile = "" // it is the first device's
	}
	if out.DeviceFile != "" {
		d.System = ""
	}
	out.Queries = s.Requests * row.Spec.Layout.DP
	out.QueryLength, out.ContextLength = s.Query, s.Seq-s.Query
	if b.Images.Count > 0 {
		out.QueryLength -= b.Images.Count / s.Requests * (b.Images.Tokens + session.ImageMarks)
		out.ImageHeight, out.ImageWidth, out.ImageBatch = t.r.ImageHeight, t.r.ImageWidth, t.r.ImageBatch
	}
	return out
}

// change is a small change of hardware or limits.
type change struct {
	name   string
	device func(*device.Profile)
	limits func(*workload.Limits)
	kv     bool // an FP8 cache
}

// more is how much of something a change adds.
const more = 1.1

// changes are those worth trying for a row.
func (t *task) changes(row *search.Result) []change {
	out := []change{
		{name: "memory bandwidth +10 %", device: func(o *device.Profile) { o.Bandwidth *= more }},
		{name: "compute +10 %", device: func(o *device.Profile) {
			for f := range o.Matrix {
				o.Matrix[f] *= more
				o.Vector[f] *= more
			}
		}},
	}
	if row.Spec.Layout.Devices > 1 {
		out = append(out, change{name: "link bandwidth +10 %", device: func(o *device.Profile) {
			for i := range o.Links {
				o.Links[i].Bandwidth *= more
			}
		}})
	}
	out = append(out, change{name: "memory +10 %", device: func(o *device.Profile) { o.Memory *= more; o.Reported *= more }})
	if t.problem.Spec.Quant.KV < dtype.FP8 {
		out = append(out, change{name: "FP8 KV cache", kv: true})
	}
	if t.limits.TPOT > 0 {
		out = append(out, change{name: "TPOT limit +10 %", limits: func(l *workload.Limits) { l.TPOT *= more }})
	}
	if t.limits.TTFT > 0 {
		out = append(out, change{name: "TTFT limit +10 %", limits: func(l *workload.Limits) { l.TTFT *= more }})
	}
	if t.limits.Latency > 0 {
		out = append(out, change{name: "request latency limit +10 %", limits: func(l *workload.Limits) { l.Latency *= more }})
	}
	return out
}

// whatIfs evaluates the row's layout again under small changes.
func (t *task) whatIfs(ctx context.Context, row *search.Result) []WhatIf {
	out := []WhatIf{}
	for _, c := range t.changes(row) {
		r := t.changed(&c).Evaluate(ctx, row.Candidate, math.Inf(-1))
		w := WhatIf{Change: c.name, OK: r.OK, Throughput: r.Best.Throughput}
		if r.OK {
			w.Share = r.Best.Throughput/row.Best.Throughput - 1
		}
		out = append(out, w)
	}
	return out
}

// changed is the evaluator after a change.
func (t *task) changed(c *change) search.Evaluator {
	other := *t
	if c.device != nil {
		d := *t.device
		d.Links = append([]device.Link(nil), t.device.Links...)
		c.device(&d)
		other.device = &d
	}
	if c.limits != nil {
		c.limits(&other.limits)
	}
	if t.evaluation == BySimulation {
		if c.kv {
			o, r := *t.optimization, *t.r
			r.Formats.KV = "fp8"
			o.r, other.optimization = &r, &o
		}
		other.evaluate()
		return other.Evaluator
	}
	q := *t.problem
	policy := &q.Spec.Policy
	if coster, err := t.prices.Coster(other.device, t.base.Pricing, tensorcast.Is(policy), policy.FreeUnsupported); err == nil { // it was none for the device itself
		q.Coster = coster
	}
	q.Memory, q.Judge.Limits = other.device.Memory, other.limits
	if c.kv {
		q.Spec.Quant.KV = dtype.FP8
	}
	return &q
}

// NamedTrace is a step to be written as a trace.
type NamedTrace struct {
	Name   string
	Result step.Result
}

// traces evaluates the steps behind every row in detail, named by the layout, and by
// the device and phase if there are several.
func (t *task) traces(phases bool) []NamedTrace {
	var out []NamedTrace
	for _, row := range t.Rows {
		g, err := graph.New(row.Spec)
		if err != nil {
			continue // the row was evaluated with this spec
		}
		name := t.traceName(row)
		if phases {
			name = string(t.mode) + "_" + name
		}
		if len(t.r.Devices) > 1 {
			name = strings.ReplaceAll(t.device.Name, "/", "-") + "_" + name
		}
		e := step.New(g, t.coster)
		out = append(out, NamedTrace{name, *e.Evaluate(t.step(row, t.mode != search.PrefillOnly), false)})
	}
	return out
}

// traceName is a layout in the vendor's form, which knows TP, DP and speculated
// tokens, and by what else distinguishes rows. PP and MoE-TP follow from the others.
func (t *task) traceName(row *search.Result) string {
	l := &row.Spec.Layout
	name := fmt.Sprintf("tp%ddp%d", l.TP, l.DP)
	if t.model.HasExperts() {
		name += fmt.Sprintf("ep%dmoedp%d", l.EP, l.MoEDP)
	}
	if l.DCP > 1 {
		name += fmt.Sprintf("dcp%d", l.DCP)
	}
	name += fmt.Sprintf("mtp%d", row.Spec.MTP)
	if d := t.r.Draft; d.Method != "" {
		name += fmt.Sprintf("%s%d", d.Method, d.Block)
	}
	return name
}
