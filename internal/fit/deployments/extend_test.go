package deployments_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/evidence/calibrate"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured/measuredtest"
	"github.com/plimsoll-project/plimsoll/internal/fit/deployments"
)

// TestExtend: groups that a base lacks are fitted to rows without TTFT, and predict rows
// that were held out better than the base; what the base has stays as it is.
func TestExtend(t *testing.T) {
	t.Parallel()
	rows := quick(measuredtest.Silicon(t))
	for i := range rows {
		rows[i].TPOT *= 1.3 // a device unknown to the base
		rows[i].PerGPU, rows[i].TTFT = rows[i].ClosedLoop(rows[i].TTFT, rows[i].TPOT), 0
	}
	base := &calibration.Overlay{
		Groups: calibration.Groups{"nvidia": &calibration.Logs{}, "nvidia · sglang": &calibration.Logs{0.5}},
		Unseen: calibration.Groups{"nvidia": &calibration.Logs{}, "nvidia · sglang": &calibration.Logs{0.2}},
	}
	c := deployments.Fitting{Work: calibrate.Work{Iterations: 2, Workers: 2}, Folds: 3}
	p := measuredtest.Predictor()
	prepared := measuredtest.Clean(t, p, rows)
	x, err := c.Extend(t.Context(), base, prepared)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"nvidia", "nvidia · sglang"} {
		if d := cmp.Diff(base.Groups[name], x.Overlay.Groups[name]) + cmp.Diff(base.Unseen[name], x.Overlay.Unseen[name]); d != "" {
			t.Errorf("%s changed:\n%s", name, d)
		}
	}
	if z := x.Overlay.Groups["vllm · hopper · moe"]; z == nil || *z == (calibration.Logs{}) || len(x.Overlay.Unseen) >= len(x.Overlay.Groups) || x.Numbers == 0 {
		t.Errorf("%d numbers, groups %v", x.Numbers, x.Overlay.Groups)
	}
	if !x.Overlay.Has(&prepared[0].Subject) || base.Has(&prepared[0].Subject) {
		t.Error("the cells of the rows belong to the extended overlay, not to its base")
	}
	plain, err := (&measured.Predictor{Calibration: base}).PredictPrepared(t.Context(), prepared, 2)
	if err != nil {
		t.Fatal(err)
	}
	before, after := measured.Summarize("", plain).TPOT.MAPE, measured.Summarize("", x.ByConfiguration).TPOT.MAPE
	if after >= before {
		t.Errorf("TPOT without the extension %.3g, of rows held out with it %.3g", before, after)
	}
	if len(x.ByCell) != len(prepared) {
		t.Errorf("%d rows were held out by cell, of %d", len(x.ByCell), len(prepared))
	}
}
