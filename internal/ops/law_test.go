package ops_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
)

// TestLittle: in every answer of a steady state requests in flight are those served times how long they take, to 1 %, and of clients
// that wait for their answers never more than there are; and the times that are judged are those of the statistic, with an interval
// that is wider for a percentile than for the mean.
func TestLittle(t *testing.T) {
	t.Parallel()
	world := &session.Session{Memo: &session.Memo{}}
	rapid.Check(t, func(t *rapid.T) {
		r := simulate.Request{
			Deployment: deployment.Deployment{
				Model: rapid.SampledFrom([]string{"Qwen/Qwen3-8B", "meta-llama/Llama-3.1-8B"}).Draw(t, "model"), System: "h200_sxm",
				Engine: deployment.Engine{Name: rapid.SampledFrom([]string{"vllm", "sglang", "trtllm"}).Draw(t, "engine")},
				Pools:  []deployment.Pool{{Layout: parallel.Layout{TP: rapid.SampledFrom([]int{1, 2}).Draw(t, "TP")}}},
			},
			Statistic: workload.Statistic{Percentile: rapid.SampledFrom([]float64{0, 50, 90}).Draw(t, "percentile")},
		}
		r.Input, r.Output, r.LengthLow = rapid.IntRange(10, 2000).Draw(t, "input"), rapid.IntRange(2, 50).Draw(t, "output"), 0.5
		if rapid.Bool().Draw(t, "closed") {
			r.Concurrency = rapid.IntRange(1, 32).Draw(t, "concurrency")
		} else {
			r.Rate = rapid.Float64Range(0.01, 20).Draw(t, "rate")
		}
		r.Requests, r.Protocol = 2000, simulate.Steady
		_, x, err := simulate.Once(t.Context(), world, &r)
		if err != nil {
			t.Fatal(err)
		}
		if x.Steady.Ended != string(statistics.Precise) {
			return
		}
		if l := x.RequestRate * x.Latency.Mean / 1e3; math.Abs(l-x.InFlight.Mean) > 0.01*l {
			t.Fatalf("%g in flight, %g requests/s take %g ms", x.InFlight.Mean, x.RequestRate, x.Latency.Mean)
		}
		if n := r.Concurrency; n > 0 && (x.InFlight.Max > n || x.InFlight.Mean > float64(n)) {
			t.Fatalf("%d clients have %+v in flight", n, x.InFlight)
		}
		j, want := &x.Judged, map[float64]float64{0: x.TTFT.Mean, 50: x.TTFT.P50, 90: x.TTFT.P90}[r.Percentile]
		if j.Statistic != r.Named() || j.TTFT.Value != want || !(j.TTFT.Low < want && want < j.TTFT.High) {
			t.Fatalf("%+v, want %g", j, want)
		}
		if r.Percentile > 0 && j.TTFT.High/j.TTFT.Low <= x.TTFT.High/x.TTFT.Low {
			t.Fatalf("%s is as certain as the mean: %+v", j.Statistic, j.TTFT)
		}
	})
}
