package app

import (
	"fmt"
	"math"

	"plimsoll/internal/device"
	"plimsoll/internal/dtype"
	"plimsoll/internal/graph"
	"plimsoll/internal/search"
	"plimsoll/internal/step"
	"plimsoll/internal/units"
)

// Explanation says why the best row of a pass is what it is.
type Explanation struct {
	Device string
	Mode   search.Mode
	Row    *search.Result
	Steps  []StepShare
	// Binds is what keeps the batch from growing.
	Binds search.Verdict
	// Next is the second-best layout, nil when there is none.
	Next *search.Result
	What []WhatIf
}

// StepShare is where the time of one kind of step goes.
type StepShare struct {
	Phase string
	Time  units.Seconds
	Bound step.Bounds
	Fixed units.Seconds
	// Command evaluates the step alone; "" where "plimsoll step" cannot.
	Command string
}

// WhatIf is what a change would do to the row's throughput.
type WhatIf struct {
	Change     string
	Throughput float64
	Share      float64 // of the row's throughput: +0.1 = a tenth more
	OK         bool    // false: nothing would be feasible
}

// Explain explains the best row of every pass.
func (o *OptimizeResponse) Explain() []Explanation {
	var out []Explanation
	for i := range o.Devices {
		d := &o.Devices[i]
		for k := range d.Passes {
			if p := &d.Passes[k]; len(p.Rows) > 0 {
				out = append(out, o.explain(p))
			}
		}
	}
	return out
}

func (o *OptimizeResponse) explain(p *Pass) Explanation {
	row := p.Rows[0]
	x := Explanation{Device: p.Device.Name, Mode: p.Mode, Row: row, Binds: row.Binds}
	if len(p.Rows) > 1 {
		x.Next = p.Rows[1]
	}
	if p.Mode != search.DecodeOnly {
		x.Steps = append(x.Steps, o.share(p, row, false))
	}
	if p.Mode != search.PrefillOnly {
		x.Steps = append(x.Steps, o.share(p, row, true))
	}
	x.What = whatIfs(o.prices, p, row)
	return x
}

// share evaluates a step behind a row in detail.
func (o *OptimizeResponse) share(p *Pass, row *search.Result, decode bool) StepShare {
	b := rowStep(p, row, decode)
	s := StepShare{Phase: "prefill", Command: o.stepCommand(p.Device, row, b)}
	if decode {
		s.Phase = "decode"
	}
	g, err := graph.New(row.Spec)
	if err != nil {
		return s // the row was evaluated with this spec
	}
	t := step.New(g, p.Problem.Coster).Totals(b)
	s.Time, s.Bound, s.Fixed = t.Time, t.Bound, t.Fixed
	return s
}

// whatIfs evaluates the row's layout again under small changes.
func whatIfs(prices *prices, p *Pass, row *search.Result) []WhatIf {
	const more = 1.1
	hardware := func(change func(*device.Profile)) *search.Problem {
		other := *p.Device
		other.Links = append([]device.Link(nil), p.Device.Links...)
		change(&other)
		q := *p.Problem
		if c, err := prices.coster(&other, p.Pricing, &q.Spec.Policy); err == nil { // it was none for the device itself
			q.Coster = c
		}
		q.Memory = other.Memory
		return &q
	}
	changed := func(change func(*search.Problem)) *search.Problem {
		q := *p.Problem
		change(&q)
		return &q
	}
	var out []WhatIf
	try := func(name string, q *search.Problem) {
		r := q.Evaluate(row.Candidate)
		w := WhatIf{Change: name, OK: r.OK, Throughput: r.Best.Throughput}
		if r.OK {
			w.Share = r.Best.Throughput/row.Best.Throughput - 1
		}
		out = append(out, w)
	}
	try("memory bandwidth +10 %", hardware(func(o *device.Profile) { o.Bandwidth *= more }))
	try("compute +10 %", hardware(func(o *device.Profile) {
		for f := range o.Matrix {
			o.Matrix[f] *= more
			o.Vector[f] *= more
		}
	}))
	if row.Spec.Layout.Devices > 1 {
		try("link bandwidth +10 %", hardware(func(o *device.Profile) {
			for i := range o.Links {
				o.Links[i].Bandwidth *= more
			}
		}))
	}
	try("memory +10 %", hardware(func(o *device.Profile) { o.Memory *= more; o.Reported *= more }))
	if p.Problem.Spec.Quant.KV < dtype.FP8 {
		try("FP8 KV cache", changed(func(q *search.Problem) { q.Spec.Quant.KV = dtype.FP8 }))
	}
	if p.Limits.TPOT > 0 {
		try("TPOT limit +10 %", changed(func(q *search.Problem) { q.Limits.TPOT *= more }))
	}
	if p.Limits.TTFT > 0 {
		try("TTFT limit +10 %", changed(func(q *search.Problem) { q.Limits.TTFT *= more }))
	}
	return out
}

// shaped finds which artefacts of the policy shaped the best row: those with a
// visible share of its step, and a batch that was chosen because experts divide
// evenly at it. It also says how much of that step was measured.
func shaped(pass *Pass, row *search.Result) {
	p := pass.Problem
	decode := p.Mode != search.PrefillOnly
	batch := rowStep(pass, row, decode)
	g, err := graph.New(row.Spec)
	if err != nil {
		return // the row was evaluated with this spec
	}
	totals := step.New(g, p.Coster).Totals(batch)
	pass.Measured = float64(totals.Measured / totals.Time)
	pass.Artefacts = artefacts(pass.Device, pass.Pricing, row.Spec, batch, totals.Time)
	if decode && row.Spec.JumpsWithBatch() {
		q := *p
		q.Range = search.Range{Min: row.Best.Batch + 1, Max: row.Best.Batch + 1, Given: true}
		q.Limits = search.Limits{}
		next := q.Evaluate(row.Candidate)
		if jump := float64(next.First.DecodeTime/row.Best.DecodeTime) - 1; next.First.OOM == "" && jump > evenJump {
			pass.Notes = append(pass.Notes, fmt.Sprintf(
				"batch %d was chosen because experts divide evenly at it: at %d a decode step takes %+.0f %% (artefact fragile-grouping; --policy physical has no such jumps)",
				row.Best.Batch, row.Best.Batch+1, 100*jump))
		}
	}
}

// evenJump is the change of a step's time from one batch to the next from which
// the batch is called chosen for its divisibility.
const evenJump = 0.05

// Gap is how far the next layout is behind the best.
func (x *Explanation) Gap() float64 {
	if x.Next == nil {
		return math.NaN()
	}
	return 1 - x.Next.Best.Throughput/x.Row.Best.Throughput
}
