package ops_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured/measuredtest"
	"github.com/plimsoll-project/plimsoll/internal/ops/accuracy"
	"github.com/plimsoll-project/plimsoll/internal/ops/calibrate"
	"github.com/plimsoll-project/plimsoll/internal/ops/check"
	"github.com/plimsoll-project/plimsoll/internal/ops/configure"
	"github.com/plimsoll-project/plimsoll/internal/ops/deploy"
	"github.com/plimsoll-project/plimsoll/internal/ops/estimate"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/lint"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/recommend"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
	"github.com/plimsoll-project/plimsoll/internal/ops/support"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// counted is a context that is cancelled after so many looks at it, whatever the time.
type counted struct {
	context.Context //nolint:containedctx // it is one

	after int // a negative number is never

	mu    sync.Mutex
	looks int
}

func (c *counted) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.looks++; c.after >= 0 && c.looks > c.after {
		return context.Canceled
	}
	return nil
}

// anyOperation asks an operation and reports whether there is a result.
type anyOperation func(ctx context.Context, w *session.Session) (bool, error)

// of is an operation with its request.
func of[R, T any](run func(context.Context, *session.Session, R) (*T, error), r R) anyOperation {
	return func(ctx context.Context, w *session.Session) (bool, error) {
		out, err := run(ctx, w, r)
		return out != nil, err
	}
}

// everyOperation is a small question to every operation that takes a context.
func everyOperation() map[string]anyOperation {
	const name, system = "Qwen/Qwen3-8B", "h200_sxm"
	asked := deployment.Deployment{
		Model: name, System: system, Engine: deployment.Engine{Name: "vllm"},
		Pools: []deployment.Pool{{Role: deployment.Both, Layout: parallel.Layout{Devices: 1, TP: 1}}},
	}
	limits := workload.Limits{TTFT: 1, TPOT: 7 * units.Millisecond} // a few requests meet them
	load := simulate.Request{Deployment: asked, Limits: limits}
	load.Concurrency, load.Requests, load.Input, load.Output = 4, 16, 256, 32
	preset := load
	preset.Deployment.Engine.Preset = "inferencex"
	e := experiment.Experiment{
		Name: "one", Mode: experiment.Aggregated, Model: name, System: system, Engine: deployment.Engine{Name: "vllm"}, Devices: 1, Input: 256, Output: 4, Limits: limits,
	}
	e.Workers.MaxBatch = 16
	pair := e
	pair.Mode, pair.Devices = experiment.Disaggregated, 2
	pair.Decode.MaxBatch = 16
	p := plan.Request{
		Model: name, Systems: []string{system}, Devices: 1, Workloads: []session.Workload{{Input: 256, Output: 4}}, Limits: limits, Engines: []string{"vllm"},
	}
	other := p
	other.Limits.TPOT *= 2
	rate := p
	rate.Devices, rate.Rate, rate.NoChanges = 0, 1, true
	formulas := optimize.Request{
		Model: name, Devices: []string{"TEST_DEVICE"}, NumDevices: 2, Input: 256, Output: 32, PDRatio: true, PrefillDevices: 1, DecodeDevices: 1, Limits: limits,
		Space: search.Space{TP: []int{}}, BatchRange: []int{1, 16}, Explain: true, Traces: true, ReservedGiB: new(0.0),
	}
	simulated := optimize.Request{
		Model: name, Devices: []string{system}, NumDevices: 1, Input: 256, Output: 4, Limits: limits, BatchRange: []int{1, 16}, Explain: true,
	}
	return map[string]anyOperation{
		"step":                   of(step.Run, step.Request{Deployment: asked, Queries: 2, ContextLength: 100, Decode: true}),
		"simulate":               of(simulate.Run, load),
		"simulate with a preset": of(simulate.Run, preset),
		"optimize by formulas":   of(optimize.Run, formulas),
		"optimize by simulation": of(optimize.Run, simulated),
		"estimate":               of(estimate.Run, estimate.Request{Experiment: e, Workers: estimate.Workers{Layout: asked.Pools[0].Layout, Batch: 4}, Steps: true}),
		"configure":              of(configure.Run, configure.Request{Experiments: []experiment.Experiment{e, pair}}),
		"recommend a rate":       of(recommend.Run, recommend.Request{Experiments: []experiment.Experiment{e}, Rate: 1}),
		"recommend requests":     of(recommend.Run, recommend.Request{Experiments: []experiment.Experiment{e}, Concurrency: 4}),
		"plan":                   of(plan.Run, p),
		"plan of a rate":         of(plan.Run, rate),
		"deploy a plan":          of(deploy.Run, deploy.Request{Plan: &p}),
		"deploy":                 of(deploy.Run, deploy.Request{Deployment: &asked, Input: 256, Output: 32, Concurrency: 4}),
		"lint":                   of(lint.Run, lint.Request{Command: "vllm serve " + name, System: system, Input: 256, Output: 32, Concurrency: 4, Limits: limits}),
		"check":                  of(check.Run, check.Request{File: "run.json", Expected: load}),
		"support":                of(support.Run, support.Request{Model: name, Systems: []string{system, "b200_sxm"}}),
		"accuracy":               of(accuracy.Run, accuracy.Request{File: "rows.csv"}),
		"examine":                of(accuracy.Examine, "rows.csv"),
		"calibrate":              of(calibrate.Run, calibrate.Request{Files: []string{"rows.csv"}, Iterations: 1}),
		"generate": func(ctx context.Context, w *session.Session) (bool, error) {
			out, err := configure.Generate(ctx, w, e, session.Sources{})
			return out != nil, err
		},
		"effects": func(ctx context.Context, w *session.Session) (bool, error) {
			out, err := plan.Effects(ctx, w, &plan.Response{Request: p}, &plan.Response{Request: other})
			return out != nil, err
		},
	}
}

// readable is a session with the files that the questions name.
func readable(t *testing.T) *session.Session {
	t.Helper()
	var rows strings.Builder
	rows.WriteString(measuredtest.Header)
	for n := 1; n <= 3; n++ {
		fmt.Fprintf(&rows, "%d,vllm,Qwen/Qwen3-8B,h200_sxm,fp8,agg,256,32,1,1,1,1,%d,%d,0.8,fp8,8192,0.9,100,10,\n", n, n, 2*n)
	}
	files := map[string]string{
		"rows.csv": rows.String(),
		"run.json": `{"max_concurrency":4,"num_prompts":16,"completed":16,"random_input_len":256,"random_output_len":32,"mean_ttft_ms":500,"mean_tpot_ms":90,"output_throughput":40,"duration":10,"total_input_tokens":4096,"total_output_tokens":512,"request_throughput":1.6}`,
	}
	return &session.Session{
		Dir: func(string) fs.FS { return fstest.MapFS{} },
		Open: func(name string) (io.ReadCloser, error) {
			data, ok := files[name]
			if !ok {
				return nil, fs.ErrNotExist
			}
			return io.NopCloser(strings.NewReader(data)), nil
		},
	}
}

// TestCancelled: an operation whose context ends, before it begins or after any number of
// looks at it, gives the error of the context and no result, and looks hardly again.
func TestCancelled(t *testing.T) {
	t.Parallel()
	for name, ask := range everyOperation() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := &counted{Context: t.Context(), after: -1}
			if some, err := ask(whole, readable(t)); err != nil || !some {
				t.Fatalf("not cancelled: result %t, error %v", some, err)
			}
			if whole.looks == 0 {
				t.Fatal("it never looks at its context")
			}
			for _, after := range []int{0, 1, whole.looks / 3, whole.looks - 1} {
				ctx := &counted{Context: t.Context(), after: after}
				if some, err := ask(ctx, readable(t)); some || !errors.Is(err, context.Canceled) {
					t.Errorf("cancelled at the %d. look of %d: result %t, error %v", after+1, whole.looks, some, err)
				}
			}
		})
	}
}
