package calibrate_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/golden"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibrate"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured/measuredtest"
	"github.com/plimsoll-project/plimsoll/internal/serve/replica"
)

// predicted predicts rows.
func predicted(t *testing.T, p *measured.Predictor, rows []measured.Row) []measured.Compared {
	t.Helper()
	out, err := p.PredictAll(t.Context(), rows, 2)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestCancelled: a fit ends when it is no longer wanted.
func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := calibrate.Calibration{Work: calibrate.Work{Iterations: 2, Workers: 2}, Base: calibration.Shipped(), Folds: 4}
	if _, err := c.Run(ctx, measuredtest.Clean(t, measuredtest.Predictor(), measuredtest.Rows(t))); !errors.Is(err, context.Canceled) {
		t.Errorf("want the fit cancelled, got %v", err)
	}
}

// TestFitOfCells fits a made-up world in which one model is served slower than
// its groups say: the other model must keep its predictions.
func TestFitOfCells(t *testing.T) {
	slow := replica.Ones()
	slow.Decode[step.Products], slow.PerStep = 1.5, 2
	read := measuredtest.Rows(t)
	p := measuredtest.Predictor()
	var own []measured.Row
	for i := range read {
		if read[i].Model != "Qwen/Qwen3-32B" {
			continue
		}
		q := p.Prepare(&read[i])
		got := q.Simulate(t.Context(), slow)
		read[i].TTFT, read[i].TPOT = got.TTFT, got.TPOT
		own = append(own, read[i])
	}
	base := calibration.Shipped()
	c := calibrate.Calibration{Work: calibrate.Work{Iterations: 3, Workers: 2}, Base: base, Folds: 2}
	prepared := measuredtest.Clean(t, p, own)
	f, err := c.Run(t.Context(), prepared)
	if err != nil {
		t.Fatal(err)
	}
	p.Calibration = base
	before, after := measured.Summarize("", predicted(t, p, own)), measured.Summarize("", f.ByConfiguration)
	if after.TPOT.MAPE > 0.7*before.TPOT.MAPE {
		t.Errorf("TPOT error of unseen configurations %.3f → %.3f: want at most 0.7 of it", before.TPOT.MAPE, after.TPOT.MAPE)
	}
	other := prepared[0].Subject
	other.Model = "meta-llama/Llama-3.1-8B-Instruct"
	if f.Overlay.Multipliers(other) != base.Multipliers(other) {
		t.Error("a fit to one cell changes another")
	}
	if f.Unchanged {
		t.Error("a slow model teaches nothing")
	}
	if f.Overlay.Multipliers(prepared[0].Subject) == base.Multipliers(prepared[0].Subject) {
		t.Error("the fit changes nothing")
	}
	var text bytes.Buffer
	found := calibration.Overlay{Groups: calibration.Groups{"the cell": f.Overlay.Groups["vllm · h200_sxm · Qwen/Qwen3-32B"]}}
	if err := found.Write(&text); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/cell-fit.golden", text.Bytes())
}

// TestFitOfNoise fits rows that are as predicted but for errors without a pattern:
// the calibration must stay as it is.
func TestFitOfNoise(t *testing.T) {
	read := measuredtest.Rows(t)
	p := measuredtest.Predictor()
	base := calibration.Shipped()
	p.Calibration = base
	for i := range read {
		got := p.Predict(t.Context(), &read[i])
		noise := units.Seconds(math.Exp(0.2 * math.Sin(float64(1+i)*12.9898)))
		read[i].TTFT, read[i].TPOT = got.TTFT*noise, got.TPOT/noise
	}
	prepared := measuredtest.Clean(t, p, read)
	c := calibrate.Calibration{Work: calibrate.Work{Iterations: 1, Workers: 2}, Base: base}
	f, err := c.Run(t.Context(), prepared)
	if err != nil {
		t.Fatal(err)
	}
	if !f.Unchanged || f.Overlay.Multipliers(prepared[0].Subject) != base.Multipliers(prepared[0].Subject) {
		t.Error("noise changes the calibration")
	}
}
