package plan

import (
	"slices"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/cost/money"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
)

// TestRank: systems are ranked by what they cost, and those of one system by their load: a little energy makes no other engine the best,
// and a system between the two costs of another comes before neither's best.
func TestRank(t *testing.T) {
	t.Parallel()
	found := func(system, engine string, score, month float64) Found {
		e := experiment.Experiment{System: system}
		e.Engine.Name = engine
		return Found{Experiment: e, Meets: true, Score: score, Cost: money.Cost{USDPerHour: 1, PerMonth: month}}
	}
	all := []Found{found("a", "sglang", -1.4, 12648), found("b", "vllm", -2, 12650), found("a", "vllm", -1.2, 12652), found("c", "vllm", -9, 12660)}
	ByCost.rank(all)
	var got []string
	for i := range all {
		got = append(got, all[i].Experiment.System+" "+all[i].Experiment.Engine.Name)
	}
	if want := []string{"b vllm", "a vllm", "a sglang", "c vllm"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
