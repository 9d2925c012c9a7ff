package ops_test

import (
	"math"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/configure"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/recommend"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// unsized is an experiment without a number of devices, with small units.
func unsized(m experiment.ServingMode) experiment.Experiment {
	return experiment.Experiment{
		Name: string(m), Mode: m, Model: "Qwen/Qwen3-8B", System: "h200_sxm", Engine: deployment.Engine{Name: "vllm"}, Input: 500, Output: 60,
		Limits:  workload.Limits{TTFT: 500 * units.Millisecond, TPOT: 10 * units.Millisecond},
		Replica: experiment.ReplicaSpace{MaxDevices: 4},
	}
}

// remembers is a session that tests share, so that they simulate a deployment once.
var remembers = &session.Session{Memo: &session.Memo{Size: 10_000}}

// TestRecommend: a row has as many copies as the target needs by the capacity of one copy,
// or more; rows are ranked by devices; and the search on one device less than the least
// finds nothing that carries the target.
func TestRecommend(t *testing.T) {
	t.Parallel()
	for _, r := range []recommend.Request{{Rate: 100}, {Concurrency: 700}, {Rate: 0.5}, {Concurrency: 1}} {
		r.Experiments = []experiment.Experiment{unsized(experiment.Aggregated), unsized(experiment.Disaggregated)}
		r.Top = 100
		got, err := recommend.Run(t.Context(), remembers, r)
		if err != nil {
			t.Fatal(err)
		}
		if got.At < 0 {
			t.Fatalf("%+v: none", r)
		}
		for i := range got.Results {
			x := &got.Results[i]
			least := math.MaxInt
			for k := range x.Rows {
				n := &x.Rows[k]
				carries := n.Capacity.RequestRate / float64(n.Copies)
				if r.Concurrency > 0 {
					carries = float64(n.Capacity.Concurrency / n.Copies)
				}
				if want := int(math.Ceil(max(r.Rate, float64(r.Concurrency)) / carries * (1 - 1e-12))); n.Least != want || n.Copies < want {
					t.Errorf("%+v, %s: %d copies, at least %d, want %d", r.Rate, x.Experiment.Name, n.Copies, n.Least, want)
				}
				if load := max(r.Rate, float64(r.Concurrency)) / carries / float64(n.Copies); math.Abs(load-n.Load) > 1e-9 || load > 1+1e-9 {
					t.Errorf("load %g, want %g", n.Load, load)
				}
				if n.Deployment.Devices() != n.Used || n.Judged.Sure() < search.DefaultConfidence {
					t.Errorf("%+v has %d devices, the row %d; within limits %g", n.Deployment, n.Deployment.Devices(), n.Used, n.Judged.Sure())
				}
				if k > 0 && (n.Used < x.Rows[k-1].Used || n.Used == x.Rows[k-1].Used && n.Capacity.Throughput > x.Rows[k-1].Capacity.Throughput) {
					t.Errorf("row %d needs %d, the one before %d", k, n.Used, x.Rows[k-1].Used)
				}
				if n.Used < got.Results[got.At].Rows[0].Used {
					t.Errorf("%s needs %d devices, the best %d", x.Experiment.Name, n.Used, got.Results[got.At].Rows[0].Used)
				}
				least = min(least, n.Least*n.Used/n.Copies)
			}
			if r.Rate == 0 || least <= 2 {
				continue
			}
			e := unsized(x.Experiment.Mode)
			e.Devices = least - 1
			found, err := configure.Run(t.Context(), remembers, configure.Request{Experiments: []experiment.Experiment{e}})
			if err != nil {
				t.Fatal(err)
			}
			const oneByOne = 1.03 // requests that follow each other carry a little more than those that come at random
			if rows := found.Results[0].Rows; len(rows) > 0 && rows[0].RequestRate >= r.Rate*oneByOne {
				t.Errorf("%s: %d devices carry %g requests/s, %d were said to be needed for %g", e.Name, e.Devices, rows[0].RequestRate, least, r.Rate)
			}
		}
	}
}

// TestRecommendAtRandom: copies that carry a rate only when requests come one after the
// other are not enough.
func TestRecommendAtRandom(t *testing.T) {
	e := unsized(experiment.Aggregated)
	got, err := recommend.Run(t.Context(), remembers, recommend.Request{Experiments: []experiment.Experiment{e}, Rate: 300})
	if err != nil {
		t.Fatal(err)
	}
	for i := range got.Results[0].Rows {
		n := &got.Results[0].Rows[i]
		one := n.Deployment
		one.Pools = append([]deployment.Pool{}, one.Pools...)
		one.Pools[0].Replicas = 1
		simulate := func(copies int) *simulate.Response {
			q := simulate.Request{Deployment: one, Limits: e.Limits}
			q.Rate, q.Input, q.Output = 300/float64(copies), e.Input, e.Output
			r, err := simulate.Run(t.Context(), new(session.Session), q)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		if r := simulate(n.Copies); r.Result.TTFT.Mean != n.TTFT || r.Result.TPOT.Mean != n.TPOT || r.Judged.Sure() != n.Judged.Sure() {
			t.Errorf("%d copies: the row has %v and %v, the simulation %v and %v", n.Copies, n.TTFT, n.TPOT, r.Result.TTFT.Mean, r.Result.TPOT.Mean)
		}
		if n.Copies > n.Least {
			if r := simulate(n.Copies - 1); n.Copies < 64 && r.Judged.Sure() >= search.DefaultConfidence {
				t.Errorf("%d copies would do, got %d", n.Copies-1, n.Copies)
			}
		}
	}
}

// TestRecommendNothing: what cannot be met is said, with what comes nearest.
func TestRecommendNothing(t *testing.T) {
	e := unsized(experiment.Disaggregated)
	e.Limits.TPOT = 0.1 * units.Millisecond
	wrong := unsized(experiment.Aggregated)
	wrong.Model = "Qwen/none"
	got, err := recommend.Run(t.Context(), new(session.Session), recommend.Request{Experiments: []experiment.Experiment{e, wrong}, Rate: 1})
	if err != nil {
		t.Fatal(err)
	}
	x := &got.Results[0]
	if got.At != -1 || len(x.Rows) > 0 || x.Near == nil || x.Nearest.TPOT <= e.Limits.TPOT || x.Failure != "" {
		t.Errorf("got %+v", x)
	}
	if got.Results[1].Failure == "" {
		t.Errorf("no failure of an unknown model: %+v", got.Results[1])
	}
	for want, r := range map[string]recommend.Request{
		"no experiment to run": {Rate: 1},
		"give one of target_request_rate and target_concurrency":     {Experiments: []experiment.Experiment{e}},
		"target_request_rate must be positive and finite, got -1":    {Experiments: []experiment.Experiment{e}, Rate: -1},
		"target_request_rate must be positive and finite, got +Inf":  {Experiments: []experiment.Experiment{e}, Rate: math.Inf(1)},
		"target_concurrency must be between 1 and 100000000, got -1": {Experiments: []experiment.Experiment{e}, Concurrency: -1},
	} {
		if _, err := recommend.Run(t.Context(), new(session.Session), r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
