package deployments_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/golden"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibrate"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured/measuredtest"
	"github.com/plimsoll-project/plimsoll/internal/fit/deployments"
)

// quick are rows that take little time: of one engine, since the time of a fit grows with the cube of its groups, and with
// few requests.
func quick(rows []measured.Row) []measured.Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r measured.Row) bool { return r.Engine != "vllm" || r.Concurrency > 32 })
}

// TestSiliconFit shows what a small fit from scratch finds in the quick rows of the sample: the multipliers, for cells it
// has seen and for others, how well it predicts rows it was not given, and the intervals that follow.
func TestSiliconFit(t *testing.T) {
	t.Parallel()
	p := measuredtest.Predictor()
	prepared := measuredtest.Clean(t, p, quick(measuredtest.Silicon(t)))
	c := deployments.Fitting{Work: calibrate.Work{Iterations: 1, Workers: 2}, Folds: 3, LeaveOut: []string{"system", "lengths"}}
	f, err := c.Run(t.Context(), prepared)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := p.PredictPrepared(t.Context(), prepared, 2)
	if err != nil {
		t.Fatal(err)
	}
	overlay := f.Overlay
	deployments.Reached(overlay, prepared)
	deployments.Learn(overlay, &deployments.Evidence{
		Seen: measured.OfMode(f.ByConfiguration, "agg"), Unseen: measured.OfMode(f.ByCell, "agg"),
		Disaggregated: measured.OfMode(f.ByConfiguration, "disagg"), Uncalibrated: plain,
	})
	var out bytes.Buffer
	for _, c := range []measured.Part{
		{Name: "in sample", Rows: f.InSample},
		{Name: "without their configuration", Rows: f.ByConfiguration},
		{Name: "without their cell", Rows: f.ByCell},
		{Name: "without their system", Rows: f.LeftOut[0].Rows},
		{Name: "without their lengths", Rows: f.LeftOut[1].Rows},
	} {
		g := measured.Summarize(c.Name, c.Rows)
		fmt.Fprintf(&out, "# %s: %d rows, TTFT MAPE %.6g, bias %.6g, TPOT MAPE %.6g, bias %.6g\n", g.Name, g.Rows, g.TTFT.MAPE, g.TTFT.Bias, g.TPOT.MAPE, g.TPOT.Bias)
	}
	if err := overlay.Write(&out); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/silicon-fit.golden", out.Bytes())
}
