package plan

import (
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// TestTogether: searched together, the engines and modes of a system have the best that they have when each is searched alone, to the digit.
func TestTogether(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]Request{"load": loadPlan(), "devices": smallPlan()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r.Engines, r.Modes = []string{"vllm", "sglang"}, nil
			p, _, err := start(&session.Session{}, &r)
			if err != nil {
				t.Fatal(err)
			}
			all, err := experiments(p.world, &r)
			if err != nil {
				t.Fatal(err)
			}
			var want *Found
			for _, e := range all {
				alone, failed := p.contenders(t.Context(), []experiment.Experiment{e}, false)
				if failed[0] != nil {
					t.Fatal(failed[0])
				}
				if want == nil || alone[0].Score > want.Score {
					want = alone[0]
				}
			}
			found, failed := p.contenders(t.Context(), all, false)
			rows := 0
			for i, got := range found {
				if failed[i] != nil {
					t.Error(failed[i])
				}
				if got == nil {
					continue
				}
				rows++
				if label(&got.Experiment) != label(&want.Experiment) || got.Score != want.Score || got.InWords() != want.InWords() || got.TTFT != want.TTFT || got.Throughput != want.Throughput {
					t.Errorf("together %s %s: score %g, TTFT %v, alone %s %s: %g, %v", label(&got.Experiment), got.InWords(), got.Score, got.TTFT,
						label(&want.Experiment), want.InWords(), want.Score, want.TTFT)
				}
			}
			if len(all) < 4 || rows != 1 {
				t.Errorf("%d rows of %d experiments, want one", rows, len(all))
			}
		})
	}
}

// TestDayNotTogether: for a day every engine and mode is found, since the cheapest schedule need not be that of the best peak.
func TestDayNotTogether(t *testing.T) {
	t.Parallel()
	r := loadPlan()
	r.Rate, r.Daily, r.Modes = 0, []float64{4, 1}, nil
	p, _, err := start(&session.Session{}, &r)
	if err != nil {
		t.Fatal(err)
	}
	all, err := experiments(p.world, &r)
	if err != nil {
		t.Fatal(err)
	}
	found, failed := p.contenders(t.Context(), all, false)
	for i := range all {
		if failed[i] != nil || found[i] == nil || found[i].Day == nil {
			t.Errorf("%s: %v, %v", label(&all[i]), found[i], failed[i])
		}
	}
	if len(all) < 2 {
		t.Errorf("%d experiments, want several", len(all))
	}
}
