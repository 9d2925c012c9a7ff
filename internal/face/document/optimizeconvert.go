package document

import (
	"cmp"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	opsstep "github.com/plimsoll-project/plimsoll/internal/ops/step"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
)

// NewOptimize converts a response. Command, if not nil, gives the command line of a step.
func NewOptimize(r *optimize.Response, command func(*opsstep.Request) string) *Optimize {
	q := &r.Request
	out := &Optimize{
		Request: q, Mode: "aggregation", Model: r.Model, Accounting: string(cmp.Or(q.Accounting, formulas.Documented)),
		Input: q.Input, Output: q.Output, Limits: *session.LimitsOf(q.Limits),
		Devices: []Device{}, Tables: r.Tables, Notes: append([]string{}, r.Notes...), Caution: session.Caution,
	}
	if q.Distribution != nil {
		out.Bins = q.Distribution.Bins
	}
	switch {
	case q.PDRatio:
		out.Mode = "pd_ratio"
	case q.Disagg:
		out.Mode = "disaggregation"
	}
	for i := range r.Devices {
		out.Devices = append(out.Devices, deviceOf(&r.Devices[i]))
	}
	for i := range r.Explanations {
		out.Explain = append(out.Explain, explanation(&r.Explanations[i], command))
	}
	return out
}

func deviceOf(d *optimize.DeviceResult) Device {
	out := Device{Device: d.Device.Name, MemoryGiB: d.Device.Memory.GiB(), Searches: []Search{}}
	if p := d.Device.Price; p.USDPerHour > 0 {
		out.Price = &Price{p.USDPerHour, p.Source}
	}
	for k := range d.Searches {
		out.Searches = append(out.Searches, searchOf(&d.Searches[k]))
	}
	if d.Ratio != nil {
		out.Ratio = ratioOf(d)
	}
	return out
}

func ratioOf(d *optimize.DeviceResult) *Ratio {
	out := &Ratio{Pairs: []Pair{}}
	for i := range d.Ratio.Pairs {
		out.Pairs = append(out.Pairs, pairOf(d, &d.Ratio.Pairs[i]))
	}
	s := d.Ratio.Sustained
	if s == nil {
		return out
	}
	out.Sustained = &Sustained{s.PrefillQPS, s.DecodeQPS, rowOf(&d.Searches[0], &s.P), rowOf(&d.Searches[1], &s.D)}
	if s.Split.Prefill > 0 {
		out.Instances = &Instances{s.Split.Prefill, s.Split.Decode, s.QPS(s.Split)}
		out.Nearest = &Instances{s.Nearest.Prefill, s.Nearest.Decode, s.QPS(s.Nearest)}
	}
	return out
}

func pairOf(d *optimize.DeviceResult, p *optimize.Pair) Pair {
	out := Pair{
		Ratio: p.Ratio, Balanced: p.Balanced, PQPS: p.PrefillQPS, DQPS: p.DecodeQPS, PSustained: p.Sustained,
		Prefill: rowOf(&d.Searches[0], &p.P), Decode: rowOf(&d.Searches[1], &p.D),
		Interval: p.Expected.Throughput.Around(p.Balanced),
	}
	if d.Limited() {
		out.Chance = &p.Chance
	}
	return out
}

func searchOf(s *optimize.Search) Search {
	out := Search{
		Phase: optimize.Phase(s.Mode), Evaluation: string(s.Evaluation), Engine: s.Engine, Confidence: s.Confidence, NumDevices: s.NumDevices, Policy: s.Policy, Pricing: string(s.Pricing), Compiled: s.Compiled,
		Tier: string(s.Tier), Measured: s.Measured,
		Rows: []Row{}, Candidates: []Candidate{}, Frontier: []Point{}, Artefacts: append([]opsstep.Effect{}, s.Artefacts...), Notes: append([]string{}, s.Notes...),
	}
	for i := range s.Rows {
		out.Rows = append(out.Rows, rowOf(s, &s.Rows[i]))
	}
	if len(out.Rows) > 0 {
		out.Best, out.Basis = &out.Rows[0], s.Rows[0].Expected.Basis
	}
	if c := s.Safe; c != nil {
		out.Safe = &Safe{c.Label, c.Best.Batch, c.Best.Throughput, c.Chance}
	}
	for i := range s.Candidates {
		out.Candidates = append(out.Candidates, candidateOf(s, &s.Candidates[i]))
	}
	for _, p := range s.Frontier {
		out.Frontier = append(out.Frontier, Point{p.Label, p.Batch, p.Throughput / float64(s.NumDevices), p.User})
	}
	if n := s.Nearest; n != nil {
		out.Nearest = &session.Limits{TTFT: some(session.UpMs(n.TTFT)), TPOT: some(session.UpMs(n.TPOT))}
		if s.Limits.Latency > 0 {
			out.Nearest.Latency = some(session.UpMs(n.Latency))
		}
	}
	return out
}

func candidateOf(s *optimize.Search, r *optimize.Row) Candidate {
	l := &r.Layout
	out := Candidate{
		Parallel: r.Label, TP: l.TP, PP: l.PP, DP: l.DP, EP: l.EP, MoETP: l.MoETP, MoEDP: l.MoEDP, DCP: l.DCP, Replicas: r.Replicas,
		MTP: r.MTP, Feasible: r.OK,
	}
	if !r.OK {
		out.Rejected, out.Reason = string(r.Binds), r.Reason
		return out
	}
	row := rowOf(s, r)
	out.Best = &row
	return out
}

func rowOf(s *optimize.Search, r *optimize.Row) Row {
	o, e := &r.Best, &r.Expected
	out := Row{
		Parallel: r.Label, Throughput: o.Throughput, PerDevice: o.Throughput / float64(s.NumDevices),
		TTFT: ms(o.TTFT), TPOT: ms(o.TPOT), Concurrency: o.Concurrency, Batch: o.Batch, NumDevices: r.Devices(), Replicas: r.Replicas,
		Budget: r.Budget, Settings: r.Settings, Chunks: o.Chunks,
		PrefillStep: ms(o.PrefillTime), DecodeStep: ms(o.DecodeTime),
		Prefill: breakdown(o.PrefillBound), Decode: breakdown(o.DecodeBound),
		WeightGiB: o.Use.Weights.GiB(), KVGiB: o.Use.KV.GiB(), ActivationGiB: o.Use.Activation.GiB(),
		AvailableGiB: o.Use.Available.GiB(), Binds: string(r.Binds), QPS: some(r.QPS), Cost: some(r.Cost), Energy: r.Energy,
		Intervals: Intervals{
			Throughput: e.Throughput.Around(o.Throughput), TTFT: e.TTFT.Around(o.TTFT.Ms()), TPOT: e.TPOT.Around(o.TPOT.Ms()),
		},
	}
	if s.Limited() {
		out.Chance = &r.Chance
	}
	for _, c := range r.Composition {
		out.Composition = append(out.Composition, Part{c.Tokens, c.Ratio, c.Samples})
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
func breakdown(b step.Bounds) *Breakdown {
	sum := b.Memory + b.Comm + b.Cube + b.Vector
	if sum == 0 {
		return nil
	}
	return &Breakdown{share(b.Memory, sum), share(b.Comm, sum), share(b.Cube, sum), share(b.Vector, sum)}
}

// share is a part of a whole in percent.
func share(part, whole units.Seconds) float64 { return 100 * units.Share(part, whole) }
