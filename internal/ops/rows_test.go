package ops_test

import (
	"slices"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/configure"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// TestConfiguredRows: an experiment has more different rows than layouts, and the best of them is on the frontier: nothing there is better
// in both figures.
func TestConfiguredRows(t *testing.T) {
	e := experiment.Experiment{
		Name: "agg", Model: "Qwen/Qwen3-8B", System: "h200_sxm", Engine: deployment.Engine{Name: "vllm"}, Mode: experiment.Aggregated, Devices: 2,
		Input: 1000, Output: 200, Limits: workload.Limits{TTFT: 0.3, TPOT: 0.01},
	}
	disagg := e
	disagg.Name, disagg.Mode, disagg.Devices = "disagg", experiment.Disaggregated, 4
	e.Complete()
	disagg.Complete()
	out, err := configure.Run(t.Context(), new(session.Session), configure.Request{Experiments: []experiment.Experiment{e, disagg}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range out.Results {
		x := &out.Results[i]
		if i == 0 && len(x.Rows) < 3 { // two layouts, and lower loads of them
			t.Errorf("%s: %d rows", x.Experiment.Name, len(x.Rows))
		}
		best := &x.Rows[0]
		isBest := func(s experiment.Speed) bool {
			return s.User == best.User() && s.Device == best.PerDevice(&x.Experiment)
		}
		if !slices.ContainsFunc(x.Frontier, isBest) {
			t.Errorf("%s: the best row is not on the frontier", x.Experiment.Name)
		}
		for k := range x.Rows {
			o := &x.Rows[k]
			if o.Version == "" {
				t.Errorf("%s: row %d has no version", x.Experiment.Name, k)
			}
			if o.Throughput > best.Throughput {
				t.Errorf("%s: row %d carries more than the best", x.Experiment.Name, k)
			}
			for _, other := range x.Rows[:k] {
				if other.Concurrency == o.Concurrency && other.Copies == o.Copies && other.X == o.X && other.Y == o.Y && other.Deployment.Pools[len(other.Deployment.Pools)-1].Layout == o.Deployment.Pools[len(o.Deployment.Pools)-1].Layout {
					t.Errorf("%s: row %d is there twice", x.Experiment.Name, k)
				}
			}
		}
		for _, s := range x.Frontier {
			if s.Option == nil || !isBest(s) && s.User >= best.User() && s.Device >= best.PerDevice(&x.Experiment) {
				t.Errorf("%s: %+v beats the best row, or has no deployment", x.Experiment.Name, s)
			}
		}
	}
}
