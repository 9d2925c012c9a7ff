package document_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	opsstep "github.com/plimsoll-project/plimsoll/internal/ops/step"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

func millis(x float64) units.Seconds { return units.Seconds(x) * units.Millisecond }

// prefill, decode and unequal are rows with made-up numbers.
func prefill() optimize.Row {
	return optimize.Row{
		Label: "TP=4 | PP=1 | DP=1", OK: true, Binds: search.OverTTFT, QPS: 1.5, Chance: 0.8,
		Best: formulas.Outcome{
			Batch: 2, Concurrency: 2, Throughput: 42000, TTFT: millis(1324.01), PrefillTime: millis(331),
			PrefillBound: step.Bounds{Memory: 1, Comm: 2, Cube: 4, Vector: 1},
		},
		Expected: calibration.Expected{TTFT: calibration.Error{Low: -0.5, High: 0.5}, Basis: "prefill"},
	}
}

func decode() optimize.Row {
	return optimize.Row{
		Label: "TP=8 | PP=1 | DP=1", OK: true, Binds: search.OverTPOT, QPS: 5.15, Chance: 0.5,
		Best: formulas.Outcome{
			Batch: 257, Concurrency: 257, Throughput: 5146.04, TPOT: millis(33.25), DecodeTime: millis(33),
			DecodeBound: step.Bounds{Memory: 3, Comm: 1},
		},
		Expected: calibration.Expected{TPOT: calibration.Error{Low: -0.1, High: 0.1}, Basis: "decode"},
	}
}

func unequal() optimize.Row {
	r := prefill()
	r.Composition = []workload.Row{{Tokens: 250, Query: 250, Ratio: 0.75, Samples: 7}, {Tokens: 2000, Query: 2000, Ratio: 0.25, Samples: 3}}
	return r
}

// matched is a device with a pair of phases.
func matched() optimize.DeviceResult {
	p, d := prefill(), decode()
	return optimize.DeviceResult{
		Device: device.Profile{Name: "one", Memory: 64 * units.GiB},
		Searches: []optimize.Search{
			{Mode: search.PrefillOnly, NumDevices: 4, Limits: workload.Limits{TTFT: millis(2000)}, Rows: []optimize.Row{p}, Candidates: []optimize.Row{p}},
			{Mode: search.DecodeOnly, NumDevices: 8, Limits: workload.Limits{TPOT: millis(33.3)}, Rows: []optimize.Row{d}, Candidates: []optimize.Row{d}},
		},
		Ratio: &optimize.Ratio{
			Pairs: []optimize.Pair{{
				Pair: formulas.Match(p.Best, d.Best, &formulas.Load{Output: 1500}), P: p, D: d, Chance: 0.4, Sustained: 1.125,
				Expected: calibration.Expected{Throughput: calibration.Error{Low: -0.1, High: 0.3}},
			}},
			Sustained: &optimize.Sustained{
				P: p, D: d, PrefillQPS: 1.25, DecodeQPS: 0.5,
				Split: formulas.Instances{Prefill: 2, Decode: 7}, Nearest: formulas.Instances{Prefill: 3, Decode: 5},
			},
		},
	}
}

// nothing is a device on which no layout meets the limits.
func nothing() optimize.DeviceResult {
	return optimize.DeviceResult{Device: device.Profile{Name: "two"}, Searches: []optimize.Search{{
		NumDevices: 8, Limits: workload.Limits{TTFT: millis(5), TPOT: millis(5)},
		Candidates: []optimize.Row{
			{Label: "TP=1", Binds: search.NoMemory, Reason: "3.00 GiB short"}, {Label: "TP=2", Binds: search.OverTTFT, Reason: "too late"},
		},
		Nearest: &optimize.Nearest{Label: "TP=2", Batch: 1, TTFT: millis(426.081), TPOT: millis(18.571)},
	}}}
}

// TestOptimize: values are those of the response. Their names are held by the
// schema in docs, to which the tests of internal/face/cli compare real answers.
func TestOptimize(t *testing.T) {
	row, next := decode(), prefill()
	r := &optimize.Response{
		Model: "a model",
		Request: optimize.Request{
			Output: 1500, NumDevices: 64, PDRatio: true, PrefillDevices: 4, DecodeDevices: 8, Evaluate: optimize.ByFormulas,
			Limits:       workload.Limits{TTFT: millis(2000), TPOT: millis(33.3)},
			Distribution: &workload.Distribution{Bins: []workload.Bin{{Min: 1000, Max: 3000, Weight: 1}, {Min: 0, Max: 500, Weight: 3}}},
		},
		Devices: []optimize.DeviceResult{
			matched(), nothing(),
			{Searches: []optimize.Search{{
				Mode: search.Aggregated, NumDevices: 2, Rows: []optimize.Row{unequal()}, Candidates: []optimize.Row{unequal()},
				Frontier: []optimize.Point{{Label: "TP=8", Batch: 3, Throughput: 100, User: 20}},
				Safe:     &optimize.Row{Label: "TP=8", Best: formulas.Outcome{Batch: 3, Throughput: 100}, Chance: 0.95},
			}}},
		},
		Explanations: []optimize.Explanation{{Device: "one", Row: row, Next: &next, Gap: 0.25, Steps: []optimize.StepShare{
			{Phase: "prefill", Time: 2, Fixed: 0.5, Request: &opsstep.Request{Queries: 7}}, {Phase: "decode", Time: 2},
		}}},
	}
	j := document.NewOptimize(r, func(q *opsstep.Request) string {
		if q.Queries != 7 {
			t.Errorf("asked for the command of %+v", q)
		}
		return "plimsoll step"
	})
	check := func(what string, want, got any) {
		t.Helper()
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", what, d)
		}
	}
	check("mode", "pd_ratio", j.Mode)
	check("TPOT limit", 33.3, *j.Limits.TPOT)
	check("bins", 2, len(j.Bins))

	one := &j.Devices[0]
	check("decode has no TTFT", (*float64)(nil), one.Searches[1].Rows[0].TTFT)
	check("prefill has no breakdown of decode", (*document.Breakdown)(nil), one.Searches[0].Rows[0].Decode)
	check("breakdown", &document.Breakdown{Mem: 75, Comm: 25}, one.Searches[1].Rows[0].Decode)
	check("throughput per device", 42000.0/4, one.Searches[0].Rows[0].PerDevice)
	check("basis", "decode", one.Searches[1].Basis)
	check("chance of a row", 0.5, *one.Searches[1].Best.Chance)
	pair := one.Ratio.Pairs[0]
	check("prefill of the pair sustains", 1.125, pair.PSustained)
	check("the best rows sustain", []float64{1.25, 0.5}, []float64{one.Ratio.Sustained.PQPS, one.Ratio.Sustained.DQPS})
	check("the best split", &document.Instances{Prefill: 2, Decode: 7, QPS: 2.5}, one.Ratio.Instances)
	check("the nearest split", &document.Instances{Prefill: 3, Decode: 5, QPS: 2.5}, one.Ratio.Nearest)
	low, high := calibration.Error{Low: -0.1, High: 0.3}.Interval(pair.Balanced)
	check("interval of a pair", &calibration.Interval{Low: low, High: high}, pair.Interval)
	check("chance of a pair", 0.4, *pair.Chance)

	two := &j.Devices[1].Searches[0]
	check("nothing is best", (*document.Row)(nil), two.Best)
	check("no rows", 0, len(two.Rows))
	check("nearest TTFT, rounded up", 426.09, *two.Nearest.TTFT)
	check("candidates", 2, len(two.Candidates))
	check("rejection", "memory", two.Candidates[0].Rejected)

	three := &j.Devices[2].Searches[0]
	check("composition, shortest first", []document.Part{{Tokens: 250, Ratio: 0.75, Samples: 7}, {Tokens: 2000, Ratio: 0.25, Samples: 3}},
		three.Rows[0].Composition)
	check("no limits, no chance", (*float64)(nil), three.Rows[0].Chance)
	check("frontier", []document.Point{{Parallel: "TP=8", Batch: 3, PerDevice: 50, User: 20}}, three.Frontier)
	check("safe choice", &document.Safe{Parallel: "TP=8", Batch: 3, Throughput: 100, Chance: 0.95}, three.Safe)

	x := &j.Explain[0]
	check("explained", []any{"one", row.Label, next.Label, 0.25}, []any{x.Device, x.Parallel, x.Next, *x.Gap})
	check("commands", []string{"plimsoll step", ""}, []string{x.Steps[0].Command, x.Steps[1].Command})
	check("launches", 0.25, x.Steps[0].Fixed)
	for _, c := range []struct {
		request optimize.Request
		want    string
	}{{optimize.Request{}, "aggregation"}, {optimize.Request{Disagg: true}, "disaggregation"}} {
		r.Request = c.request
		check("mode", c.want, document.NewOptimize(r, nil).Mode)
	}
}
