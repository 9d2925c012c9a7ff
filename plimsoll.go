// Package plimsoll predicts the performance of large language models served on given
// hardware: time to first token (TTFT), time per output token (TPOT), throughput and cost of a
// deployment, with 80 % intervals.
//
// Start with a [Planner]; its zero value knows all built-in models, devices and engines.
//
//   - [Planner.Plan] finds how to serve a model: the best deployment of each system, engine and
//     mode, on a number of devices or for a load.
//   - [Planner.Predict] simulates a [Deployment] under a load. The deployments of a plan can be
//     passed to it unchanged, and give the same figures.
//   - [Planner.Lint] checks a launch command or manifest; [Planner.Files] makes the files that
//     run a deployment.
//   - [Planner.Call] answers any other question of the HTTP API, in its JSON.
//   - [Models], [Systems] and [Engines] list the names that a request may use.
//
// # Values
//
// Requests and answers are small plain values. A request has the fields that most programs
// need; its More takes the others, in the JSON of the HTTP API. An answer has the figures that
// most programs need; its JSON is all of it, as the command line prints it with --json. Zero
// fields have defaults. Figures have ten significant digits, and the same question always gets
// the same answer. Several goroutines may use a Planner at once.
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
	"cmp"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/face/operation"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
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

// Progress is the progress of long work: of a Task so much is Done, Of how much (0 if that is not known), and What is counted.
type Progress struct {
	Task     string
	Done, Of int
	What     string
}

// Call answers a question of the HTTP API in its JSON: "plan", "optimize", "explain", "step", "simulate", "lint", "check",
// "support", "diff", "models", "devices" and the others that "plimsoll call" has. What a server refuses as too much work is
// refused here too.
func (p *Planner) Call(ctx context.Context, name string, request json.RawMessage) (json.RawMessage, error) {
	o := operation.Lookup(operation.Table(), name)
	if o == nil || o.Writes {
		return nil, corrected(document.NewInputError(field.OneOf("operation", name, names()...), ""))
	}
	asked, err := o.Decode(request)
	if err != nil {
		return nil, corrected(err)
	}
	return p.answer(ctx, o, asked)
}

// names are those of the operations that write nothing.
func names() []string {
	var out []string
	for _, o := range operation.Table() {
		if !o.Writes {
			out = append(out, o.Name)
		}
	}
	return out
}

// ask puts a question in its JSON, strictly, and reads the answer from its JSON: both have the names of the HTTP API.
func ask[Request any](ctx context.Context, p *Planner, name string, question, answer any) (json.RawMessage, error) {
	var asked Request
	data, err := json.Marshal(question)
	if err == nil {
		err = field.Decode(data, &asked)
	}
	if err != nil {
		return nil, corrected(document.NewInputError(err, name))
	}
	if data, err = p.answer(ctx, operation.Lookup(operation.Table(), name), asked); err != nil {
		return nil, err
	}
	return data, json.Unmarshal(data, answer)
}

// answer is that of an operation, in JSON.
func (p *Planner) answer(ctx context.Context, o *operation.Operation, asked any) (json.RawMessage, error) {
	out, err := o.Run(ctx, &operation.Env{Session: p.session(ctx)}, asked)
	if err != nil {
		return nil, corrected(err)
	}
	return document.Compact(out)
}

// session is where the planner's questions are answered, as long as ctx lasts.
func (p *Planner) session(ctx context.Context) *session.Session {
	w := &session.Session{Dir: p.Dir, Hub: p.Hub}
	if p.Progress != nil {
		w.Progress = func(x session.Progress) { p.Progress(Progress(x)) }
	}
	if p.Dir != nil {
		w.Open = p.open
	}
	return w.Until(ctx)
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
