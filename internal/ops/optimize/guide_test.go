package optimize_test

import (
	"math"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
)

// TestGuideIsTheOptimizer: what simulate shows as the guide's figures is the row that throughput-optimizer has for the same layout and batch.
func TestGuideIsTheOptimizer(t *testing.T) {
	t.Parallel()
	asked := search32B(a3)
	asked.Modelling.Fusion = "" // as the guide has it
	best := run(t, asked).Devices[0].Searches[0].Best
	q := simulate.Request{Deployment: on("Qwen/Qwen3-32B", a3, best.Candidate.Layout)}
	q.Input, q.Output, q.Concurrency = 2000, 500, best.Concurrency
	x, err := simulate.Run(t.Context(), new(session.Session), q)
	if err != nil {
		t.Fatal(err)
	}
	g := x.Guide
	if g == nil {
		t.Fatal("no word of the guide")
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }
	if !near(g.Throughput, best.Best.Throughput) || !near(g.TTFT, best.Best.TTFT.Ms()) || !near(g.TPOT, best.Best.TPOT.Ms()) {
		t.Errorf("%+v, the optimizer has %g tokens/s, TTFT %g ms, TPOT %g ms", g, best.Best.Throughput, best.Best.TTFT.Ms(), best.Best.TPOT.Ms())
	}
	q.Deployment.Pools[0].Replicas = 2
	q.Concurrency *= 2
	if two, err := simulate.Run(t.Context(), new(session.Session), q); err != nil || two.Guide == nil || !near(two.Guide.Throughput, 2*best.Best.Throughput) {
		t.Errorf("two replicas: %+v, %v", two, err)
	}
	q.Deployment.System = "h200_sxm"
	if other, err := simulate.Run(t.Context(), new(session.Session), q); err != nil || other.Guide != nil {
		t.Errorf("a GPU: %+v, %v", other.Guide, err)
	}
}
