package operation

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/face/document"
	opscheck "github.com/plimsoll-project/plimsoll/internal/ops/check"
	opslint "github.com/plimsoll-project/plimsoll/internal/ops/lint"
	opsoptimize "github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	opsplan "github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	opssimulate "github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	opsstep "github.com/plimsoll-project/plimsoll/internal/ops/step"
	opssupport "github.com/plimsoll-project/plimsoll/internal/ops/support"
)

func plans() []Operation {
	return []Operation{
		define("plan", "Plan", `Find how to serve a model within limits: compares every engine and mode (agg, disagg) on one or several systems by
simulation. The answer is a sentence; contenders have 80 % intervals, the probability of meeting the limits, and costs; changes say
what would change the answer. Needs model, systems, one of gpus, rate and daily, and workloads (isl and osl, or a preset). Validate first,
show the command, and run it only after the user agreed.`, plan, planWork),
		define("diff", "Compare two plans", `Plan two requests and report what differs: the figures of the best deployments, the ranks of contenders, and the effect of each differing field
alone.`, diff, diffWork),
	}
}

func searches() []Operation {
	return []Operation{
		define("optimize", "Search layouts", `Search layouts and batches of one model for the highest throughput within limits, on one or several devices: Ascend's
throughput-optimizer. Aggregated by default; disagg evaluates phases alone, pd_ratio matches prefill and decode instances. On Ascend devices ask whether the engine
compiles the model (modelling: {"fusion": "compiled"}): the default, eager, predicts markedly less (2149 instead of 3210 tokens/s in the guide's example).`, optimize, optimizeWork),
		define("explain", "Explain a search", "The search of optimize, with the reasons: where the time of a step goes, what limits the batch, the next best layout, and the effect of small changes.", explain, explainWork),
		define("step", "One step", "Time and memory of one forward pass of a deployment, by operator.", step, nil),
		define("simulate", "Simulate", "Simulate requests through a given deployment: percentiles of TTFT, TPOT and latency, throughput, cache use.", simulate, simulateWork),
		define("lint", "Check a launch command", `Check a launch command (vllm serve …), script, Compose file or manifest: what it will do, its errors, and single
changes that would raise throughput. Give the command, or the files with their content.`, lint, lintWork),
		define("check", "Check a benchmark's result", `Compare the result of a benchmark run (vllm bench serve, SGLang bench_serving, AIPerf, genai-perf, trtllm-bench,
InferenceX) with the prediction of its deployment: figures inside the intervals, and the assumption that explains those outside.`, check, checkWork),
		define("support", "What can be predicted", "For a model (or all with measured deployments), by system and engine: the minimum number of GPUs, the basis of predictions, and their expected errors.", support, nil),
	}
}

func plan(ctx context.Context, env *Env, r opsplan.Request) (*opsplan.Response, error) {
	r.Jobs = env.Jobs
	finish := func(out *opsplan.Response) {
		out.Complete(env.Version)
	}
	world := *env.Session
	if show := world.Partial; show != nil {
		world.Partial = func(look func() (any, []string)) {
			show(func() (any, []string) {
				out, left := look()
				if record, ok := out.(*opsplan.Response); ok {
					finish(record)
				}
				return out, left
			})
		}
	}
	out, err := opsplan.Run(ctx, &world, r)
	if err != nil {
		return nil, err
	}
	finish(out)
	return out, nil
}

// DiffRequest is two requests of plans to compare.
type DiffRequest struct {
	A opsplan.Request `json:"a" required:"true"`
	B opsplan.Request `json:"b" required:"true"`
}

func diff(ctx context.Context, env *Env, r DiffRequest) (*opsplan.Diff, error) {
	world := *env.Session
	world.Partial = nil // a part of a plan is no part of the comparison
	var plans [2]*opsplan.Response
	for i, x := range []opsplan.Request{r.A, r.B} {
		x.NoChanges, x.Jobs = true, env.Jobs // changes are not compared
		var err error
		if plans[i], err = opsplan.Run(ctx, &world, x); err != nil {
			return nil, document.Under([]string{"a", "b"}[i], err, "plan")
		}
	}
	effects, err := opsplan.Effects(ctx, &world, plans[0], plans[1])
	if err != nil {
		return nil, err
	}
	return opsplan.NewDiff(plans[0], plans[1], effects), nil
}

func optimize(ctx context.Context, env *Env, r opsoptimize.Request) (*opsoptimize.Response, error) {
	r.Jobs = env.Jobs
	return opsoptimize.Run(ctx, env.Session, r)
}

func explain(ctx context.Context, env *Env, r opsoptimize.Request) (*opsoptimize.Response, error) {
	r.Explain = true
	return optimize(ctx, env, r)
}

func step(ctx context.Context, env *Env, r opsstep.Request) (*opsstep.Response, error) {
	return opsstep.Run(ctx, env.Session, r)
}

func simulate(ctx context.Context, env *Env, r opssimulate.Request) (*opssimulate.Response, error) {
	return opssimulate.Run(ctx, env.Session, r)
}

func support(ctx context.Context, env *Env, r opssupport.Request) (*opssupport.Response, error) {
	return opssupport.Run(ctx, env.Session, r)
}

// LintRequest is a launch command or launch files to check.
type LintRequest struct {
	_ struct{} `anyOf:"command,files"`

	opslint.Request

	// Files are the files of one target, with their content; instead of a command.
	Files []Content `json:"files,omitempty"`
}

// Content is a file.
type Content struct {
	Name    string `json:"name" required:"true"`
	Content string `json:"content" required:"true"`
}

func lint(ctx context.Context, env *Env, r LintRequest) (*opslint.Response, error) {
	for _, f := range r.Files {
		r.Request.Files = append(r.Request.Files, f.Name)
	}
	return opslint.Run(ctx, env.reading(r.Files...), r.Request)
}

// reading is a session that can read only the given files.
func (env *Env) reading(files ...Content) *session.Session {
	world := *env.Session
	world.Open = func(name string) (io.ReadCloser, error) {
		for _, f := range files {
			if f.Name == name {
				return io.NopCloser(strings.NewReader(f.Content)), nil
			}
		}
		return nil, errors.New("the request has no content for this file")
	}
	return &world
}

// CheckRequest is a benchmark result to compare with its prediction.
type CheckRequest struct {
	// Result is what the load generator wrote.
	Result Content `json:"result" required:"true"`
	// Expected is the deployment; omitted lengths and load are taken from the result.
	Expected opssimulate.Request `json:"expected" required:"true"`
}

func check(ctx context.Context, env *Env, r CheckRequest) (*opscheck.Response, error) {
	return opscheck.Run(ctx, env.reading(r.Result), opscheck.Request{File: r.Result.Name, Expected: r.Expected})
}
