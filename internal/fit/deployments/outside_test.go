package deployments_test

import (
	"math"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
	"github.com/plimsoll-project/plimsoll/internal/fit/deployments"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// TestOutside: of rows that err evenly up to a factor, four in five lie inside the widened interval, whichever laboratory
// is left out; familiar and doubtful rows tell nothing.
func TestFromOutside(t *testing.T) {
	t.Parallel()
	const n, most = 200, 1.0
	var rows []measured.Compared
	add := func(source, quality string, off float64) {
		row := &measured.Row{Source: source, Quality: quality, TTFT: 1, TPOT: units.Seconds(math.Exp(off)), PerGPU: 1}
		rows = append(rows, measured.Compared{Row: row, Pred: measured.Prediction{TTFT: 1, TPOT: 1, PerGPU: 1, Case: calibration.Case{Concurrency: 1}}})
	}
	for i := range n {
		off := most * (float64(i) + 0.5) / n
		add([]string{"one/lab:a.md", "another:b.md"}[i%2], "", off)
	}
	add("source_file=x", "", 9)
	add("one/lab:c.md", "eager", 9)
	o := &calibration.Overlay{Residuals: map[string]calibration.Residuals{"uncalibrated": {Rows: 1000, Each: figures.Each[calibration.Error]{TPOT: calibration.Error{Low: -0.3, High: 0.3}}}}}
	got := deployments.FromOutside(o, rows)
	if len(got) != 1 || got[0].Rows != n || got[0].Sources != 2 {
		t.Fatalf("got %+v", got)
	}
	g := got[0]
	if half := calibration.Widened(0.3, g.TPOT); math.Abs(half-0.8*most) > 0.02 {
		t.Errorf("the interval's half-width is %g, and 80 %% are within 0.8", half)
	}
	if math.Abs(g.Before[1]-0.3) > 0.02 || math.Abs(g.Held[1]-0.8) > 0.03 {
		t.Errorf("inside %.2f before, %.2f after", g.Before[1], g.Held[1])
	}
	if g.TTFT != 0 || g.Throughput != 0 {
		t.Errorf("what is right is widened: %+v", g)
	}
}
