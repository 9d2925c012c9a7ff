package session

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
)

// Caution ends every result.
const Caution = "These figures are predictions, not measurements: use them to plan, and measure with your own traffic before you decide."

// Depends says what a model of the hardware leaves out, and GuideCaution ends every result of the commands of the Ascend guide, which says so.
const (
	Depends      = "What a deployment reaches depends on its runtime, topology, software stack and traffic."
	GuideCaution = Caution + " " + Depends
)

// Session is the source of models and devices beyond the built-in ones, and the receiver of
// progress reports. Its zero value has the built-in ones only.
type Session struct {
	// Dir opens a local directory.
	Dir func(path string) fs.FS
	// Open opens a local file.
	Open func(name string) (io.ReadCloser, error)
	// Hub is the Hugging Face cache, nil when there is none.
	Hub fs.FS
	// Requests are the most of a trace; 0 = [bound.TraceRequests].
	Requests int
	// Given are the contents of a model's config.json and of traces that came with a request, by the names it has for them.
	Given map[string][]byte
	// Memo, if not nil, remembers simulations from one search to the next.
	Memo *Memo
	// Progress, if not nil, reports the progress of long work. It may be called from
	// several goroutines, one call at a time.
	Progress func(Progress)
	// Partial, if not nil, is given, once and early, a function that looks at the answer of long work as far as it is known: a
	// response, nil if there is none yet, and the names of the remaining work. It may be called at any time, also after the end.
	Partial func(look func() (response any, left []string))
}

// Quiet is the session without reports of progress, for work inside other work.
func (w *Session) Quiet() *Session {
	out := *w
	out.Progress, out.Partial = nil, nil
	return &out
}

// DefaultJobs is the default number of workers of a search, which no answer depends on.
const DefaultJobs = 8

// Progress is the progress of long work. Done never falls; Of may grow when more work becomes known.
type Progress struct {
	Task string `json:"task"` // "h200_sxm decode", "fitting 1319 rows"
	Done int    `json:"done"`
	Of   int    `json:"of"`   // 0 if the work is not counted
	What string `json:"what"` // what is counted
}

// String says it in words.
func (p Progress) String() string {
	if p.Of == 0 {
		return p.Task
	}
	return fmt.Sprintf("%s: %d of %d %s", p.Task, p.Done, p.Of, p.What)
}

// Tell reports progress.
func (w *Session) Tell(p Progress) {
	if w.Progress != nil {
		w.Progress(p)
	}
}

// Finish is a result, or nil with the error that there is, or with that of ctx if it ended: what was cut short may be wrong.
func Finish[T any](ctx context.Context, out *T, err error) (*T, error) {
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	return out, nil
}

// InputError is an error in a request, which the caller can correct.
type InputError struct{ Err error }

// Error returns the message.
func (e *InputError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.Err }

// BadInput marks an error as one in the request. A nil error stays nil.
func BadInput(err error) error {
	if err == nil {
		return nil
	}
	return &InputError{err}
}

// ErrNoModel is a request without a model.
var ErrNoModel = errors.New("no model given")

// ErrNoFiles is the error of a Session without files.
var ErrNoFiles = errors.New("files cannot be read here")

// Read reads the file that a field names.
func (w *Session) Read(name field.Name, file string, k bound.Kind) (data []byte, err error) {
	err = w.Stream(name, file, func(r io.Reader) error {
		if data, err = bound.Read(r, file, k); err != nil {
			return field.Errorf("reading %s: %w", name, err)
		}
		return nil
	})
	return data, err
}

// Trace reads the trace in a file: its first most requests, 0 = all.
func (w *Session) Trace(file string, most int) (out *workload.Trace, err error) {
	read := most
	if w.Requests > 0 && most == 0 {
		read = w.Requests + 1
	}
	err = w.Stream("trace", file, func(r io.Reader) error {
		if out, err = workload.ReadTrace(r, file, read); err == nil && w.Requests > 0 && len(out.Requests) > w.Requests {
			err = field.Errorf("%s %s: %w; %s takes the first", field.Name("trace"), file, bound.Over(w.Requests, "requests"), field.Name("num_prompts"))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Stream passes on the file that a field names, to be read as far as is needed.
func (w *Session) Stream(name field.Name, file string, read func(io.Reader) error) error {
	if data, ok := w.Given[file]; ok {
		return BadInput(read(bytes.NewReader(data)))
	}
	if w.Open == nil {
		return BadInput(field.Errorf("%s %s: %w", name, file, ErrNoFiles))
	}
	f, err := w.Open(file)
	if err != nil {
		return BadInput(field.Errorf("reading %s: %w", name, err))
	}
	defer f.Close() //nolint:errcheck // opened for reading
	return BadInput(read(f))
}

// ReadFile reads a file that no field names.
func (w *Session) ReadFile(file string, k bound.Kind) ([]byte, error) {
	if w.Open == nil {
		return nil, ErrNoFiles
	}
	f, err := w.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // opened for reading
	return bound.Read(f, file, k)
}

// Over is the session with files that are in memory before others.
func (w *Session) Over(data func(name string) ([]byte, bool)) *Session {
	out := *w
	out.Open = func(name string) (io.ReadCloser, error) {
		if text, ok := data(name); ok {
			return io.NopCloser(bytes.NewReader(text)), nil
		}
		if w.Open == nil {
			return nil, ErrNoFiles
		}
		return w.Open(name)
	}
	return &out
}

// Until is the session whose files are read no longer than ctx lasts.
func (w *Session) Until(ctx context.Context) *Session {
	out := *w
	if w.Open != nil {
		out.Open = func(name string) (io.ReadCloser, error) {
			f, err := w.Open(name)
			if err != nil {
				return nil, err
			}
			return bound.Until(ctx, f), nil
		}
	}
	return &out
}

// Model finds a model: a directory that holds a config.json, an id of the
// catalog or in the Hugging Face cache, or another name of a model of the catalog.
// A config.json is read as the family named, "" for that of its architecture.
func (w *Session) Model(id, as string) (*model.Model, error) {
	if id == "" {
		return nil, BadInput(ErrNoModel)
	}
	from := w.Models()
	from.As = as
	if config, ok := w.Given[id]; ok {
		m, err := model.ParseAs(config, nil, as)
		if err != nil {
			return nil, BadInput(field.About("config", err))
		}
		m.ID = id
		return m, nil
	}
	m, err := from.Open(id)
	return m, BadInput(field.About("model", err))
}

// Models is the source of models.
func (w *Session) Models() model.Source { return model.Source{Dir: w.Dir, Hub: w.Hub} }

// Device finds a device: the profile in file if one is given, otherwise an
// embedded profile by name.
func (w *Session) Device(name, file string) (*device.Profile, error) {
	if file == "" {
		p, err := device.Lookup(name)
		return p, BadInput(field.About("device", err))
	}
	data, err := w.Read("device_file", file, bound.Profile)
	if err != nil {
		return nil, err
	}
	p, err := device.Parse(data, file)
	if err != nil {
		return nil, BadInput(err)
	}
	if name != "" && !strings.EqualFold(name, p.Name) {
		return nil, BadInput(field.Errorf("%s %s is not the device of %s, which is %s", field.Name("device"), name, file, p.Name))
	}
	return p, nil
}

// EngineOn finds the engine that runs under a name on a vendor's devices, in a release.
func EngineOn(v device.Vendor, name, release string) (*engine.Profile, error) {
	p, err := engine.LookupOn(v, name, release)
	return p, BadInput(field.About("engine", err))
}

// Overlay reads a calibration, the shipped one without a file.
func (w *Session) Overlay(file string) (*calibration.Overlay, error) {
	if file == "" {
		return calibration.Shipped(), nil
	}
	data, err := w.Read("calibration", file, bound.Calibration)
	if err != nil {
		return nil, err
	}
	o, err := calibration.Read(data, file)
	return o, BadInput(err)
}
