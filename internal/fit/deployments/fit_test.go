package deployments_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibrate"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured/measuredtest"
	"github.com/plimsoll-project/plimsoll/internal/fit/deployments"
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
	c := deployments.Fitting{Work: calibrate.Work{Iterations: 2, Workers: 2}, Folds: 4}
	if _, err := c.Run(ctx, measuredtest.Clean(t, measuredtest.Predictor(), measuredtest.Rows(t))); !errors.Is(err, context.Canceled) {
		t.Errorf("want the fit cancelled, got %v", err)
	}
}

// TestFitFindsTheTruth measures a made-up world whose kernels are slower and
// whose host is faster than the prior says, and fits it: the errors must shrink
// to a fraction, and rows left out must be predicted better too.
func TestFitFindsTheTruth(t *testing.T) {
	truth := replica.Ones()
	truth.Decode[step.Products], truth.Prefill[step.Products] = 1.4, 1.25
	truth.Decode[step.Attention] = 0.8
	truth.PerStep, truth.First = 0.6, 1.8
	read := measuredtest.Rows(t)
	p := measuredtest.Predictor()
	for i := range read {
		q := p.Prepare(&read[i])
		got := q.Simulate(t.Context(), truth)
		if got.Err != nil {
			t.Fatal(got.Err)
		}
		read[i].TTFT, read[i].TPOT = got.TTFT, got.TPOT
	}
	prepared := measuredtest.Clean(t, p, read)
	if len(prepared) != 32 {
		t.Fatalf("want 32 rows, got %d", len(prepared))
	}
	c := deployments.Fitting{Work: calibrate.Work{Iterations: 4, Workers: 2}, Folds: 4}
	f, err := c.Run(t.Context(), prepared)
	if err != nil {
		t.Fatal(err)
	}
	before := measured.Summarize("", predicted(t, p, read))
	for _, c := range []struct {
		name string
		rows []measured.Compared
		most float64
	}{{"in sample", f.InSample, 0.35}, {"unseen configurations", f.ByConfiguration, 0.6}} {
		after := measured.Summarize(c.name, c.rows)
		if after.TPOT.MAPE > c.most*before.TPOT.MAPE || after.TTFT.MAPE > c.most*before.TTFT.MAPE {
			t.Errorf("%s: TPOT error %.3f → %.3f, TTFT %.3f → %.3f: want at most %.2f of it", c.name,
				before.TPOT.MAPE, after.TPOT.MAPE, before.TTFT.MAPE, after.TTFT.MAPE, c.most)
		}
	}
}

// compared are predictions that lie off by a known spread: narrow below a
// concurrency of 64 and wide above.
func compared(n int) []measured.Compared {
	random := rand.New(rand.NewPCG(3, 4))
	out := make([]measured.Compared, n)
	for i := range out {
		c, sigma := 16, 0.1
		if i%3 == 0 {
			c, sigma = 256, 0.4
		}
		off := func() units.Seconds { return units.Seconds(math.Exp(sigma * random.NormFloat64())) }
		row := measured.Row{Output: 100, LengthLow: 1, Concurrency: c, TTFT: off(), TPOT: 0.01 * off()}
		out[i] = measured.Compared{Row: &row, Pred: measured.Prediction{
			TTFT: 1, TPOT: 0.01, Throughput: float64(c) * 100 / (1 + 0.99),
			Case: calibration.Case{
				Subject: calibration.Subject{Generation: "hopper", Class: engine.Dense, Engine: "vllm", Model: "a/b", System: "h200_sxm"},
				Tier:    device.Calibrated, Vendor: device.NVIDIA, Concurrency: c,
			},
		}}
	}
	return out
}

// TestLearn: what is learned covers as much as it says, in each kind and in all,
// on predictions it has not learned from, and comes back from a file.
func TestLearn(t *testing.T) {
	t.Parallel()
	all := compared(3000)
	learn, try := all[:1500], all[1500:]
	o := &calibration.Overlay{
		Cells: map[string][]string{"vllm · h200_sxm": {"a/b"}},
	}
	deployments.Learn(o, &deployments.Evidence{Seen: learn})
	var b bytes.Buffer
	if err := o.Write(&b); err != nil {
		t.Fatal(err)
	}
	back, err := calibration.Read(b.Bytes(), "x.yaml")
	if err != nil {
		t.Fatal(err)
	}
	parts := measured.By(try, func(r *measured.Row) string { return fmt.Sprint(r.Concurrency) })
	for _, p := range append(parts, measured.Part{Name: "all", Rows: try}) {
		measured.Expect(back, p.Rows)
		ttft, tpot := measured.Coverage(p.Rows)
		if math.Abs(ttft-0.8) > 0.05 || math.Abs(tpot-0.8) > 0.05 {
			t.Errorf("%s: the 80 %% intervals hold %.2f and %.2f", p.Name, ttft, tpot)
		}
	}
	few := &calibration.Overlay{Cells: o.Cells}
	deployments.Learn(few, &deployments.Evidence{Seen: learn[:3]})
	if a, b := few.Expect(&learn[1].Pred.Case), back.Expect(&learn[1].Pred.Case); wider(a.TPOT, b.TPOT) < 1 {
		t.Errorf("three rows are surer than 1,500: %+v, %+v", a, b)
	}
	unknown := learn[0].Pred.Case
	unknown.Engine = "mindie"
	if e := back.Expect(&unknown); e.TTFT.High < 0.5 {
		t.Errorf("of an engine without residuals: %+v", e)
	}
}

// TestLearnOwn: residuals of a user's rows move the intervals of their cell, and
// of no other.
func TestLearnOwn(t *testing.T) {
	t.Parallel()
	rows := compared(600)
	o := &calibration.Overlay{Cells: map[string][]string{"vllm · h200_sxm": {"a/b", "c/d"}}}
	deployments.Learn(o, &deployments.Evidence{Seen: rows})
	mine := slices.Clone(rows[:40])
	for i := range mine { // all but exact
		mine[i].Pred.TTFT, mine[i].Pred.TPOT = 1.01*mine[i].Row.TTFT, 1.01*mine[i].Row.TPOT
	}
	own := *o
	calibrate.LearnOwn(&own, mine)
	cell := mine[0].Pred.Case
	if a, b := own.Expect(&cell), o.Expect(&cell); wider(b.TPOT, a.TPOT) <= 1 {
		t.Errorf("exact rows of the cell leave the interval at %+v, was %+v", a, b)
	}
	other := cell
	other.Model = "c/d"
	if a, b := own.Expect(&other), o.Expect(&other); a != b {
		t.Errorf("rows of a cell move the interval of another from %+v to %+v", b, a)
	}
	if _, known := o.Residuals["own/vllm · h200_sxm · a/b"]; known {
		t.Error("the overlay learned from was changed")
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	prepared := measuredtest.Clean(t, measuredtest.Predictor(), measuredtest.Rows(t))
	c := deployments.Fitting{Work: calibrate.Work{Iterations: 1, Workers: 2}, LeaveOut: deployments.Kinds()}
	f, err := c.Run(t.Context(), prepared)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.LeftOut) != len(deployments.Kinds()) {
		t.Fatalf("%d kinds left out", len(f.LeftOut))
	}
	for i, kind := range deployments.Kinds() {
		if l := f.LeftOut[i]; l.Kind != kind || len(l.Rows) != len(prepared) {
			t.Errorf("without %s: %d of %d rows predicted without %s", kind, len(l.Rows), len(prepared), l.Kind)
		}
	}
}

// wider says how much wider an error is than another one: their half-widths'
// ratio.
func wider(a, b calibration.Error) float64 { return (a.High - a.Low) / (b.High - b.Low) }
