package calibrate_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/calibrate"
	"plimsoll/internal/golden"
	"plimsoll/internal/serving"
	"plimsoll/internal/units"
)

// silicon is a sample of measured rows; testdata/README.md says whose and how they were chosen.
func silicon(t *testing.T) []calibrate.Row {
	t.Helper()
	const name = "silicon-sample.csv"
	file, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := calibrate.Read(file, name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSilicon shows what is predicted of every row of the sample, as the program is shipped, untuned and by the formulas of
// throughput-optimizer, and how far all of it lies from the measurements.
func TestSilicon(t *testing.T) {
	t.Parallel()
	measured := silicon(t)
	overlay := calibrate.Shipped()
	tuned, untuned := predictor(), predictor()
	tuned.Tune = overlay.Params().Tuning
	var out bytes.Buffer
	nothing := &calibrate.Overlay{Residuals: overlay.Residuals, Reach: overlay.Reach} // of an engine that was fitted
	for _, c := range []struct {
		name    string
		overlay *calibrate.Overlay
		rows    []calibrate.Compared
	}{
		{"as shipped", overlay, tuned.PredictAll(measured, 2)},
		{"untuned", nothing, untuned.PredictAll(measured, 2)},
		{"by formulas", overlay, untuned.AllFormulas(aggregated(measured), serving.Documented)},
		{"by formulas, steady", overlay, untuned.AllFormulas(aggregated(measured), serving.Steady)},
	} {
		fmt.Fprintf(&out, "# %s\n", c.name)
		for i := range c.rows {
			writeRow(&out, c.overlay, &c.rows[i])
		}
		writeErrors(&out, c.overlay, c.rows)
	}
	golden.Check(t, "testdata/silicon.golden", out.Bytes())
}

func aggregated(rows []calibrate.Row) []calibrate.Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r calibrate.Row) bool { return r.Mode != "agg" })
}

// writeRow prints a prediction: times in milliseconds, each with its 80 % interval.
func writeRow(out *bytes.Buffer, o *calibrate.Overlay, c *calibrate.Compared) {
	p := &c.Pred
	if p.Err != nil {
		fmt.Fprintf(out, "%s: %v\n", c.Row.ID, p.Err)
		return
	}
	e := o.Expect(&p.Case)
	low, high := e.Throughput.Interval(p.Throughput)
	fmt.Fprintf(out, "%s: TTFT %s, TPOT %s, %.6g tokens/s in %.6g to %.6g\n", c.Row.ID, spread(e.TTFT, p.TTFT), spread(e.TPOT, p.TPOT), p.Throughput, low, high)
	fmt.Fprintf(out, "\tcache of %d tokens, %.4g used, %d preempted, %d devices; %s\n", p.KVTokens, p.Case.KVPeak, p.Preempted, p.Case.Devices, e.Basis)
	if len(p.Assumed) > 0 {
		fmt.Fprintf(out, "\t%s\n", strings.Join(p.Assumed, "; "))
	}
}

func spread(e calibrate.Error, predicted units.Seconds) string {
	low, high := e.Times(predicted)
	return fmt.Sprintf("%.6g in %.6g to %.6g", predicted.Ms(), low.Ms(), high.Ms())
}

// writeErrors prints the errors of rows, of the clean ones and by engine.
func writeErrors(out *bytes.Buffer, o *calibrate.Overlay, rows []calibrate.Compared) {
	parts := []calibrate.Part{{Name: "all", Rows: rows}, {Name: "clean", Rows: calibrate.Clean(rows)}}
	parts = append(parts, calibrate.By(calibrate.Clean(rows), func(r *calibrate.Row) string { return r.Engine + " " + r.Mode })...)
	for _, p := range parts {
		g := calibrate.Summarize(p.Name, p.Rows)
		ttft, tpot := o.Coverage(p.Rows)
		fmt.Fprintf(out, "%s: %d of %d predicted, %d clean; within the intervals %.4f and %.4f\n", g.Name, g.Predicted, g.Rows, g.Clean, ttft, tpot)
		for _, e := range []struct {
			name string
			calibrate.Errors
		}{{"TTFT", g.TTFT}, {"TPOT", g.TPOT}} {
			fmt.Fprintf(out, "\t%s of %d: MAPE %.6g, median %.6g, p90 %.6g, bias %.6g\n", e.name, e.Rows, e.MAPE, e.MedianAPE, e.P90, e.Bias)
		}
	}
}

// TestSiliconDoctor shows which rows of the sample are doubted, and why.
func TestSiliconDoctor(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	for _, f := range predictor().Examine(silicon(t)) {
		fmt.Fprintf(&out, "%s (%s): %s: %s", f.Row.ID, f.Row.Quality, f.Rule, f.Why)
		if f.TTFTOnly {
			fmt.Fprint(&out, " (TTFT only)")
		}
		fmt.Fprintln(&out)
	}
	golden.Check(t, "testdata/silicon-doctor.golden", out.Bytes())
}

// quick are rows that take little time: of one engine, since the time of a fit grows with the cube of its groups, and with
// few requests.
func quick(rows []calibrate.Row) []calibrate.Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r calibrate.Row) bool { return r.Engine != "vllm" || r.Concurrency > 32 })
}

// TestSiliconFit shows what a small fit from scratch finds in the quick rows of the sample: the multipliers, for cells it
// has seen and for others, how well it predicts rows it was not given, and the intervals that follow.
func TestSiliconFit(t *testing.T) {
	t.Parallel()
	p := predictor()
	prepared := p.PrepareClean(quick(silicon(t)))
	c := calibrate.Calibration{Iterations: 1, Workers: 2, Validation: calibrate.Validation{Folds: 3, LeaveOut: []string{"system", "lengths"}}}
	f := c.Run(prepared)
	var overlay calibrate.Overlay
	overlay.Set(f.Params)
	overlay.Fitted(prepared)
	overlay.Reached(prepared)
	overlay.Learn(&calibrate.Evidence{
		Seen: calibrate.OfMode(f.ByConfiguration, "agg"), Unseen: calibrate.OfMode(f.ByCell, "agg"),
		Apart: calibrate.OfMode(f.ByConfiguration, "disagg"), Untuned: p.PredictPrepared(prepared, 2),
	})
	var out bytes.Buffer
	for _, c := range []calibrate.Part{
		{Name: "in sample", Rows: f.InSample}, {Name: "without their configuration", Rows: f.ByConfiguration}, {Name: "without their cell", Rows: f.ByCell},
		{Name: "without their system", Rows: f.LeftOut[0].Rows}, {Name: "without their lengths", Rows: f.LeftOut[1].Rows},
	} {
		g := calibrate.Summarize(c.Name, c.Rows)
		fmt.Fprintf(&out, "# %s: %d rows, TTFT MAPE %.6g, bias %.6g, TPOT MAPE %.6g, bias %.6g\n", g.Name, g.Rows, g.TTFT.MAPE, g.TTFT.Bias, g.TPOT.MAPE, g.TPOT.Bias)
	}
	if err := overlay.Write(&out); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/silicon-fit.golden", out.Bytes())
}
