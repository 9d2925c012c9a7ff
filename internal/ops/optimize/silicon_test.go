package optimize_test

import (
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
)

// TestSilicon: the best row of the guide's formulas on an Ascend device comes with what it reaches where it runs: the figures that
// simulate has for the same deployment and load, slower than the formulas. A device without kernels, a GPU and a request that no
// simulation supports have none.
func TestSilicon(t *testing.T) {
	t.Parallel()
	s := run(t, search32B(a3)).Devices[0].Searches[0]
	if s.Silicon == nil || s.Silicon.Tokens.Value >= s.Best.Best.Throughput || s.Silicon.Tokens.Low >= s.Silicon.Tokens.Value || s.Silicon.Basis == "" {
		t.Fatalf("%+v beside %g", s.Silicon, s.Best.Best.Throughput)
	}
	q := simulate.Request{Deployment: on("Qwen/Qwen3-32B", a3, s.Best.Candidate.Layout)}
	q.Input, q.Output, q.Concurrency = 2000, 500, s.Best.Concurrency
	q.Deployment.Pools[0].Settings = []string{"max_sequences=1024"}
	x, err := simulate.Run(t.Context(), new(session.Session), q)
	if err != nil {
		t.Fatal(err)
	}
	if ratio := x.OutputRate.Value / s.Silicon.Tokens.Value; ratio < 0.9 || ratio > 1.1 {
		t.Errorf("simulated %g, beside the formulas %g", x.OutputRate.Value, s.Silicon.Tokens.Value)
	}
	hit := search32B(a3)
	hit.PrefixHitRate = 0.5
	for what, q := range map[string]optimize.Request{"TEST_DEVICE": search32B("TEST_DEVICE"), "h200_sxm": search32B("h200_sxm"), "a hit rate": hit} {
		q.BatchRange = []int{8}
		if s := run(t, q).Devices[0].Searches[0].Silicon; s != nil {
			t.Errorf("%s: %+v", what, s)
		}
	}
}
