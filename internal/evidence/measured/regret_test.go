package measured_test

import (
	"math"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
)

// TestRegrets: two layouts cross; a prediction that is right regrets nothing, one
// that is the wrong way round what the layouts differ by.
func TestRegrets(t *testing.T) {
	// A row whose device yields device tokens/s and whose user gets user tokens/s.
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
		if math.Abs(got[i].Random-want) > 1e-9 {
			t.Errorf("random choice: want %g, got %g", want, got[i].Random)
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

// TestRegretsOfOneKind: throughput of a whole run counts the input, that of TTFT and TPOT does not: layouts of which one has either are no choice.
func TestRegretsOfOneKind(t *testing.T) {
	layout := func(tp int, ttft units.Seconds, perDevice float64) measured.Compared {
		r := &measured.Row{
			Engine: "vllm", Mode: "agg", Input: 1000, Output: 100, LengthLow: 1, Concurrency: 4,
			Workers: measured.Workers{Count: 1, TP: tp, DP: 1, MoEEP: 1}, TTFT: ttft, TPOT: 0.01, PerGPU: perDevice,
		}
		return measured.Compared{Row: r, Pred: measured.Prediction{TTFT: 0.1, TPOT: r.TPOT, PerGPU: perDevice}}
	}
	times, runs := []measured.Compared{layout(1, 0.1, 0), layout(2, 0.1, 0)}, []measured.Compared{layout(1, 0, 4000), layout(2, 0, 2000)}
	if got := measured.Regrets([]measured.Compared{times[0], runs[1]}); len(got) != 0 {
		t.Errorf("compared across kinds: %+v", got)
	}
	if got := measured.Regrets(append(times, runs...)); len(got) != 2 || got[0].Layouts != 2 || got[1].Layouts != 2 {
		t.Errorf("want a choice of each kind, got %+v", got)
	}
}

// TestPromises: where no layout is predicted to be fast enough the one that comes nearest is chosen, by its fastest load;
// one whose every load is predicted faster promises what its largest yields.
func TestPromises(t *testing.T) {
	rows := make([]measured.Row, 0, 4) // pointers into it stay
	var compared []measured.Compared
	add := func(tp int, user, predicted, device float64) {
		const output = 1
		rows = append(rows, measured.Row{
			Engine: "vllm", Mode: "agg", Input: 100, Output: output, LengthLow: 1, Concurrency: len(rows) + 1,
			Workers: measured.Workers{Count: 1, TP: tp, DP: 1, MoEEP: 1},
		})
		r := &rows[len(rows)-1]
		r.TTFT, r.TPOT = units.Seconds(float64(r.Concurrency)/device/float64(tp)), units.Seconds(1/user)
		compared = append(compared, measured.Compared{Row: r, Pred: measured.Prediction{TTFT: r.TTFT, TPOT: units.Seconds(1 / predicted)}})
	}
	// At 40 tokens a second TP 1 yields 10 and TP 2 yields 20; predicted are at most 30 and 28.
	add(1, 40, 30, 10)
	add(1, 20, 10, 15)
	add(2, 40, 28, 20)
	add(2, 20, 25, 25)
	got := measured.Regrets(compared)
	if len(got) != 2 || got[1].Interactivity != 40 || got[1].Chosen != "TP=1 DP=1 EP=1" || math.Abs(got[1].Regret-0.5) > 1e-9 {
		t.Errorf("%+v", got)
	}
	// At 20 every load of TP 2 is predicted faster: it promises the 25 of its largest; TP 1, between 10 and 30, less.
	if got[0].Interactivity != 20 || got[0].Chosen != "TP=2 DP=1 EP=1" || got[0].Regret != 0 {
		t.Errorf("%+v", got[0])
	}
}
