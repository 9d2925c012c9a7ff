package report_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/compat/ascend"
	"github.com/plimsoll-project/plimsoll/internal/compat/tensorcast"
	"github.com/plimsoll-project/plimsoll/internal/cost/memory"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// Searches with made-up numbers, so that the pictures change only with the way
// they are drawn.

func millis(x float64) units.Seconds { return units.Seconds(x) * units.Millisecond }

// found is a layout of Qwen3-32B at its best batch.
type found struct {
	tp, dp                 int
	throughput, ttft, tpot float64
	batch                  int
}

// result is what a search says about it.
func (f found) result(l formulas.Load) search.Result {
	layout := parallel.Layout{Devices: f.tp * f.dp, TP: f.tp, PP: 1, DP: f.dp, EP: 1, MoETP: 1, MoEDP: 1, DCP: 1}
	l.DP, l.PP, l.Devices, l.DecodeQuery, l.Fold = f.dp, 1, f.tp*f.dp, 1, 1
	r := search.Result{
		Candidate: search.Candidate{Layout: layout}, Label: layout.Label(false), OK: true, Binds: search.OverTPOT, Load: l,
		Best: figures.Outcome{Batch: f.batch, Concurrency: f.batch * f.dp, Use: memory.Use{
			Weights: 40 * units.GiB / units.Bytes(f.tp), KV: 2 * units.GiB * units.Bytes(f.batch), Activation: units.GiB / 2,
			Available: 7.25 * units.GiB,
		}, Figures: figures.Figures{Times: figures.Times{TTFT: millis(f.ttft), TPOT: millis(f.tpot)}, Throughput: f.throughput}, Steps: figures.Steps{Chunks: 1}},
	}
	if f.ttft > 0 {
		r.Best.PrefillTime = millis(f.ttft / 4)
		r.Best.PrefillBound = step.Bounds{Memory: 1, Comm: 2, Cube: 4, Vector: 1}
	}
	if f.tpot > 0 {
		r.Best.DecodeTime = millis(f.tpot / 2)
		r.Best.DecodeBound = step.Bounds{Memory: 3, Comm: 1}
	}
	r.Score, r.First, r.MostQPS, r.Points = f.throughput, r.Best, r.Best, []figures.Outcome{r.Best}
	return r
}

// rejected is a layout without a feasible batch.
func rejected(tp, dp int, ttft, tpot float64, binds search.Verdict, reason string) search.Result {
	r := found{tp: tp, dp: dp, ttft: ttft, tpot: tpot, batch: 1}.result(formulas.Load{Input: 3500, Output: 1500, Budget: 8192})
	r.OK, r.Binds, r.Reason, r.Best = false, binds, reason, figures.Outcome{}
	return r
}

// residuals are made-up residuals.
func residuals() *calibration.Overlay {
	return &calibration.Overlay{Residuals: map[string]calibration.Residuals{
		"formulas": {Rows: 100, Each: figures.Each[calibration.Error]{TTFT: calibration.Error{Low: -1, High: 0}, TPOT: calibration.Error{Low: -0.1, High: 0.1}, Throughput: calibration.Error{Low: -0.2, High: 0.1}}},
		"disagg":   {Rows: 50, Each: figures.Each[calibration.Error]{TTFT: calibration.Error{Low: -0.5, High: 1.5}, TPOT: calibration.Error{Low: -0.3, High: 0.1}, Throughput: calibration.Error{Low: -0.1, High: 0.3}}},
	}}
}

// row is a result with the intervals of [residuals].
func row(mode search.Mode, l workload.Limits, r *search.Result) optimize.Row {
	out := optimize.NewRow(r, &r.Best, 8)
	out.Expect(residuals().Expect(&calibration.Case{
		Subject: calibration.Subject{Disaggregated: mode != search.Aggregated},
		Method:  calibration.Formulas, TensorCast: true, Tier: device.Datasheet, Vendor: device.Ascend,
	}), l)
	if r.Load.Distribution != nil {
		out.Deal(&r.Load)
	}
	return out
}

// searched is a search with these results.
func searched(mode search.Mode, devices int, l workload.Limits, results ...search.Result) optimize.Search {
	s := optimize.Search{
		Mode: mode, NumDevices: devices, Limits: l, Policy: tensorcast.Name, Pricing: prices.Roofline,
		Linear: string(dtype.W8A8Dynamic), Attention: string(dtype.Disabled), ReservedGiB: 10, Tier: device.Datasheet,
	}
	for i := range results {
		s.Candidates = append(s.Candidates, optimize.NewCandidate(&results[i], func(r *search.Result) optimize.Row { return row(mode, l, r) }))
	}
	for _, r := range search.Best(results, search.ByLabel) {
		s.Rows = append(s.Rows, row(mode, l, r))
	}
	if n := search.Near(results, &search.Judge{Limits: l}); len(s.Rows) == 0 && n != nil {
		s.Nearest = &optimize.Nearest{Label: n.Label, Batch: n.First.Batch, Times: n.First.Times}
	}
	if i := slices.IndexFunc(s.Rows, func(r optimize.Row) bool { return r.Judged.Chance != nil && *r.Judged.Chance >= optimize.SafeChance }); i >= 0 {
		r := &s.Rows[i]
		s.Safe = &optimize.Safe{Label: r.Label, Batch: r.Batch, Throughput: r.Best.Throughput, Chance: *r.Judged.Chance}
	}
	return s
}

// response is a search on devices; their searches are added by the caller.
func response(t *testing.T, devices ...string) *optimize.Response {
	t.Helper()
	r := &optimize.Response{
		Model: "Qwen/Qwen3-32B", Caution: session.GuideCaution,
		Request: optimize.Request{
			Input: 3500, Output: 1500, NumDevices: 8, ReservedGiB: new(10.0), Accounting: formulas.Documented, Evaluate: optimize.ByFormulas,
		},
	}
	for _, name := range devices {
		d, err := device.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		r.Devices = append(r.Devices, optimize.Device{Name: d.Name, Memory: units.InGiB(d.Memory), Profile: *d})
	}
	return r
}

// Two devices, and the load of every fixture.
const (
	a2 = "ATLAS_800_A2_280T_64G"
	a3 = "ATLAS_800_A3_560T_128G_DIE"
)

func load() formulas.Load { return formulas.Load{Input: 3500, Output: 1500, Budget: 8192} }

// aggregated has the best row in the middle and a rejected one.
func aggregated(speed float64) optimize.Search {
	return searched(
		search.Aggregated, 8, workload.Limits{TPOT: millis(50)},
		found{8, 1, 1000 * speed, 900, 40, 100}.result(load()),
		found{4, 2, 2888.445 * speed, 16032.05, 49.9, 87}.result(load()),
		found{2, 4, 500 * speed, 12345.678, 5, 9}.result(load()),
		rejected(1, 8, 700, 60, search.OverTPOT, "TPOT 60.00 ms at batch 1 is over the limit of 50.00 ms"),
	)
}

// The limits of the phases apart.
func prefillLimits() workload.Limits { return workload.Limits{TTFT: millis(2000)} }
func decodeLimits() workload.Limits  { return workload.Limits{TPOT: millis(33.3)} }

func prefillResults(devices int) []search.Result {
	return []search.Result{
		found{tp: devices, dp: 1, throughput: 42000, ttft: 1324.01, batch: 2}.result(load()),
		found{tp: devices / 2, dp: 2, throughput: 21000.5, ttft: 800, batch: 10}.result(load()),
	}
}

func decodeResults() []search.Result {
	return []search.Result{
		found{tp: 8, dp: 1, throughput: 5146.04, tpot: 33.25, batch: 257}.result(load()),
		found{tp: 4, dp: 2, throughput: 4845.99, tpot: 33, batch: 121}.result(load()),
	}
}

func prefill(devices int) optimize.Search {
	return searched(search.PrefillOnly, devices, prefillLimits(), prefillResults(devices)...)
}

func decode() optimize.Search {
	return searched(search.DecodeOnly, 8, decodeLimits(), decodeResults()...)
}

// unequal is a prefill of prompts in two lengths, given longest first.
func unequal(r *optimize.Response, mode search.Mode) optimize.Search {
	r.Request.Input = 0
	r.Request.Distribution = &workload.Distribution{Bins: []workload.Bin{{Min: 1000, Max: 3000, Weight: 1}, {Min: 0, Max: 500, Weight: 3}}}
	l := formulas.Load{Distribution: r.Request.Distribution, Output: 1500, Budget: 8192}
	return searched(
		mode, 8, workload.Limits{TTFT: millis(5000)},
		found{4, 2, 30000, 4000, 20, 10}.result(l), found{8, 1, 20000, 4500, 25, 7}.result(l),
	)
}

// nothingFits is a search in which each layout fails, each in its own way.
func nothingFits(mode search.Mode) optimize.Search {
	return searched(
		mode, 8, workload.Limits{TTFT: millis(5), TPOT: millis(5)},
		rejected(1, 8, 877.58, 42.28, search.NoMemory, "batch 1 does not fit in memory: 3.00 GiB short in prefill"),
		rejected(2, 4, 732.18, 26.51, search.OverTTFT, "TTFT 732.18 ms at batch 1 is over the limit of 5.00 ms"),
		rejected(4, 2, 426.081, 18.571, search.OverTPOT, "TPOT 18.57 ms at batch 1 is over the limit of 5.00 ms"),
		rejected(8, 1, 1, 1, search.IllegalShape, "--tp-size 8 does not divide the model's heads"),
	)
}

// matched pairs the phases of a device.
func matched(r *optimize.Response, d *optimize.Device, instances formulas.Instances) {
	r.Request.PDRatio, r.Request.PrefillDevices, r.Request.DecodeDevices = true, 4, 8
	r.Request.Limits = workload.Limits{TTFT: millis(2000), TPOT: millis(33.3)}
	d.Searches = []optimize.Search{prefill(4), decode()}
	ps, ds := search.Best(prefillResults(4), search.ByLabel), search.Best(decodeResults(), search.ByLabel)
	d.Ratio = &optimize.Ratio{Sustained: &optimize.Sustained{
		P: row(search.PrefillOnly, prefillLimits(), ps[0]), D: row(search.DecodeOnly, decodeLimits(), ds[0]), PrefillQPS: 12, DecodeQPS: 5,
	}}
	if instances.Prefill > 0 {
		d.Ratio.Instances = &optimize.Instances{Instances: instances, QPS: instances.QPS(12, 5)}
		d.Ratio.Nearest = &optimize.Instances{Instances: formulas.Instances{Prefill: 1, Decode: 4}, QPS: 12}
	}
	for _, x := range ascend.Pairs(ps, ds) {
		p, q := row(search.PrefillOnly, prefillLimits(), x.P), row(search.DecodeOnly, decodeLimits(), x.D)
		pair := optimize.NewPair(&x, p, q)
		pair.Sustained = 12
		d.Ratio.Pairs = append(d.Ratio.Pairs, pair)
	}
}

// text is a response printed.
func text(r *optimize.Response, v report.OptimizeView) []byte {
	var b bytes.Buffer
	report.Optimize(&b, r, v)
	return b.Bytes()
}
