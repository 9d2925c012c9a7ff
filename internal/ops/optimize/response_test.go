package optimize_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	coststep "github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

const a3 = "ATLAS_800_A3_752T_128G_DIE"

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func run(t *testing.T, q optimize.Request) *optimize.Response {
	t.Helper()
	r, err := optimize.Run(t.Context(), new(session.Session), q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRow: a row has what its result has, and nothing of a phase that did not run.
func TestRow(t *testing.T) {
	t.Parallel()
	const ms = units.Millisecond
	result := &search.Result{Label: "TP=8", OK: true, Binds: search.OverTPOT, Best: figures.Outcome{Batch: 3, Figures: figures.Figures{Times: figures.Times{TPOT: 33.25 * ms}, Throughput: 100}, Steps: figures.Steps{DecodeTime: 33 * ms, DecodeBound: coststep.Bounds{Memory: 3, Comm: 1}}}}
	result.Candidate.Layout.Devices, result.Candidate.Copies = 2, 4
	row := optimize.NewRow(result, &result.Best, 16)
	same(t, "shares", []*optimize.Breakdown{nil, {Mem: 75, Comm: 25}}, []*optimize.Breakdown{row.Prefill, row.Decode})
	same(t, "devices", []float64{8, 4, 100.0 / 16}, []float64{float64(row.NumDevices), float64(row.Replicas), row.PerDevice()})
	e := calibration.Expected{Each: figures.Each[calibration.Error]{TPOT: calibration.Error{Low: -0.1, High: 0.1}}}
	row.Expect(e, workload.Limits{})
	same(t, "throughput", figures.Sure(100), row.Tokens)
	same(t, "latencies; no limits, no chance", figures.Latencies{Statistic: "mean", TPOT: e.TPOT.OrNull(33.25)}, row.Judged)
	row.Expect(e, workload.Limits{TPOT: 33.25 * ms})
	same(t, "chance", 0.5, math.Round(1e3**row.Judged.Chance)/1e3)

	result.Load = formulas.Load{Distribution: &workload.Distribution{Bins: []workload.Bin{{Min: 1000, Max: 3000, Weight: 1}, {Min: 0, Max: 500, Weight: 3}}}}
	row.Concurrency = 40
	row.Deal(&result.Load)
	same(t, "composition, shortest first", []optimize.Part{{Tokens: 250, Ratio: 0.75, Samples: 7}, {Tokens: 2000, Ratio: 0.25, Samples: 3}}, row.Composition)

	other := search.Result{Binds: search.NoMemory, Reason: "3.00 GiB short"}
	for _, r := range []*search.Result{result, &other} {
		c := optimize.NewCandidate(r, func(r *search.Result) optimize.Row { return optimize.NewRow(r, &r.Best, 16) })
		if (c.Best != nil) != r.OK || (c.Rejected == "") != r.OK || c.Reason != r.Reason {
			t.Errorf("%+v of %+v", c, r)
		}
	}
}

// TestMatchedPhases: pairs, the split of the devices, and the commands of explained steps.
func TestMatchedPhases(t *testing.T) {
	t.Parallel()
	q := search32B(a3)
	q.NumDevices, q.PDRatio, q.PrefillDevices, q.DecodeDevices, q.Explain = 64, true, 4, 8, true
	q.Limits = workload.Limits{TTFT: 2000 * units.Millisecond, TPOT: 50 * units.Millisecond}
	r := run(t, q)
	same(t, "mode and limits", []any{"pd_ratio", 2000.0, 50.0}, []any{r.Mode, *r.Limits.TTFT, *r.Limits.TPOT})
	d := &r.Devices[0]
	s, pair := d.Ratio.Sustained, &d.Ratio.Pairs[0]
	if n := d.Ratio.Instances; n.Devices(4, 8) > 64 || n.QPS != min(float64(n.Prefill)*s.PrefillQPS, float64(n.Decode)*s.DecodeQPS) || n.QPS < d.Ratio.Nearest.QPS {
		t.Errorf("%+v, near the ratio %+v, of %g and %g", n, d.Ratio.Nearest, s.PrefillQPS, s.DecodeQPS)
	}
	same(t, "interval of a pair", pair.Expected.Throughput.Of(pair.Balanced), pair.Rate)
	for k, p := range []search.Mode{search.PrefillOnly, search.DecodeOnly} {
		x := &d.Searches[k]
		same(t, "best", []any{p, &x.Rows[0], x.Rows[0].Expected.Basis}, []any{x.Mode, x.Best, x.Basis})
		same(t, "latencies of a phase", p == search.PrefillOnly, x.Best.Judged.TTFT != nil && x.Best.Judged.TPOT == nil && x.Best.Decode == nil)
	}
	for i := range r.Explanations {
		x := &r.Explanations[i]
		same(t, "explained", []any{d.Searches[i].Best.Label, true}, []any{x.Label, strings.HasPrefix(x.Steps[0].Command, "plimsoll step Qwen/Qwen3-32B ")})
		if x.Steps[0].Fixed <= 0 || x.Steps[0].Fixed >= 1 || x.Gap != nil && (x.Next == "" || *x.Gap < 0) {
			t.Errorf("%+v", x)
		}
	}
}

// TestNothingMeets: where no row meets the limits, every candidate says why, and the nearest limits are rounded up.
func TestNothingMeets(t *testing.T) {
	t.Parallel()
	q := search32B(a3)
	q.Disagg, q.Limits.TPOT = true, units.Microsecond
	r := run(t, q)
	s := &r.Devices[0].Searches[0]
	if r.Mode != "disaggregation" || s.Best != nil || len(s.Rows) > 0 || *s.Feasible.TPOT < s.Nearest.TPOT.Ms() || *s.Feasible.TPOT > s.Nearest.TPOT.Ms()+0.01 {
		t.Errorf("%s: best %+v, %d rows, %+v of %+v", r.Mode, s.Best, len(s.Rows), s.Feasible, s.Nearest)
	}
	if slices.ContainsFunc(s.Candidates, func(c optimize.Candidate) bool { return c.OK || c.Rejected == "" || c.Reason == "" }) {
		t.Errorf("a candidate without a reason: %+v", s.Candidates)
	}
}
