package nvidia_test

import (
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/compat/nvidia"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/recommend"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// TestRecommendIsPlan: "recommend" and "plan --rate" size the same deployments. A unit of 11 GPUs is none of the sizes that the tool
// gives to replicas of a cluster.
func TestRecommendIsPlan(t *testing.T) {
	t.Parallel()
	s := &session.Session{Memo: &session.Memo{Size: 10_000}}
	f := nvidia.Flags{
		Model: "Qwen/Qwen3-32B-FP8", System: "h200_sxm", Backend: "trtllm", Input: 3000, Output: 512, TTFT: 1000, TPOT: 20,
	}
	asked, err := f.PlanUnits()
	if err != nil {
		t.Fatal(err)
	}
	const rate = 20
	got, err := recommend.Run(t.Context(), s, recommend.Request{Experiments: asked.Experiments, Rate: rate})
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Run(t.Context(), s, plan.Request{
		Model: f.Model, Systems: []string{f.System}, Engines: []string{f.Backend}, Rate: rate, NoChanges: true,
		Workloads: []session.Workload{{Input: f.Input, Output: f.Output}},
		Limits:    workload.Limits{TTFT: 1, TPOT: 20 * units.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := p.Contenders[0].GPUs; got.GPUs == nil || *got.GPUs != want {
		t.Errorf("recommend needs %v GPUs, plan %d", got.GPUs, want)
	}
}
