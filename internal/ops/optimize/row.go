package optimize

import (
	"cmp"
	"context"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/money"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/ops/searchrun"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// Row is a deployment at its best batch.
type Row struct {
	Label string `json:"parallel"`
	// The figures are means, and throughput that of prompts where a phase only computes them.
	figures.Record

	QPS float64 `json:"-"` // of a disaggregated phase
	// Cost is in USD for a million tokens of the throughput, null without a price.
	Cost *float64 `json:"usd_per_million_tokens"`
	// Energy is missing where the power of the device is unknown, and of rows by formulas.
	Energy      *simulate.Energy `json:"energy,omitempty"`
	Concurrency int              `json:"concurrency"`
	Batch       int              `json:"batch_size"`
	NumDevices  int              `json:"num_devices"`
	Replicas    int              `json:"replicas"`
	Budget      int              `json:"max_batched_tokens"` // of a step and data-parallel rank
	// Settings are those of the engine that belong to a simulated row, as "key=value".
	Settings []string `json:"engine_settings,omitempty"`
	Chunks   int      `json:"prefill_chunks"`

	PrefillStep *units.InMs `json:"prefill_step_ms"`
	DecodeStep  *units.InMs `json:"decode_step_ms"`
	Prefill     *Breakdown  `json:"prefill_breakdown"`
	Decode      *Breakdown  `json:"decode_breakdown"`

	Weights    units.InGiB    `json:"weight_gib"`
	KV         units.InGiB    `json:"kv_cache_gib"`
	Activation units.InGiB    `json:"activation_gib"`
	Available  units.InGiB    `json:"available_gib"`
	Binds      search.Verdict `json:"bound_by"` // limit of the batch size

	// Composition is the prompts in the batch of one data-parallel rank, shortest
	// first; missing where all are equal.
	Composition []Part `json:"composition,omitempty"`

	Candidate search.Candidate     `json:"-"`
	Best      figures.Outcome      `json:"-"`
	Effective int                  `json:"-"` // tokens to compute of a prompt, on average
	Expected  calibration.Expected `json:"-"` // errors of Best
	Devices   int                  `json:"-"` // of the search
	Output    int                  `json:"-"` // tokens of an answer
}

// Part is the prompts of one length in the batch of a data-parallel rank.
type Part struct {
	Tokens  int     `json:"num_input_tokens"`
	Ratio   float64 `json:"request_ratio"`
	Samples int     `json:"samples"`
}

// NewRow is a result at one of its outcomes, of a search on a number of devices.
func NewRow(r *search.Result, o *figures.Outcome, devices int) Row {
	c, u := &r.Candidate, &o.Use
	out := Row{
		Label: r.Label, QPS: r.Load.QPS(o), Concurrency: o.Concurrency, Batch: o.Batch, Replicas: max(1, c.Copies), Budget: r.Load.Budget, Chunks: o.Chunks,
		PrefillStep: units.Known(units.InMs(o.PrefillTime)), DecodeStep: units.Known(units.InMs(o.DecodeTime)),
		Prefill: breakdown(o.PrefillBound), Decode: breakdown(o.DecodeBound),
		Weights: units.InGiB(u.Weights), KV: units.InGiB(u.KV), Activation: units.InGiB(u.Activation), Available: units.InGiB(u.Available), Binds: r.Binds,
		Candidate: *c, Best: *o, Effective: r.Load.EffectiveInput(), Devices: devices, Output: r.Load.Output,
	}
	out.NumDevices = out.Replicas * c.Layout.Devices
	return out
}

// Expect adds the errors to expect.
func (r *Row) Expect(e calibration.Expected, l workload.Limits) {
	o := &r.Best
	r.Expected, r.Record = e, figures.Record{
		Rates: e.Rates(o.Throughput, cmp.Or(r.QPS, o.Throughput/float64(r.Output)), r.Devices, o.TPOT), Judged: e.Latencies(workload.Statistic{}, o.Times, l), Basis: e.Basis,
	}
}

// PerDevice is the throughput of a device of the search.
func (r *Row) PerDevice() float64 { return r.Best.Throughput / float64(r.Devices) }

// Deal adds the lengths of the prompts in a batch.
func (r *Row) Deal(l *formulas.Load) {
	for _, x := range l.Distribution.Deal(parallel.MaxPerRank(r.Concurrency, r.Candidate.Ranks()), l.HitRate) {
		r.Composition = append(r.Composition, Part{x.Tokens, x.Ratio, x.Samples})
	}
	slices.SortStableFunc(r.Composition, func(a, b Part) int { return cmp.Compare(a.Tokens, b.Tokens) })
}

// NewCandidate is a result, with its row if it is feasible.
func NewCandidate(r *search.Result, row func(*search.Result) Row) Candidate {
	c := &r.Candidate
	l := &c.Layout
	out := Candidate{
		Label: r.Label, TP: l.TP, PP: l.PP, DP: l.DP, EP: l.EP, MoETP: l.MoETP, MoEDP: l.MoEDP, DCP: l.DCP, Replicas: max(1, c.Copies), MTP: c.MTP,
		OK: r.OK, Points: r.Points, Budget: r.Load.Budget, Effective: r.Load.EffectiveInput(),
	}
	if !r.OK {
		out.Rejected, out.Reason = r.Binds, r.Reason
		return out
	}
	out.Best = new(row(r))
	return out
}

// evaluated are the batches of a result, with their verdicts. Only the best has what binds it.
func (t *task) evaluated(r *search.Result) []Evaluated {
	all := slices.Clone(r.Points)
	if r.OK {
		all = append(all, r.Best, r.MostQPS)
	}
	slices.SortStableFunc(all, func(a, b figures.Outcome) int {
		return cmp.Or(cmp.Compare(a.Throughput, b.Throughput), cmp.Compare(a.Batch, b.Batch))
	})
	var out []Evaluated
	for i := range all {
		o := &all[i]
		same := func(x Evaluated) bool { return x.Batch == o.Batch && x.Concurrency == o.Concurrency }
		if o.OOM != "" || slices.ContainsFunc(out, same) {
			continue
		}
		best := r.OK && o.Batch == r.Best.Batch && o.Concurrency == r.Best.Concurrency
		if best {
			o = &r.Best
		}
		x := Evaluated{Row: NewRow(r, o, t.devices)}
		if r.Load.Distribution != nil && t.mode != search.DecodeOnly {
			x.Deal(&r.Load)
		}
		if !best {
			x.Binds = search.Fits
			x.Rejected = t.verdict(r, o)
		}
		if x.Rejected != search.Fits {
			x.Reason = t.Judge.Reason(x.Rejected, o)
		}
		out = append(out, x)
	}
	return out
}

// verdict judges an outcome as the search does.
func (t *task) verdict(r *search.Result, o *figures.Outcome) search.Verdict {
	if t.evaluation == ByFormulas {
		return t.Judge.Verdict(o, nil)
	}
	return t.Judge.Verdict(o, new(t.expect(r, o)))
}

// row is a result at its best, with its intervals.
func (t *task) row(r *search.Result) Row { return t.rowAt(r, &r.Best) }

// rowAt is a result at another outcome than its best.
func (t *task) rowAt(r *search.Result, o *figures.Outcome) Row {
	out := NewRow(r, o, t.devices)
	if o.Throughput > 0 {
		out.Cost = units.Known(money.PerMillion(cmp.Or(t.r.Price, t.device.Price.USDPerHour)*float64(out.NumDevices), o.Throughput))
	}
	if t.Subject != nil {
		out.Settings = t.Subject.Deployment(r.Candidate, o.Batch).Pools[0].Settings
	}
	out.Expect(t.expect(r, o), t.limits)
	if r.Load.Distribution != nil && t.mode != search.DecodeOnly {
		out.Deal(&r.Load)
	}
	return out
}

// Silicon is what the deployment of the best row is expected to reach where it runs: simulated under an engine, with times of
// measured kernels. The guide's formulas are those of a model, and deployments on Ascend devices were measured far below it.
type Silicon struct {
	Engine string `json:"engine"`
	figures.Record
}

// silicon simulates the best row of the guide's formulas on an Ascend device, nil where a simulation does not support the request
// or the deployment.
func (t *task) silicon(ctx context.Context) *Silicon {
	if t.evaluation != ByFormulas || t.device.Vendor != device.Ascend || t.mode != search.Aggregated || t.r.formulasOnly() != "" {
		return nil
	}
	best := t.Rows[0]
	o := &best.Best
	r, err := t.simulates().Show(ctx, best.Candidate, o.Batch, searchrun.Load{Requests: o.Concurrency}, simulate.Request{})
	if err != nil {
		return nil // a layout that engines have no room for, or do not run
	}
	return &Silicon{r.Engine, r.Record(t.devices)}
}
