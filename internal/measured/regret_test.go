package measured_test

import (
	"math"
	"testing"

	"plimsoll/internal/measured"
	"plimsoll/internal/units"
)

// TestRegrets: two layouts cross; a prediction that is right regrets nothing, one
// that is the wrong way round what the layouts differ by.
func TestRegrets(t *testing.T) {
	// A row whose device yields what is asked, for a user who gets what is asked.
	row := func(tp, concurrency int, user, device float64) measured.Row {
		const output = 1
		whole := float64(concurrency) * output / device / float64(tp)
		return measured.Row{
			Engine: "vllm", Mode: "agg", Input: 100, Output: output, LengthLow: 1, Concurrency: concurrency,
			Workers: measured.Workers{Count: 1, TP: tp, DP: 1, MoEEP: 1},
			TTFT:    units.Seconds(whole), TPOT: units.Seconds(1 / user),
		}
	}
	rows := []measured.Row{
		row(1, 1, 40, 40), row(1, 2, 20, 80), // best at 20
		row(2, 1, 80, 30), row(2, 2, 40, 50), row(2, 4, 20, 60), // best at 40
	}
	right := make([]measured.Compared, len(rows))
	for i := range rows {
		right[i] = measured.Compared{Row: &rows[i], Pred: measured.Prediction{TTFT: rows[i].TTFT, TPOT: rows[i].TPOT}}
	}
	got := measured.Regrets(right)
	if len(got) != 2 || got[0].Best != "TP=1 DP=1 EP=1" || got[1].Best != "TP=2 DP=1 EP=1" {
		t.Fatalf("want a choice at 20 and one at 40 tokens/s, got %+v", got)
	}
	for _, c := range got {
		if c.Regret != 0 || c.Chosen != c.Best || c.Layouts != 2 {
			t.Errorf("a prediction that is right regrets: %+v", c)
		}
	}
	for i, want := range []float64{1 - 70.0/80, 1 - 45.0/50} {
		if math.Abs(got[i].Blind-want) > 1e-9 {
			t.Errorf("by lot: want %g, got %g", want, got[i].Blind)
		}
	}
	// TP=1 predicted half as fast: no load of it reaches 40, and at 20 it yields less.
	for i := range 2 {
		right[i].Pred.TPOT *= 2
		right[i].Pred.TTFT *= 2
	}
	for i, want := range []float64{1 - 60.0/80, 0} {
		if c := measured.Regrets(right)[i]; math.Abs(c.Regret-want) > 1e-9 {
			t.Errorf("choice %d: want a regret of %g, got %+v", i, want, c)
		}
	}
}
