package ops_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/configure"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

const ms = units.Millisecond

func world() *session.Session { return new(session.Session) }

// configured is the result of one experiment.
func configured(t *testing.T, e experiment.Experiment, top int) *experiment.Result {
	t.Helper()
	r, err := configure.Run(t.Context(), world(), configure.Request{Experiments: []experiment.Experiment{e}, How: experiment.How{Top: top}})
	if err != nil {
		t.Fatal(err)
	}
	return &r.Results[0]
}

// TestOneAnswer: the same question has the same answer, to the digit, by
// throughput-optimizer, by an experiment and by a plan.
func TestOneAnswer(t *testing.T) {
	t.Parallel()
	const model, system = "Qwen/Qwen3-32B", "h200_sxm"
	l := workload.Limits{TPOT: 50 * ms}
	o, err := optimize.Run(t.Context(), world(), optimize.Request{
		Model: model, Devices: []string{system}, NumDevices: 8, Input: 3500, Output: 150, Limits: l,
	})
	if err != nil {
		t.Fatal(err)
	}
	row := &o.Devices[0].Searches[0].Rows[0]
	type answer struct {
		layout                        string
		replicas, concurrency, budget int
		ttft, tpot                    units.Seconds
		throughput                    float64
	}
	want := answer{
		row.Candidate.Layout.Label(false), row.Replicas, row.Best.Concurrency, row.Budget, row.Best.TTFT, row.Best.TPOT, row.Best.Throughput,
	}
	of := func(o *experiment.Option) answer {
		p := &o.Deployment.Pools[0]
		return answer{p.Layout.Label(false), p.Replicas, o.Concurrency, o.Budget, o.TTFT, o.TPOT, o.Throughput}
	}
	x := configured(t, experiment.Experiment{
		Model: model, System: system, Devices: 8, Engine: deployment.Engine{Name: "vllm"}, Input: 3500, Output: 150, Limits: l,
	}, 1)
	if got := of(&x.Rows[0]); got != want {
		t.Errorf("the optimizer finds %+v, an experiment %+v", want, got)
	}
	p, err := plan.Run(t.Context(), world(), plan.Request{
		Model: model, Systems: []string{system}, Devices: 8, Engines: []string{"vllm"}, Modes: []experiment.ServingMode{experiment.Aggregated},
		Workloads: []session.Workload{{Input: 3500, Output: 150}}, Limits: l, NoChanges: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := of(&p.Contenders[0].Found.Option); got != want {
		t.Errorf("the optimizer finds %+v, a plan %+v", want, got)
	}
}

// TestRowsShown: the number of rows changes none of them: fewer are among more, and the best is the first. With the engine's own token
// budget the best of these layouts is another one than with the best budget.
func TestRowsShown(t *testing.T) {
	t.Parallel()
	e := experiment.Experiment{
		Model: "Qwen/Qwen3-32B", System: "h200_sxm", Devices: 16, Engine: deployment.Engine{Name: "trtllm"}, Input: 4000, Output: 500,
		Limits:  workload.Limits{TTFT: 600 * ms, TPOT: 16 * ms},
		Workers: experiment.WorkerSpace{Formats: deployment.Formats{GEMM: "fp8", KV: "fp8"}},
	}
	all := configured(t, e, 9).Rows
	for top := 1; top <= 3; top++ {
		rows := configured(t, e, top).Rows
		if len(rows) != min(top, len(all)) {
			t.Fatalf("%d rows of %d", len(rows), top)
		}
		if !reflect.DeepEqual(rows[0], all[0]) {
			t.Errorf("the best of %d carries %g, of %d %g", top, rows[0].Throughput, len(all), all[0].Throughput)
		}
		for i := range rows {
			if !slices.ContainsFunc(all, func(o experiment.Option) bool { return reflect.DeepEqual(rows[i], o) }) {
				t.Errorf("row %d of %d, which carries %g, is none of %d", i+1, top, rows[i].Throughput, len(all))
			}
		}
	}
}

// TestDraftsOptimized: a row with draft tokens is what a simulation of its deployment
// shows: both take the same chances that drafts are kept.
func TestDraftsOptimized(t *testing.T) {
	t.Parallel()
	o, err := optimize.Run(t.Context(), world(), optimize.Request{
		Model: "deepseek-ai/DeepSeek-R1", Devices: []string{"h200_sxm"}, NumDevices: 8, Input: 1000, Output: 20, Space: search.Space{MTP: []int{2}},
		Limits: workload.Limits{TPOT: 40 * ms},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := &o.Devices[0].Searches[0]
	row := &s.Rows[0]
	d := deployment.Deployment{Model: "deepseek-ai/DeepSeek-R1", System: "h200_sxm", Pools: []deployment.Pool{{
		Layout: row.Candidate.Layout, Replicas: row.Replicas, MTP: row.Candidate.MTP, Settings: row.Settings,
	}}}
	q := simulate.Request{Deployment: d}
	q.Concurrency, q.Input, q.Output = row.Best.Concurrency, 1000, 20
	got, err := simulate.Run(t.Context(), new(session.Session), q)
	if err != nil {
		t.Fatal(err)
	}
	if got.Result.TPOT.Mean != row.Best.TPOT || got.Result.OutputRate != row.Best.Throughput {
		t.Errorf("the row has TPOT %v, a simulation %v", row.Best.TPOT, got.Result.TPOT.Mean)
	}
}

// TestPresetTwice: settings of a preset that a search assumes come in the same order
// every time. Simulations are remembered by all that went into them: another order would be simulated.
func TestPresetTwice(t *testing.T) {
	t.Parallel()
	var first *plan.Response
	w := &session.Session{Memo: &session.Memo{Size: 10_000}}
	for range 4 {
		p, err := plan.Run(t.Context(), w, plan.Request{
			Model: "Qwen/Qwen3-8B", Systems: []string{"h200_sxm"}, Devices: 2, Workloads: []session.Workload{{Input: 500, Output: 8}},
			EnginePreset: "inferencex", NoChanges: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = p
		} else if !reflect.DeepEqual(p.Notes, first.Notes) || !reflect.DeepEqual(p.Contenders, first.Contenders) {
			t.Fatalf("notes %v, then %v", first.Notes, p.Notes)
		}
	}
}

// TestRequestLatency: a limit on the latency of whole requests is met like the others, by
// experiments, plans and the optimizer: rows have the chance to meet it, what misses it
// names it and says which limit it would meet.
func TestRequestLatency(t *testing.T) {
	t.Parallel()
	e := experiment.Experiment{
		Model: "Qwen/Qwen3-8B", System: "h200_sxm", Devices: 2, Engine: deployment.Engine{Name: "vllm"}, Input: 1000, Output: 200,
		Limits: workload.Limits{Latency: 3000 * ms},
	}
	for _, mode := range []experiment.ServingMode{experiment.Aggregated, experiment.Disaggregated} {
		e.Mode = mode
		x := configured(t, e, 2)
		for i := range x.Rows {
			if o := &x.Rows[i]; o.Latency > e.Limits.Latency || o.Judged.Sure() < search.DefaultConfidence || o.Judged.Sure() > 0.999 {
				t.Errorf("%s: latency %v with a chance of %g", mode, o.Latency, o.Judged.Sure())
			}
		}
		if len(x.Rows) == 0 {
			t.Errorf("%s: nothing meets %v", mode, e.Limits.Latency)
		}
	}
	e.Limits.Latency = 100 * ms
	x := configured(t, e, 2)
	if len(x.Rows) > 0 || x.Near == nil || x.Near.Binds != search.OverLatency || x.Nearest.Latency < x.Near.Latency || x.Nearest.TTFT != 0 {
		t.Errorf("rows %d, near %+v, nearest limits %+v", len(x.Rows), x.Near, x.Nearest)
	}
	o, err := optimize.Run(t.Context(), world(), optimize.Request{
		Model: e.Model, Devices: []string{e.System}, NumDevices: 2, Input: e.Input, Output: e.Output, Limits: e.Limits,
	})
	if err != nil {
		t.Fatal(err)
	}
	s := &o.Devices[0].Searches[0]
	if len(s.Rows) > 0 || s.Candidates[0].Rejected != search.OverLatency || !strings.HasPrefix(s.Candidates[0].Reason, "request latency ") || s.Nearest.Latency <= e.Limits.Latency {
		t.Errorf("%d rows; %s: %s; nearest %+v", len(s.Rows), s.Candidates[0].Rejected, s.Candidates[0].Reason, s.Nearest)
	}
}

// TestPercentiles: limits apply to any percentile, and what is no percentile is refused.
func TestPercentiles(t *testing.T) {
	t.Parallel()
	e := experiment.Experiment{
		Model: "Qwen/Qwen3-8B", System: "h200_sxm", Devices: 1, Engine: deployment.Engine{Name: "vllm"},
		Workloads: []session.Workload{{Input: 4000, Output: 8, LengthLow: 0.2}}, Limits: workload.Limits{TTFT: 400 * ms, TPOT: 20 * ms},
	}
	before := 0.0
	for _, p := range []float64{99.9, 80, 33.3} {
		e.Percentile = p
		row := configured(t, e, 1).Rows[0]
		if row.TTFT > e.Limits.TTFT || row.Throughput < 0.975*before {
			t.Errorf("p%g: TTFT %v, %g tokens/s, before %g", p, row.TTFT, row.Throughput, before)
		}
		before = row.Throughput
	}
	for _, p := range []float64{-1, 100, 1000} {
		e.Percentile = p
		_, err := configure.Run(t.Context(), world(), configure.Request{Experiments: []experiment.Experiment{e}})
		if want := fmt.Sprintf("percentile must be above 0 and below 100, or 0 for the mean, got %g", p); err == nil || err.Error() != want {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// TestLargeModels: the space grows with what a model needs: TP within a node, experts and
// stages across nodes.
func TestLargeModels(t *testing.T) {
	t.Parallel()
	l := workload.Limits{TTFT: 20_000 * ms, TPOT: 300 * ms}
	for _, x := range []struct {
		model, system, engine string
		devices               int
		least                 int // devices that hold it
	}{
		{"deepseek-ai/DeepSeek-V3", "ATLAS_800_A3_560T_128G_DIE", "mindie", 64, 8},
		{"deepseek-ai/DeepSeek-V3", "a100_sxm_40gb", "vllm", 64, 32},
		{"deepseek-ai/DeepSeek-V3", "l40s", "vllm", 64, 32},
		{"deepseek-ai/DeepSeek-V3", "h100_nvl", "vllm", 16, 16},
		{"meta-llama/Llama-3.1-70B", "mi250x_gcd", "vllm", 16, 4},
		{"meta-llama/Llama-3.1-405B", "a100_sxm_40gb", "vllm", 32, 32},
	} {
		t.Run(x.model+" "+x.system, func(t *testing.T) {
			t.Parallel()
			got := configured(t, experiment.Experiment{
				Model: x.model, System: x.system, Devices: x.devices, Engine: deployment.Engine{Name: x.engine}, Input: 500, Output: 4, Limits: l,
				Workers: experiment.WorkerSpace{MaxBatch: 2},
			}, 1)
			if len(got.Rows) == 0 {
				t.Fatalf("nothing; rejected: %s", strings.Join(got.Rejected, "; "))
			}
			if l := got.Rows[0].Deployment.Pools[0].Layout; l.Devices < x.least {
				t.Errorf("%s on %d devices, want %d at least", l.Label(got.Experts), l.Devices, x.least)
			}
		})
	}
}

// TestPromptsFillSteps: workers for prefill take as many prompts at a time as their steps need to be efficient, and no more. One at a time, short
// prompts leave a device half idle, and the stages of a pipeline wait for each other.
func TestPromptsFillSteps(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		engine                 string
		input, pp, least, most int
		gain                   float64
	}{
		"short":    {"vllm", 200, 1, 4, 41, 1.3}, // 41 fill a step
		"pipeline": {"vllm", 5000, 2, 2, 2, 1.1},
		"long":     {"vllm", 5000, 1, 1, 1, 0.99},
		"in each":  {"trtllm", 5000, 2, 1, 1, 0.99}, // TensorRT-LLM has as many in each batch of a pipeline
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := experiment.Experiment{
				Model: "Qwen/Qwen3-8B", System: "h200_sxm", Devices: 1 + x.pp, Mode: experiment.Disaggregated, Engine: deployment.Engine{Name: x.engine},
				Input: x.input, Output: 8, Limits: workload.Limits{TPOT: 100 * ms, TTFT: 5000 * ms},
				Workers: experiment.WorkerSpace{Sizes: search.Sizes{Devices: []int{x.pp}, TP: []int{1}, PP: []int{x.pp}}},
				Decode:  experiment.WorkerSpace{Sizes: search.Sizes{Devices: []int{1}}},
			}
			row := &configured(t, e, 1).Rows[0]
			e.Workers.MaxBatch = 1
			one := &configured(t, e, 1).Rows[0]
			if row.Prompts < x.least || row.Prompts > x.most || one.Prompts != 1 {
				t.Errorf("batches of %d and %d prompts, want %d to %d, and 1", row.Prompts, one.Prompts, x.least, x.most)
			}
			if row.Throughput < x.gain*one.Throughput {
				t.Errorf("%.0f tokens/s, with one prompt at a time %.0f", row.Throughput, one.Throughput)
			}
		})
	}
}

// TestEnginesOfDevices: a plan compares the engines that run on a device, and says what
// does where none that is modelled runs.
func TestEnginesOfDevices(t *testing.T) {
	t.Parallel()
	ask := func(system string, engines ...string) (*plan.Response, error) {
		return plan.Run(t.Context(), world(), plan.Request{
			Model: "Qwen/Qwen3-8B", Systems: []string{system}, Devices: 2, Engines: engines, Modes: []experiment.ServingMode{experiment.Aggregated},
			Workloads: []session.Workload{{Input: 500, Output: 50}}, NoChanges: true,
		})
	}
	p, err := ask("ATLAS_800_A3_560T_128G_DIE")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range p.Contenders {
		names = append(names, p.Contenders[i].Engine)
	}
	for _, want := range []string{"mindie", "vllm", "sglang"} {
		if !strings.Contains(strings.Join(names, " "), want) {
			t.Errorf("%s is missing of %v", want, names)
		}
	}
	const want = "vllm does not run on m3_ultra: Apple's GPUs run llama.cpp and MLX, which have no profile here; the engine generic gives an estimate"
	for _, engines := range [][]string{nil, {"vllm"}} {
		if _, err := ask("m3_ultra", engines...); err == nil || err.Error() != want {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// TestManyDevices: many devices are copies of what a few have.
func TestManyDevices(t *testing.T) {
	t.Parallel()
	e := experiment.Experiment{
		Mode: experiment.Disaggregated, Model: "Qwen/Qwen3-32B", System: "h200_sxm", Devices: 64, Engine: deployment.Engine{Name: "vllm"}, Input: 3000, Output: 64,
		Limits: workload.Limits{TTFT: 1000 * ms, TPOT: 15 * ms},
	}
	few := configured(t, e, 1).Rows[0]
	e.Devices = 4096
	many := configured(t, e, 1).Rows[0]
	if many.Throughput < 0.975*64*few.Throughput || many.Used > 4096 || many.Copies < 32 {
		t.Errorf("64 carry %g, 4096 %g with %d copies on %d", few.Throughput, many.Throughput, many.Copies, many.Used)
	}
}
