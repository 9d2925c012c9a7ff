package deployments_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibrate"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured/measuredtest"
	"github.com/plimsoll-project/plimsoll/internal/fit/deployments"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

var errUnknown = errors.New("unknown")

// ordinary is a deployment of a dense model with rows in the fit.
func ordinary() calibration.Case {
	return calibration.Case{
		Subject: calibration.Subject{Engine: "vllm", Generation: "hopper", System: "h200_sxm", Model: "a/b", Class: engine.Dense},
		Tier:    device.Calibrated, Vendor: device.NVIDIA, Devices: 2, Concurrency: 16, Input: 1000,
	}
}

// TestLearnByHand: residuals are the 80 % quantile of the sizes of errors where a fit is tried, else the 10 % and 90 %
// quantiles; a division needs thirty rows, a whole kind any.
func TestLearnByHand(t *testing.T) {
	t.Parallel()
	rows := func(n int, concurrency int) (out []measured.Compared) {
		for i := range n {
			off := units.Seconds(math.Exp(0.01 * float64(i-3))) // measured over predicted
			row := &measured.Row{Output: 101, LengthLow: 1, Concurrency: concurrency, TTFT: off, TPOT: 0.01 * off}
			s := ordinary()
			s.Concurrency = concurrency
			out = append(out, measured.Compared{Row: row, Pred: measured.Prediction{TTFT: 1, TPOT: 0.01, Throughput: float64(concurrency) * 101 / 2, Case: s}})
		}
		return out
	}
	bad := rows(5, 16)
	bad[0].Pred.Err, bad[1].Row.TTFT, bad[2].Row.TPOT, bad[3].Pred.TTFT, bad[4].Pred.TPOT = errUnknown, 0, 0, 0, 0
	var o calibration.Overlay
	deployments.Learn(&o, &deployments.Evidence{Seen: append(rows(11, 16), bad...), Uncalibrated: rows(30, 16), Formulas: rows(29, 8), Steady: append(rows(30, 8), rows(30, 100)...)})
	// Eleven errors of -3 to 7 percent: their sizes, sorted, are 0 1 1 2 2 3 3 4 5 6 7, of which the ninth is at 80 %.
	isResidual(t, o, "seen", calibration.Residuals{Rows: 11, Each: figures.Each[calibration.Error]{TTFT: calibration.Error{Low: -0.05, High: 0.05}, TPOT: calibration.Error{Low: -0.05, High: 0.05}, Throughput: calibration.Error{Low: -0.05, High: 0.05}}})
	// Thirty of -3 to 26 percent: 10 % and 90 % of the weight end with the third and the 27th.
	isResidual(t, o, "uncalibrated", calibration.Residuals{Rows: 30, Each: figures.Each[calibration.Error]{TTFT: calibration.Error{Low: -0.01, High: 0.23}, TPOT: calibration.Error{Low: -0.01, High: 0.23}, Throughput: calibration.Error{Low: -0.24, High: 0}}})
	for name, rows := range map[string]int{"uncalibrated/nvidia/cache-free": 30, "uncalibrated/nvidia/cache-free/to-64": 30, "formulas": 29, "steady": 60, "steady/to-8": 30, "steady/above-64": 30} {
		if got := o.Residuals[name].Rows; got != rows {
			t.Errorf("%s: want %d rows, got %d", name, rows, got)
		}
	}
	for _, name := range []string{"seen/nvidia", "formulas/to-8", "unseen", "disagg"} {
		if r, ok := o.Residuals[name]; ok {
			t.Errorf("%s has residuals: %+v", name, r)
		}
	}
	var mine calibration.Overlay
	calibrate.LearnOwn(&mine, append(rows(11, 16), bad...))
	isResidual(t, mine, "own/vllm · h200_sxm · a/b", o.Residuals["seen"])
}

func isResidual(t *testing.T, o calibration.Overlay, name string, want calibration.Residuals) {
	t.Helper()
	got := o.Residuals[name]
	same := func(a, b calibration.Error) bool {
		return math.Abs(a.Low-b.Low) < 1e-9 && math.Abs(a.High-b.High) < 1e-9
	}
	if got.Rows != want.Rows || !same(got.TTFT, want.TTFT) || !same(got.TPOT, want.TPOT) || !same(got.Throughput, want.Throughput) {
		t.Errorf("%s: want %+v, got %+v", name, want, got)
	}
}

// TestFittedCells: the cells of a fit, those of disaggregated deployments apart, and the largest loads of the others.
func TestFittedCells(t *testing.T) {
	t.Parallel()
	p := measuredtest.Predictor()
	var prepared []measured.Prepared
	for _, more := range [][]string{
		{"model_path", "Qwen/Qwen3-32B", "concurrency", "10", "isl", "100"},
		{"model_path", "Qwen/Qwen3-8B", "concurrency", "30", "isl", "50"},
		{"model_path", "Qwen/Qwen3-32B", "concurrency", "20", "tp_size", "4"},
		{"model_path", "Qwen/Qwen3-32B", "mode", "disagg", "concurrency", "500", "isl", "5000", "prefill_tp_size", "8", "decode_tp_size", "8"},
		{"model_path", "Qwen/Qwen3-32B", "backend", "sglang", "system", "b200_sxm", "concurrency", "1"},
		{"model_path", "Qwen/Qwen3-32B", "backend_version", "0.9.0"},
		{"model_path", "Qwen/Qwen3-32B", "backend_version", "0.11.0"},
		{"model_path", "Qwen/Qwen3-32B", "backend_version", "0.10.0"},
	} {
		row := measuredtest.One(t, measuredtest.Needed(more...))
		q := p.Prepare(&row)
		if q.Err != nil {
			t.Fatal(q.Err)
		}
		prepared = append(prepared, q)
	}
	var o calibration.Overlay
	for i := range prepared {
		o.AddCell(&prepared[i].Subject)
		o.AddCell(&prepared[i].Subject) // once is enough
	}
	deployments.Reached(&o, prepared)
	want := `map[sglang · b200_sxm:[Qwen/Qwen3-32B (bf16)] vllm · disagg · h200_sxm:[Qwen/Qwen3-32B (bf16)] vllm · h200_sxm:[Qwen/Qwen3-32B (bf16) Qwen/Qwen3-8B (bf16)]]`
	if got := fmt.Sprint(o.Cells); got != want {
		t.Errorf("want %s\ngot  %s", want, got)
	}
	if o.Reach != (calibration.Reach{Concurrency: 30, Input: 1000, Devices: 4}) {
		t.Errorf("%+v", o.Reach)
	}
	if got := fmt.Sprint(o.Releases); got != "map[vllm:0.11.0]" {
		t.Errorf("newest releases: %s", got)
	}
}

// TestLearnRigs: beside rows of laboratories those of other people's rigs are left out of the residuals; alone they are all there is.
func TestLearnRigs(t *testing.T) {
	t.Parallel()
	p := measuredtest.Predictor()
	given := []string{"model_path", "Qwen/Qwen3-8B", "concurrency", "8"}
	row := measuredtest.One(t, measuredtest.Needed(given...))
	rig := measuredtest.One(t, measuredtest.Needed(append(given, "silicon_data_source", "somebody: a page")...))
	all, err := p.PredictAll(t.Context(), []measured.Row{row, rig}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, rows := range map[string][]measured.Compared{"both": all, "a rig": all[1:]} {
		var o calibration.Overlay
		deployments.Learn(&o, &deployments.Evidence{Seen: rows})
		if got := o.Residuals[string(calibration.KindSeen)].Rows; got != 1 {
			t.Errorf("%s: residuals of %d rows, want 1", name, got)
		}
	}
}
