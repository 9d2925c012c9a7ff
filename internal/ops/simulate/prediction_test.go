package simulate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
)

// TestSimulate: what only some runs have is left out of the others.
func TestPrediction(t *testing.T) {
	t.Parallel()
	check := func(what string, want, got any) {
		t.Helper()
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", what, d)
		}
	}
	r := &simulate.Response{Chance: 0.25, Notes: []string{"a note"}}
	r.Result.OutputRate, r.Result.Workers = 100, sim.PoolUse{Busy: 0.5}
	r.Request.Rate = 3
	j := r.Prediction()
	check("no limits, no chance", (*float64)(nil), j.Chance)
	check("the rate decides the throughput", (*calibration.Interval)(nil), j.OutputInterval)
	check("one pool is both", []float64{0.5, 0.5}, []float64{j.Busy, j.PrefillBusy})
	check("notes", []string{"a note"}, j.Notes)

	r.Notes = nil
	r.Request.Concurrency, r.Request.Limits = 8, workload.Limits{TPOT: 50 * units.Millisecond}
	r.Result.Decode = &sim.PoolUse{Busy: 0.75}
	j = r.Prediction()
	check("chance", 0.25, *j.Chance)
	check("interval of a closed loop", &calibration.Interval{Low: 100, High: 100}, j.OutputInterval)
	check("two pools", []float64{0.75, 0.5}, []float64{j.Busy, j.PrefillBusy})
	check("no notes are a list", []string{}, j.Notes)
}
