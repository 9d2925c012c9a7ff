// Package plimsoll predicts the performance of large language models served on given
// hardware: time to first token (TTFT), time per output token (TPOT), throughput
// and memory of a deployment, each with an 80 % interval.
//
// Start with a [Planner]; its zero value knows all built-in models, devices and
// engines.
//
//   - To find a deployment, call [Planner.Plan] with a [Question]: a model, a number
//     of devices, the lengths of the requests and the [Limits]. [Plan.Best] is the
//     layout and concurrency with the most throughput within the limits; Plan.Safe
//     is the choice if the limits must hold.
//   - To predict a deployment, describe it as a [Deployment] and call
//     [Planner.Predict] with a [Workload]. The deployments of a [Plan] can be passed
//     to it unchanged.
//   - [Models], [Systems] and [Engines] list the names that a deployment may use.
//
// A [Deployment] has one [Pool] of equal replicas, or one for prefill and one for
// decode. A [Workload] is a closed loop (Concurrency), traffic at a rate (Rate) or
// a recorded trace (Trace); its [Lengths] are fixed, uniform or in bins.
//
// # Values
//
// All types are plain values. Deployment, Workload, Limits and Question can be
// written as JSON and read back. Zero fields have defaults, so the smallest
// deployment is a model. Several goroutines may use a Planner at once, and the same
// question always gets the same answer, to the last digit.
//
// # Files
//
// A Planner reads no files unless it is given the means: Dir and ReadFile for local
// files, Hub for the Hugging Face cache (its directory is [HubCache]).
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
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// Planner predicts and plans deployments. The zero value uses built-in data; the
// fields add the user's files.
type Planner struct {
	// Dir opens a local directory, for example [os.DirFS]; a model may then be a
	// directory with a config.json. Nil opens none.
	Dir func(path string) fs.FS
	// ReadFile reads a local file, for example [os.ReadFile]: the files named below,
	// and traces. Nil reads none.
	ReadFile func(name string) ([]byte, error)
	// Hub is the Hugging Face cache; nil is none.
	Hub fs.FS

	// DeviceFile is the profile of a device that is not built in; deployments may
	// then leave System empty.
	DeviceFile string
	// Calibration is a file written by "plimsoll calibrate"; "" is the built-in
	// calibration.
	Calibration string
	// PerfData is a directory of measured kernel tables in AIConfigurator's layout;
	// they give the times of the operators they cover. PerfEngine uses the tables of
	// one engine only, "vllm" or "vllm@0.14.0"; "" is the fastest kernel of all.
	PerfData, PerfEngine string

	// Progress, if not nil, reports the progress of a plan. It may be called from
	// several goroutines, one call at a time.
	Progress func(Progress)
}

// Progress is the progress of a long operation.
type Progress struct {
	Task     string // "h200_sxm aggregated"
	Done, Of int    // layouts
	What     string // what is counted: "layouts"
}

// world is the planner in the form of package app.
func (p *Planner) world() *session.Session {
	w := &session.Session{Dir: p.Dir, ReadFile: p.ReadFile, Hub: p.Hub}
	if p.Progress != nil {
		w.Progress = func(x session.Progress) { p.Progress(Progress(x)) }
	}
	return w
}

// sources are the files of the planner.
func (p *Planner) sources() session.Sources {
	return session.Sources{
		DeviceFile: p.DeviceFile, Calibration: p.Calibration,
		PerfData: prices.Tables{Dir: p.PerfData, Engine: p.PerfEngine},
	}
}

// HubCache is the directory of the Hugging Face cache, from the environment variables
// HF_HUB_CACHE, HF_HOME or HOME, in this order; "" without any of them. It does not
// check that the directory exists.
func HubCache(getenv func(string) string) string {
	if dir := getenv("HF_HUB_CACHE"); dir != "" {
		return dir
	}
	if dir := getenv("HF_HOME"); dir != "" {
		return filepath.Join(dir, "hub")
	}
	if dir := getenv("HOME"); dir != "" {
		return filepath.Join(dir, ".cache", "huggingface", "hub")
	}
	return ""
}

// InputError is a mistake in the input, which the caller can correct.
type InputError struct {
	// Fields are the fields the message names, by their JSON names: "tp_size". It is
	// empty if the mistake is in a name or in a file.
	Fields []string

	text string
	err  error
}

// Error says what is wrong, a line for each mistake.
func (e *InputError) Error() string { return e.text }

// Unwrap returns the cause, such as the error of a file that cannot be read.
func (e *InputError) Unwrap() error { return e.err }

// mistake turns an error about fields into an InputError.
func mistake(err error) error {
	if err == nil {
		return nil
	}
	out := &InputError{err: err}
	out.text = field.Say(err, func(n field.Name) string {
		name := fieldName(n)
		if !slices.Contains(out.Fields, name) {
			out.Fields = append(out.Fields, name)
		}
		return name
	})
	return out
}

// fieldName is the name that a request's field has in this package's JSON.
func fieldName(n field.Name) string {
	switch n {
	case "device":
		return "system"
	case "prefill_replicas":
		return "replicas"
	case "length_distribution":
		return "input_distribution"
	}
	return string(n)
}

// failure passes on an operation's error, mistakes as an InputError.
func failure(err error) error {
	if _, ok := errors.AsType[*session.InputError](err); ok {
		return mistake(err)
	}
	return err
}
