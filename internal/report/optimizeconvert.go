package report

import (
	"strings"

	"plimsoll/internal/app"
	"plimsoll/internal/rank"
	"plimsoll/internal/search"
	"plimsoll/internal/step"
	"plimsoll/internal/units"
)

// NewOptimizeJSON converts a response.
func NewOptimizeJSON(r *app.OptimizeResponse, explanations []app.Explanation) *OptimizeJSON {
	q := r.Request
	out := &OptimizeJSON{
		Mode: "aggregation", Model: r.Model.ID, Accounting: string(q.Accounting),
		Input: q.Input, Output: q.Output, Limits: LimitsJSON{limitMs(q.TTFTLimit), limitMs(q.TPOTLimit)},
		Devices: []DeviceJSON{}, Tables: newTablesJSON(r.Tables), Notes: append([]string{}, r.Model.Notes...), Caution: strings.ReplaceAll(Caution, "\n", " "),
	}
	if q.Distribution != nil {
		for _, b := range q.Distribution.Bins {
			out.Bins = append(out.Bins, BinJSON{b.Min, b.Max, b.Weight})
		}
	}
	switch {
	case q.PDRatio:
		out.Mode = "pd_ratio"
	case q.Disagg:
		out.Mode = "disaggregation"
	}
	for i := range r.Devices {
		out.Devices = append(out.Devices, deviceJSON(&r.Devices[i]))
	}
	for i := range explanations {
		out.Explain = append(out.Explain, explainJSON(&explanations[i]))
	}
	return out
}

func deviceJSON(d *app.DeviceResult) DeviceJSON {
	out := DeviceJSON{Device: d.Device.Name, MemoryGiB: d.Device.Memory.GiB(), Passes: []PassJSON{}}
	for k := range d.Passes {
		out.Passes = append(out.Passes, passJSON(&d.Passes[k]))
	}
	if d.Ratio == nil {
		return out
	}
	out.Ratio = &RatioJSON{Pairs: []PairJSON{}}
	for i := range d.Ratio.Pairs {
		out.Ratio.Pairs = append(out.Ratio.Pairs, pairJSON(d, &d.Ratio.Pairs[i]))
	}
	if n := d.Ratio.Instances; n.Prefill > 0 {
		p := &d.Ratio.Pairs[0]
		out.Ratio.Instances = &InstancesJSON{n.Prefill, n.Decode, min(float64(n.Prefill)*p.PrefillQPS, float64(n.Decode)*p.DecodeQPS)}
	}
	return out
}

func pairJSON(d *app.DeviceResult, p *rank.Pair) PairJSON {
	e, within := d.ExpectPair(p)
	out := PairJSON{
		Ratio: p.Ratio, Balanced: p.Balanced, PQPS: p.PrefillQPS, DQPS: p.DecodeQPS,
		Prefill: rowJSON(&d.Passes[0], p.P), Decode: rowJSON(&d.Passes[1], p.D),
		Interval: interval(e.Throughput, p.Balanced),
	}
	if d.Limited() {
		out.Chance = &within
	}
	return out
}

func passJSON(p *app.Pass) PassJSON {
	out := PassJSON{
		Phase: app.Phase(p.Mode), NumDevices: p.NumDevices, Policy: p.Problem.Spec.Policy.Name,
		Pricing: string(p.Pricing), Compiled: p.Problem.Spec.Compile, Tier: string(p.Tier), Measured: p.Measured,
		Rows: []RowJSON{}, Candidates: []CandidateJSON{}, Artefacts: []ArtefactJSON{}, Notes: append([]string{}, p.Notes...),
	}
	for _, row := range p.Rows {
		out.Rows = append(out.Rows, rowJSON(p, row))
	}
	if len(out.Rows) > 0 {
		out.Best = &out.Rows[0]
		best := p.Expect(p.Rows[0], &p.Rows[0].Best)
		out.Basis = best.Basis
	}
	if s := p.SafeChoice(); s != nil {
		out.Safe = &SafeJSON{s.Row.Label, s.Outcome.Batch, s.Outcome.Throughput, s.Chance}
	}
	for i := range p.Results {
		out.Candidates = append(out.Candidates, candidateJSON(p, &p.Results[i]))
	}
	if n := p.Nearest; n != nil {
		out.Nearest = &LimitsJSON{some(upMs(n.TTFT)), some(upMs(n.TPOT))}
	}
	for _, a := range p.Artefacts {
		out.Artefacts = append(out.Artefacts, ArtefactJSON(a))
	}
	return out
}

func candidateJSON(p *app.Pass, r *search.Result) CandidateJSON {
	l := &r.Candidate.Layout
	out := CandidateJSON{
		Parallel: r.Label, TP: l.TP, PP: l.PP, DP: l.DP, EP: l.EP, MoETP: l.MoETP, MoEDP: l.MoEDP, DCP: l.DCP,
		MTP: r.Candidate.MTP, Feasible: r.OK,
	}
	if !r.OK {
		out.Rejected, out.Reason = string(r.Binds), r.Reason
		return out
	}
	row := rowJSON(p, r)
	out.Best = &row
	return out
}

func rowJSON(p *app.Pass, r *search.Result) RowJSON {
	o := &r.Best
	out := RowJSON{
		Parallel: r.Label, Throughput: o.Throughput, PerDevice: o.Throughput / float64(p.NumDevices),
		TTFT: ms(o.TTFT), TPOT: ms(o.TPOT), Concurrency: o.Concurrency, Batch: o.Batch, NumDevices: p.NumDevices,
		Budget: r.Load.Budget, Chunks: o.Chunks,
		PrefillStep: ms(o.PrefillTime), DecodeStep: ms(o.DecodeTime),
		Prefill: breakdown(o.PrefillBound), Decode: breakdown(o.DecodeBound),
		WeightGiB: o.Use.Weights.GiB(), KVGiB: o.Use.KV.GiB(), ActivationGiB: o.Use.Activation.GiB(),
		AvailableGiB: o.Use.Available.GiB(), Binds: string(r.Binds), QPS: some(o.QPS(&r.Load)),
	}
	e := p.Expect(r, o)
	out.Intervals = IntervalsJSON{
		Throughput: interval(e.Throughput, o.Throughput), TTFT: interval(e.TTFT, o.TTFT.Ms()), TPOT: interval(e.TPOT, o.TPOT.Ms()),
	}
	if p.Limited() {
		within := p.Within(&e, o)
		out.Chance = &within
	}
	for _, c := range composition(p, r) {
		out.Composition = append(out.Composition, PartJSON{c.Tokens, c.Ratio, c.Samples})
	}
	return out
}

// ms is a duration in milliseconds, null for none.
func ms(s units.Seconds) *float64 { return some(s.Ms()) }

// some is a number, null for zero.
func some(x float64) *float64 {
	if x == 0 {
		return nil
	}
	return &x
}

// breakdown is the shares of bounds, null for a phase that did not run.
func breakdown(b step.Bounds) *BreakdownJSON {
	sum := b.Memory + b.Comm + b.Cube + b.Vector
	if sum == 0 {
		return nil
	}
	return &BreakdownJSON{percent(b.Memory, sum), percent(b.Comm, sum), percent(b.Cube, sum), percent(b.Vector, sum)}
}
