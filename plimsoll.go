// Package plimsoll predicts how a large language model is served on given
// hardware: time to first token (TTFT), time per output token (TPOT), throughput
// and memory of a deployment, each with an interval that says how far it may be
// off.
//
// Start with a [Planner]; its zero value knows every model, device and engine that
// is built in.
//
//   - To find a deployment, ask [Planner.Plan] a [Question]: a model, a number of
//     devices, the lengths of the requests and the [Limits] to keep. [Plan.Best]
//     is the layout and concurrency with the most throughput within the limits;
//     Plan.Safe is the one to take where a limit must hold.
//   - To know how one deployment fares, describe it as a [Deployment] and call
//     [Planner.Predict] with a [Workload]. The deployments of a [Plan] can be
//     handed to it as they are.
//   - [Models], [Systems] and [Engines] list the names that a deployment may use.
//
// A [Deployment] has one [Pool] of equal replicas, or one for prefill and one for
// decode. A [Workload] is a closed loop (Concurrency), traffic at a rate (Rate) or
// a recorded trace (Trace); its [Lengths] are fixed, uniform or in bins.
//
// # Values
//
// All types are plain values. Deployment, Workload, Limits and Question can be
// written as JSON and read back. Zero fields take their defaults, so the smallest
// deployment is a model. A Planner may be used by several goroutines at once, and
// equal questions get equal answers, digit by digit.
//
// # Files
//
// Nothing is read from disk or network unless the Planner is given the means: Dir
// and ReadFile for local files, Hub for the Hugging Face cache ([HubCache] says
// where that is).
//
// # Errors
//
// An [*InputError] is a mistake in the question, and names the fields to mend. Any
// other error is that of the context, or a defect. No input makes a function panic.
//
// # What the figures are
//
// Predictions come from a simulation of the engine with modelled kernel times,
// not from a measurement. Intervals are of 80 % and come from measured
// deployments that the model was not fitted to; Basis says which.
package plimsoll

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"plimsoll/internal/app"
	"plimsoll/internal/field"
	"plimsoll/internal/prices"
)

// Planner answers questions about deployments. The zero value uses what is built
// in; the fields add files of the user's.
type Planner struct {
	// Dir opens a local directory, such as [os.DirFS]: then a model may be a
	// directory that holds a config.json. Nil opens none.
	Dir func(path string) fs.FS
	// ReadFile reads a local file, such as [os.ReadFile]: those named below, and
	// traces. Nil reads none.
	ReadFile func(name string) ([]byte, error)
	// Hub is the Hugging Face cache, nil where there is none.
	Hub fs.FS

	// DeviceFile is the profile of a device that is not built in; deployments may
	// then leave System empty.
	DeviceFile string
	// Calibration is a file written by "plimsoll calibrate", in place of the
	// built-in calibration.
	Calibration string
	// PerfData is a directory of measured kernel tables in AIConfigurator's
	// layout; they price what they cover. PerfEngine takes the tables of one
	// engine, "vllm" or "vllm@0.14.0", in place of the fastest of any.
	PerfData, PerfEngine string

	// Progress, if not nil, is told how far a plan is. It may be called from
	// several goroutines, one call at a time.
	Progress func(Progress)
}

// Progress is how far long work is.
type Progress struct {
	Task     string // "h200_sxm aggregated"
	Done, Of int    // layouts
	What     string // what is counted: "layouts"
}

// world is the planner as the operations take it.
func (p *Planner) world() *app.World {
	w := &app.World{Dir: p.Dir, ReadFile: p.ReadFile, Hub: p.Hub}
	if p.Progress != nil {
		w.Progress = func(x app.Progress) { p.Progress(Progress(x)) }
	}
	return w
}

// sources are the files of the planner.
func (p *Planner) sources() app.Sources {
	return app.Sources{
		DeviceFile: p.DeviceFile, Calibration: p.Calibration,
		PerfData: prices.Tables{Dir: p.PerfData, Engine: p.PerfEngine},
	}
}

// HubCache is the directory of the Hugging Face cache by the environment
// (HF_HUB_CACHE, HF_HOME or HOME, in this order), "" without any of them. It does
// not look whether the directory is there.
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

// InputError is a mistake in a question, to be mended by asking differently.
type InputError struct {
	// Fields are those the message names, as JSON names them: "tp_size". It is
	// empty where the mistake is in a name or in a file.
	Fields []string

	text string
	err  error
}

// Error says what is wrong, a line for each mistake.
func (e *InputError) Error() string { return e.text }

// Unwrap returns the cause, such as the error of a file that cannot be read.
func (e *InputError) Unwrap() error { return e.err }

// mistake makes an InputError of an error about fields.
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

// fieldName is a field of an operation's request as this package's JSON has it.
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

// failure passes an operation's error on, mistakes as an InputError.
func failure(err error) error {
	if _, ok := errors.AsType[*app.InputError](err); ok {
		return mistake(err)
	}
	return err
}
