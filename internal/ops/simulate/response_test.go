package simulate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// TestResponse: JSON has the figures of the result, and what only some runs have is left out of the others.
func TestResponse(t *testing.T) {
	t.Parallel()
	check := func(what string, want, got any) {
		t.Helper()
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", what, d)
		}
	}
	run := func(traffic simulate.Traffic, l workload.Limits, roles ...deployment.Role) *simulate.Response {
		t.Helper()
		q := simulate.Request{Deployment: deployment.Deployment{Model: "Qwen/Qwen3-8B"}, Traffic: traffic, Limits: l}
		q.Requests, q.Output = 20, 16
		for _, role := range roles {
			q.Deployment.Pools = append(q.Deployment.Pools, deployment.Pool{Role: role})
		}
		r, err := simulate.Run(t.Context(), new(session.Session), q)
		if err != nil {
			t.Fatal(err)
		}
		check("times", []float64{r.Result.TTFT.Mean.Ms(), r.Result.TPOT.P95.Ms()}, []float64{r.TTFT.Mean, r.TPOT.P95})
		check("rates", []float64{r.Result.RequestRate, r.Result.OutputRate}, []float64{r.RequestRate, r.OutputRate.Value})
		return r
	}
	r := run(simulate.Traffic{Rate: 3}, workload.Limits{}, deployment.Both)
	check("no limits, no chance", (*float64)(nil), r.Judged.Chance)
	check("the rate decides the throughput", figures.Sure(r.Result.OutputRate), r.OutputRate)
	check("one pool is both", []float64{r.Result.Workers.Busy, r.Result.Workers.Busy}, []float64{r.Busy, r.PrefillBusy})
	check("no notes are a list", []string{}, r.Notes)

	l := workload.Limits{TPOT: 5 * units.Millisecond}
	r = run(simulate.Traffic{Concurrency: 8}, l, deployment.Prefill, deployment.Decode)
	s := &r.Result
	check("chance", r.Expected.Chance(s.Times(0), l), *r.Judged.Chance)
	check("interval of a closed loop", r.Expected.Throughput.Of(s.OutputRate), r.OutputRate)
	check("two pools", []float64{s.Decode.Busy, s.Workers.Busy}, []float64{r.Busy, r.PrefillBusy})
}
