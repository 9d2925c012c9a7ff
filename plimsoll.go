// Package plimsoll predicts the performance of large language models served on given
// hardware: time to first token (TTFT), time per output token (TPOT), throughput,
// memory, cost and energy of a deployment, each with an 80 % interval where one is known.
//
// Start with a [Planner]; its zero value knows all built-in models, devices and
// engines.
//
//   - [Planner.Plan] finds how to serve a model: it compares systems, engines, modes and
//     layouts by simulation, on a number of devices or for a load.
//   - [Planner.Predict] simulates a [Deployment] under a [Traffic]. The deployments of a
//     plan can be passed to it unchanged, and give the same figures.
//   - [Planner.Optimize] searches layouts and batches of one model on one device type;
//     [Planner.Step] looks into one forward pass.
//   - [Planner.Size] finds the fewest devices that carry a load.
//   - [Planner.Lint] checks a launch command or manifest; [Planner.Files] writes the files
//     that run a deployment.
//   - [Models], [Systems] and [Engines] list the names that a request may use.
//
// # Values
//
// Requests and answers are plain values with one JSON form, that of the command line's
// --json, of its files, of the HTTP API and of MCP. [Unmarshal] reads a request strictly. Zero
// fields have defaults. Several goroutines may use a Planner at once, and the same question
// always gets the same answer, to the last digit.
//
// # Files
//
// A Planner reads no files unless it is given the means: Dir for local files, Hub for the
// Hugging Face cache (its directory is [HubCache]). It reads regular files only, each up to
// a size that depends on what it holds (SECURITY.md has a table).
//
// # Errors
//
// An [*InputError] is a mistake in the input, and names the fields to correct. Any
// other error comes from the context, or is a bug. No input makes a function panic.
//
// # What the figures are
//
// Predictions come from a simulation of the engine with modelled kernel times, not
// from measurements. The 80 % intervals come from the errors on measured deployments
// that were held out of the fit; Basis describes them.
package plimsoll

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/ops/deploy"
	"github.com/plimsoll-project/plimsoll/internal/ops/lint"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/recommend"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
)

// Planner predicts and plans deployments. The zero value uses built-in data; the
// fields add the user's files.
type Planner struct {
	// Dir opens a local directory, for example [os.DirFS]; a model may then be a
	// directory with a config.json. Files that requests name, such as traces, are opened
	// in their directory. Nil opens none.
	Dir func(path string) fs.FS
	// Hub is the Hugging Face cache; nil is none.
	Hub fs.FS
	// Progress, if not nil, reports the progress of long work. It may be called from
	// several goroutines, one call at a time.
	Progress func(Progress)
}

// Progress is the progress of a long operation: a Task, how much is Done, Of how much, and
// What is counted.
type Progress = session.Progress

func (p *Planner) session() *session.Session {
	w := &session.Session{Dir: p.Dir, Hub: p.Hub, Progress: p.Progress}
	if p.Dir != nil {
		w.Open = p.open
	}
	return w
}

// open opens a file in its directory.
func (p *Planner) open(name string) (io.ReadCloser, error) {
	f, err := p.Dir(filepath.Dir(name)).Open(filepath.Base(name))
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = bound.Regular(name, info)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// operation is one of the packages below internal/ops.
type operation[Request, Response any] func(context.Context, *session.Session, Request) (*Response, error)

// answer runs an operation, and turns its mistakes into an [*InputError].
func answer[Request, Response any](ctx context.Context, p *Planner, name string, run operation[Request, Response], r Request) (*Response, error) {
	return document.Run(ctx, name, r, func(ctx context.Context, r Request) (*Response, error) { return run(ctx, p.session().Until(ctx), r) })
}

// Plan finds how to serve a model within limits.
func (p *Planner) Plan(ctx context.Context, r PlanRequest) (*Plan, error) {
	return answer(ctx, p, "plan", plan.Run, r)
}

// Predict simulates traffic on a deployment. The limits may be zero: they affect
// only goodput and the probability of meeting them.
func (p *Planner) Predict(ctx context.Context, r PredictRequest) (*Prediction, error) {
	return answer(ctx, p, "simulate", simulate.Run, r)
}

// Optimize searches layouts and batches of one model for the most throughput within limits.
func (p *Planner) Optimize(ctx context.Context, r OptimizeRequest) (*Optimization, error) {
	return answer(ctx, p, "optimize", optimize.Run, r)
}

// Step evaluates one forward pass of a deployment.
func (p *Planner) Step(ctx context.Context, r StepRequest) (*Step, error) {
	return answer(ctx, p, "step", step.Run, r)
}

// Size finds the fewest devices that carry a load within limits.
func (p *Planner) Size(ctx context.Context, r SizeRequest) (*Sizing, error) {
	return answer(ctx, p, "size", recommend.Run, r)
}

// Lint says what files or a command that start an engine will do. What is wrong with them
// is a finding; an error is about the request, or files that start nothing.
func (p *Planner) Lint(ctx context.Context, r LintRequest) (*Lint, error) {
	return answer(ctx, p, "lint", lint.Run, r)
}

// Files makes the files that run a deployment, of a plan or a given one. It writes nothing.
func (p *Planner) Files(ctx context.Context, r FilesRequest) (*Files, error) {
	return answer(ctx, p, "write_files", deploy.Run, r)
}

// Unmarshal reads the JSON of a request or a deployment strictly: an unknown field at any
// depth, or a value of a wrong type, is an [*InputError] that names its path.
func Unmarshal(data []byte, into any) error {
	if err := field.Decode(data, into); err != nil {
		return document.NewInputError(err, "")
	}
	return nil
}

// Marshal writes an answer as the command line, the HTTP API and MCP do: numbers have ten
// significant digits.
func Marshal(answer any) ([]byte, error) { return document.Compact(answer) }

// ReadLengths reads lengths from a file's content: YAML bins, a CSV column of lengths, or a
// trace. The name is for error messages; its extension selects the format.
func ReadLengths(data []byte, name string) (*Distribution, error) {
	d, err := workload.ReadDistribution(bytes.NewReader(data), name)
	if err != nil {
		return nil, document.NewInputError(err, "")
	}
	return d, nil
}

// HubCache is the directory of the Hugging Face cache, from the environment variables
// HF_HUB_CACHE, HF_HOME, HOME or USERPROFILE (Windows), in this order; "" without any
// of them. It does not check that the directory exists.
func HubCache(getenv func(string) string) string {
	if dir := getenv("HF_HUB_CACHE"); dir != "" {
		return dir
	}
	if dir := getenv("HF_HOME"); dir != "" {
		return filepath.Join(dir, "hub")
	}
	if dir := cmp.Or(getenv("HOME"), getenv("USERPROFILE")); dir != "" {
		return filepath.Join(dir, ".cache", "huggingface", "hub")
	}
	return ""
}
