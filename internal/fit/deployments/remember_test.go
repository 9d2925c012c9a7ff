package deployments_test

import (
	"math"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/evidence/calibrate"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured/measuredtest"
	"github.com/plimsoll-project/plimsoll/internal/fit/deployments"
)

// TestFitRemembers: of two models, one that runs a quarter slower than all that is shared says is remembered so, and the other is not.
func TestFitRemembers(t *testing.T) {
	t.Parallel()
	p := measuredtest.Predictor()
	rows := measuredtest.Rows(t)
	for i := range rows {
		q := p.Predict(t.Context(), &rows[i])
		rows[i].TTFT, rows[i].TPOT = q.TTFT, q.TPOT
		if rows[i].Model == "Qwen/Qwen3-32B" {
			rows[i].TPOT *= 1.25
			rows[i].TTFT *= 1.25
		}
	}
	f, err := (&deployments.Fitting{Work: calibrate.Work{Iterations: 2, Workers: 2}}).Fit(t.Context(), measuredtest.Clean(t, p, rows))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range f.Overlay.Memory.Points() {
		slow := x.Subject.Model == "Qwen/Qwen3-32B"
		if (x.Kernels > 0.05) != slow || x.Rows != len(rows)/2 {
			t.Errorf("%s: kernels take %.2f times as long over %d rows", x.Subject.Deployment(), math.Exp(x.Kernels), x.Rows)
		}
	}
	if n := len(f.Overlay.Memory.Points()); n != 2 {
		t.Errorf("%d deployments are remembered", n)
	}
	predicted, err := (&measured.Predictor{Prices: p.Prices, Calibration: f.Overlay}).PredictPrepared(t.Context(), measuredtest.Clean(t, p, rows), 2)
	if err != nil {
		t.Fatal(err)
	}
	if g := measured.Summarize("all", predicted); g.TPOT.MAPE > 0.05 {
		t.Errorf("TPOT off by %.1f %%", 100*g.TPOT.MAPE)
	}
}
