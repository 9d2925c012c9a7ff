package report

import (
	"plimsoll/internal/app"
	"plimsoll/internal/rank"
	"plimsoll/internal/search"
	"plimsoll/internal/step"
	"plimsoll/internal/units"
)

// OptimizeJSON is the result of a search for programs. Field names are part of
// the contract; docs/throughput-optimizer.md describes them.
type OptimizeJSON struct {
	Mode       string        `json:"mode"` // aggregation, disaggregation, pd_ratio
	Model      string        `json:"model"`
	Accounting string        `json:"accounting"`
	Input      int           `json:"input_length,omitempty"`
	Output     int           `json:"output_length"`
	Limits     LimitsJSON    `json:"limits"`
	Devices    []DeviceJSON  `json:"devices"`
	Explain    []ExplainJSON `json:"explanations,omitempty"`
	Caution    string        `json:"caution"`
}

// LimitsJSON are limits in milliseconds; null means none.
type LimitsJSON struct {
	TTFT *float64 `json:"ttft_ms"`
	TPOT *float64 `json:"tpot_ms"`
}

// DeviceJSON is the search on one device.
type DeviceJSON struct {
	Device    string     `json:"device"`
	MemoryGiB float64    `json:"memory_gib"`
	Tier      string     `json:"tier"`
	Passes    []PassJSON `json:"passes"`
	Ratio     *RatioJSON `json:"ratio,omitempty"`
}

// PassJSON is one search. Best is null and Rows empty when nothing keeps the
// limits.
type PassJSON struct {
	Phase      string          `json:"phase"` // aggregated, prefill, decode
	NumDevices int             `json:"num_devices"`
	Policy     string          `json:"policy"`
	Best       *RowJSON        `json:"best"`
	Rows       []RowJSON       `json:"rows"`
	Candidates []CandidateJSON `json:"candidates"`
	Nearest    *LimitsJSON     `json:"nearest_limits"`
	Artefacts  []ArtefactJSON  `json:"artefacts"`
	Notes      []string        `json:"notes"`
}

// RowJSON is a deployment at its best batch.
type RowJSON struct {
	Parallel    string   `json:"parallel"`
	Throughput  float64  `json:"throughput"`
	PerDevice   float64  `json:"throughput_per_device"`
	TTFT        *float64 `json:"ttft_ms"`
	TPOT        *float64 `json:"tpot_ms"`
	QPS         *float64 `json:"qps"`
	Concurrency int      `json:"concurrency"`
	Batch       int      `json:"batch_size"`
	NumDevices  int      `json:"num_devices"`
	Budget      int      `json:"max_batched_tokens"`
	Chunks      int      `json:"prefill_chunks"`

	PrefillStep float64        `json:"prefill_step_ms"`
	DecodeStep  float64        `json:"decode_step_ms"`
	Prefill     *BreakdownJSON `json:"prefill_breakdown"`
	Decode      *BreakdownJSON `json:"decode_breakdown"`

	WeightGiB     float64 `json:"weight_gib"`
	KVGiB         float64 `json:"kv_cache_gib"`
	ActivationGiB float64 `json:"activation_gib"`
	AvailableGiB  float64 `json:"available_gib"`
	Binds         string  `json:"bound_by"` // what keeps the batch from growing
}

// BreakdownJSON is the share of a step's bound time, in percent.
type BreakdownJSON struct {
	Mem  float64 `json:"mem"`
	Comm float64 `json:"comm"`
	Cube float64 `json:"cube"`
	Vec  float64 `json:"vec"`
}

// CandidateJSON is a layout that was tried.
type CandidateJSON struct {
	Parallel string `json:"parallel"`
	TP       int    `json:"tp"`
	PP       int    `json:"pp"`
	DP       int    `json:"dp"`
	EP       int    `json:"ep"`
	MoETP    int    `json:"moe_tp"`
	MoEDP    int    `json:"moe_dp"`
	DCP      int    `json:"dcp"`
	MTP      int    `json:"mtp"`
	Feasible bool   `json:"feasible"`
	// Rejected is the limit a rejected candidate fails on, Reason says how.
	Rejected string   `json:"rejected_by,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	Best     *RowJSON `json:"best"`
}

// RatioJSON is the matching of prefill and decode.
type RatioJSON struct {
	Pairs     []PairJSON     `json:"pairs"`
	Instances *InstancesJSON `json:"instances"`
}

// PairJSON is a prefill and a decode deployment.
type PairJSON struct {
	Ratio    float64 `json:"pd_ratio"`
	Balanced float64 `json:"balanced_qps"`
	PQPS     float64 `json:"p_qps"`
	DQPS     float64 `json:"d_qps"`
	Prefill  RowJSON `json:"prefill"`
	Decode   RowJSON `json:"decode"`
}

// InstancesJSON is the split of the device budget.
type InstancesJSON struct {
	Prefill int     `json:"prefill"`
	Decode  int     `json:"decode"`
	QPS     float64 `json:"system_qps"`
}

// NewOptimizeJSON converts a response.
func NewOptimizeJSON(r *app.OptimizeResponse, explanations []app.Explanation) *OptimizeJSON {
	q := r.Request
	out := &OptimizeJSON{
		Mode: "aggregation", Model: r.Model.ID, Accounting: string(q.Accounting),
		Input: q.Input, Output: q.Output, Limits: LimitsJSON{ms(q.TTFTLimit), ms(q.TPOTLimit)},
		Devices: []DeviceJSON{}, Caution: Caution,
	}
	switch {
	case q.PDRatio:
		out.Mode = "pd_ratio"
	case q.Disagg:
		out.Mode = "disaggregation"
	}
	for i := range r.Devices {
		out.Devices = append(out.Devices, deviceJSON(r, &r.Devices[i]))
	}
	for i := range explanations {
		out.Explain = append(out.Explain, explainJSON(&explanations[i]))
	}
	return out
}

func deviceJSON(r *app.OptimizeResponse, d *app.DeviceResult) DeviceJSON {
	out := DeviceJSON{Device: d.Device.Name, MemoryGiB: d.Device.Memory.GiB(), Tier: string(d.Device.Tier), Passes: []PassJSON{}}
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
	return PairJSON{
		Ratio: p.Ratio, Balanced: p.Balanced, PQPS: p.PrefillQPS, DQPS: p.DecodeQPS,
		Prefill: rowJSON(&d.Passes[0], p.P), Decode: rowJSON(&d.Passes[1], p.D),
	}
}

// Phase names a mode as programs read it.
func Phase(m search.Mode) string {
	return [...]string{"aggregated", "prefill", "decode"}[m]
}

func passJSON(p *app.Pass) PassJSON {
	out := PassJSON{
		Phase: Phase(p.Mode), NumDevices: p.NumDevices, Policy: p.Problem.Spec.Policy.Name,
		Rows: []RowJSON{}, Candidates: []CandidateJSON{}, Artefacts: []ArtefactJSON{}, Notes: append([]string{}, p.Notes...),
	}
	for _, row := range p.Rows {
		out.Rows = append(out.Rows, rowJSON(p, row))
	}
	if len(out.Rows) > 0 {
		out.Best = &out.Rows[0]
	}
	for i := range p.Results {
		out.Candidates = append(out.Candidates, candidateJSON(p, &p.Results[i]))
	}
	if n := p.Nearest; n != nil {
		out.Nearest = &LimitsJSON{ms(n.TTFT), ms(n.TPOT)}
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
		PrefillStep: o.PrefillTime.Ms(), DecodeStep: o.DecodeTime.Ms(),
		Prefill: breakdown(o.PrefillBound), Decode: breakdown(o.DecodeBound),
		WeightGiB: o.Use.Weights.GiB(), KVGiB: o.Use.KV.GiB(), ActivationGiB: o.Use.Activation.GiB(),
		AvailableGiB: o.Use.Available.GiB(), Binds: string(r.Binds),
	}
	if q := o.QPS(&r.Load); q > 0 {
		out.QPS = &q
	}
	return out
}

// ms is a duration in milliseconds, null for none.
func ms(s units.Seconds) *float64 {
	if s == 0 {
		return nil
	}
	x := s.Ms()
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
