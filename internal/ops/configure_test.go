package ops_test

import (
	"math/rand/v2"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/launch/files"
	"github.com/plimsoll-project/plimsoll/internal/ops/configure"
	"github.com/plimsoll-project/plimsoll/internal/ops/deploy"
	"github.com/plimsoll-project/plimsoll/internal/ops/estimate"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// anyExperiment is a small experiment.
func anyExperiment(r *rand.Rand) experiment.Experiment {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	e := experiment.Experiment{
		Name: "x", Mode: experiment.ServingMode(pick("agg", "disagg")),
		Model: pick("Qwen/Qwen3-8B", "Qwen/Qwen3-30B-A3B", "openai/gpt-oss-20b", "meta-llama/Llama-3.1-8B-Instruct"), System: pick("h200_sxm", "h100_sxm", "b200_sxm", "a100_sxm", "gb200"),
		Devices: 2 + r.IntN(3), Engine: deployment.Engine{Name: pick("vllm", "sglang", "trtllm")},
		Input: 100 + r.IntN(900), Output: 8 + r.IntN(24),
	}
	if e.Mode == experiment.Disaggregated && r.IntN(3) == 0 {
		e.DecodeSystem = pick("h200_sxm", "b200_sxm")
	}
	if r.IntN(3) == 0 {
		e.Prefix = r.IntN(e.Input)
	}
	e.Workers.MaxBatch, e.Decode.MaxBatch = 1+r.IntN(16), 4+r.IntN(29)
	if r.IntN(2) == 0 {
		e.Limits = workload.Limits{TTFT: units.Seconds(0.1 + r.Float64()), TPOT: units.Seconds(0.005 + 0.03*r.Float64())}
	}
	return e
}

// TestTokenBudgets: other token budgets never make a layout worse than the engine's own
// does, but for what it may give up to wait less; some make it better, and the files say which.
func TestTokenBudgets(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	other := 0
	for range 8 {
		e := anyExperiment(r)
		e.Mode, e.System, e.DecodeSystem, e.Prefix = experiment.Aggregated, "h200_sxm", "", 0
		e.Input, e.Workers.MaxBatch = 1000+r.IntN(3000), 24
		e.Limits = workload.Limits{TTFT: units.Seconds(0.2 + r.Float64()), TPOT: units.Seconds(0.01 + 0.03*r.Float64())}
		fixed := e
		fixed.Engine.Settings = []string{"token_budget=8192"}
		res, err := configure.Run(t.Context(), new(session.Session), configure.Request{Experiments: []experiment.Experiment{e, fixed}, How: experiment.How{Top: 20}})
		if err != nil {
			t.Fatal(err)
		}
		free := map[string]*experiment.Option{}
		for i := range res.Results[0].Rows {
			o := &res.Results[0].Rows[i]
			if label := o.Deployment.Pools[0].Layout.Label(true); free[label] == nil { // the best of its layout is the first
				free[label] = o
			}
			if o.Budget != 8192 {
				other++
			}
			p, err := deploy.Plan(new(session.Session), &session.Sources{}, &res.Results[0].Experiment, o, launch.Site{})
			if err != nil {
				t.Fatal(err)
			}
			if v, err := p.Values(); err != nil || v[0].TokenBudget != o.Budget {
				t.Errorf("the files of a row with a budget of %d say %d: %v", o.Budget, v[0].TokenBudget, err)
			}
		}
		seen := map[string]bool{}
		for i := range res.Results[1].Rows {
			o := &res.Results[1].Rows[i]
			label := o.Deployment.Pools[0].Layout.Label(true)
			if seen[label] {
				continue
			}
			seen[label] = true
			if with := free[label]; with == nil || with.Throughput*(1+search.Tolerance) < o.Throughput || o.Budget != 8192 {
				t.Errorf("%s on %s: with the engine's budget %+v, with others %+v", label, e.System, o, with)
			}
		}
	}
	if other < 5 {
		t.Errorf("%d rows have another budget", other)
	}
}

// TestMorePrefixNeverLoses: of the same deployment with the same requests in flight, more
// tokens in the prefix cache are never slower and never carry less. One request at a time
// is so exactly; many may fall into another rhythm, by nearly a third where few prompts wait
// for steps that are bound by launches and so take as long with fewer tokens.
func TestMorePrefixNeverLoses(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	gained := 0
	for range 60 {
		e := anyExperiment(r)
		e.Prefix, e.DecodeSystem, e.Limits = 0, "", workload.Limits{}
		q := estimate.Request{Experiment: e, Workers: estimate.Workers{Count: 1, Batch: 16}, Prefill: estimate.Workers{Count: 1, Batch: 4}, Concurrency: 1}
		slack := 1e-9
		if r.IntN(2) == 0 {
			q.Concurrency, slack = 1+r.IntN(16), 0.3
		}
		if e.Mode == experiment.Aggregated && r.IntN(4) == 0 {
			q.Static = estimate.Whole
		}
		var first, before *estimate.Response
		for _, share := range []int{0, 10, 50, 90} {
			q.Experiment.Prefix = e.Input * share / 100
			got, err := estimate.Run(t.Context(), new(session.Session), q)
			if err != nil {
				t.Fatal(err)
			}
			if before != nil && (float64(got.TTFT) > float64(before.TTFT)*(1+slack) || got.Throughput < before.Throughput*(1-slack)) {
				t.Errorf("%s at %d: with prefix %d TTFT %v and %g tokens/s, with less %v and %g", e.Model, q.Concurrency, q.Experiment.Prefix, got.TTFT, got.Throughput, before.TTFT, before.Throughput)
			}
			if before != nil && got.TTFT < before.TTFT {
				gained++
			}
			if before = got; first == nil {
				first = got
			}
		}
		if float64(before.TTFT) > float64(first.TTFT)*(1+slack) || before.Throughput < first.Throughput*(1-slack) {
			t.Errorf("%s at %d: with a prefix TTFT %v and %g tokens/s, without %v and %g", e.Model, q.Concurrency, before.TTFT, before.Throughput, first.TTFT, first.Throughput)
		}
	}
	if gained < 60 {
		t.Errorf("a longer prefix shortened TTFT %d times of 180", gained)
	}
}

// TestJobsOfExperiments: the number of simulations at a time changes nothing.
func TestJobsOfExperiments(t *testing.T) {
	e := experiment.Experiment{
		Name: "x", Mode: experiment.Disaggregated, Model: "Qwen/Qwen3-8B", System: "h200_sxm", Devices: 6, Input: 300, Output: 30,
		Limits: workload.Limits{TPOT: 10 * units.Millisecond},
	}
	var want []experiment.Option
	for _, jobs := range []int{1, 8} {
		r, err := configure.Run(t.Context(), new(session.Session), configure.Request{Experiments: []experiment.Experiment{e, e}, How: experiment.How{Jobs: jobs}})
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Results {
			rows := r.Results[i].Rows
			if want == nil {
				want = rows
			}
			if len(rows) != len(want) || len(rows) == 0 {
				t.Fatalf("%d rows, want %d", len(rows), len(want))
			}
			for k := range rows {
				if rows[k].Throughput != want[k].Throughput || rows[k].Concurrency != want[k].Concurrency {
					t.Errorf("%d jobs: row %d is %+v, want %+v", jobs, k, rows[k], want[k])
				}
			}
		}
	}
}

// written is the deployment that the files of a row run, all units of it together.
func written(t *testing.T, x *experiment.Result, o *experiment.Option) *deployment.Deployment {
	t.Helper()
	p, err := deploy.Plan(new(session.Session), &session.Sources{}, &x.Experiment, o, launch.Site{})
	if err != nil {
		t.Fatal(err)
	}
	made, _, err := files.Write(p, files.Plain)
	if err != nil {
		t.Errorf("%+v: %v", o.Deployment, err)
		return nil
	}
	found, err := launch.Read(made...)
	if err != nil {
		t.Fatal(err)
	}
	d := found.Deployment
	for i := range d.Pools {
		d.Pools[i].Layout = d.Pools[i].Layout.Complete(p.Resolved.Model)
		if d.Disaggregated() {
			d.Pools[i].Replicas *= p.Units()
		}
	}
	return &d
}
