package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// TestMemo: a world that remembers answers like one that does not, whatever it was asked
// before, and forgets what it has no room for.
func TestMemo(t *testing.T) {
	alone := map[units.Seconds]*Response{}
	for _, size := range []int{1, 10_000} {
		w := &session.Session{Memo: &session.Memo{Size: size}}
		for _, tpot := range []units.Seconds{15, 12, 15, 30} {
			r := smallPlan()
			r.Limits.TPOT, r.Engines, r.Modes = tpot*units.Millisecond, []string{"vllm"}, []experiment.ServingMode{experiment.Aggregated}
			got, err := Run(t.Context(), w, r)
			if err != nil {
				t.Fatal(err)
			}
			if alone[tpot] == nil {
				alone[tpot] = planned(t, &session.Session{}, r)
			}
			if diff := cmp.Diff(alone[tpot], got); diff != "" {
				t.Errorf("room for %d, TPOT %g ms (-without +with memory):\n%s", size, float64(tpot), diff)
			}
		}
	}
}

// BenchmarkPlanAgain is a plan whose limits move, as on a page.
func BenchmarkPlanAgain(b *testing.B) {
	for _, size := range []int{0, 100_000} {
		b.Run(map[int]string{0: "memo=no", 100_000: "memo=yes"}[size], func(b *testing.B) {
			w := &session.Session{Memo: &session.Memo{Size: size}}
			r := Request{
				Model: "Qwen/Qwen3-32B", Systems: []string{"h200_sxm"}, Devices: 32, Workloads: []session.Workload{{Input: 3000, Output: 512}}, NoChanges: true,
			}
			r.Limits.TTFT = 1000 * units.Millisecond
			for i := 0; b.Loop(); i++ {
				r.Limits.TPOT = units.Seconds(10+0.1*float64(i%20)) * units.Millisecond
				if _, err := Run(b.Context(), w, r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
