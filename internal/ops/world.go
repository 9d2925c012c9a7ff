package ops

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// World is where models and devices come from beyond what is built in, and who is
// told how far long work is. Its zero value knows what is built in.
type World struct {
	// Dir opens a local directory.
	Dir func(path string) fs.FS
	// ReadFile reads a local file.
	ReadFile func(name string) ([]byte, error)
	// Hub is the Hugging Face cache, nil when there is none.
	Hub fs.FS
	// Memo, if not nil, remembers simulations from one search to the next.
	Memo *Memo
	// Progress, if not nil, reports the progress of long work. It may be called from
	// several goroutines, one call at a time.
	Progress func(Progress)
}

// Progress is how far long work is.
type Progress struct {
	Task     string // "h200_sxm decode", "fitting 1319 rows"
	Done, Of int    // zero where the work is not counted
	What     string // what is counted
}

// tell reports progress.
func (w *World) tell(p Progress) {
	if w.Progress != nil {
		w.Progress(p)
	}
}

// InputError is a mistake in a request, which the caller can correct.
type InputError struct{ Err error }

// Error returns the mistake.
func (e *InputError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.Err }

func badInput(err error) error {
	if err == nil {
		return nil
	}
	return &InputError{err}
}

// ErrNoModel is a request without a model.
var ErrNoModel = errors.New("no model given")

// errNoFiles is what a World without files says to every name.
var errNoFiles = errors.New("files cannot be read here")

// read reads the file that a field names.
func (w *World) read(name field.Name, file string) ([]byte, error) {
	if w.ReadFile == nil {
		return nil, badInput(field.Errorf("%s %s: %w", name, file, errNoFiles))
	}
	data, err := w.ReadFile(file)
	if err != nil {
		return nil, badInput(field.Errorf("reading %s: %w", name, err))
	}
	return data, nil
}

// Model finds a model: a directory that holds a config.json, an id of the
// catalog or in the Hugging Face cache, or another name of a model of the catalog.
// A config.json is read as the family named, "" for that of its architecture.
func (w *World) Model(id, as string) (*model.Model, error) {
	if id == "" {
		return nil, badInput(ErrNoModel)
	}
	from := w.models()
	from.As = as
	m, err := from.Open(id)
	return m, badInput(err)
}

// models is where models come from.
func (w *World) models() model.Source { return model.Source{Dir: w.Dir, Hub: w.Hub} }

// Device finds a device: the profile in file if one is given, otherwise an
// embedded profile by name.
func (w *World) Device(name, file string) (*device.Profile, error) {
	if file == "" {
		p, err := device.Lookup(name)
		return p, badInput(err)
	}
	data, err := w.read("device_file", file)
	if err != nil {
		return nil, err
	}
	p, err := device.Parse(data, file)
	if err != nil {
		return nil, badInput(err)
	}
	if name != "" && !strings.EqualFold(name, p.Name) {
		return nil, badInput(field.Errorf("%s %s is not the device of %s, which is %s", field.Name("device"), name, file, p.Name))
	}
	return p, nil
}

// Sources are the files an answer may rest on beside what is built in.
type Sources struct {
	DeviceFile  string        `json:"device_file,omitempty"`
	Calibration string        `json:"calibration,omitempty"` // an overlay file; "" = the shipped one
	PerfData    prices.Tables `json:"perf_data,omitzero"`
}

// stage is what a prediction about one deployment stands on.
type stage struct {
	deployment.Parts

	prices  *prices.Prices
	overlay *calibration.Overlay
	kinds   *kinds // of requests; nil where they have one length
}

// captured is what the engine captures for many sequences of the model.
func (s *stage) captured() engine.Graph {
	return s.Engine.On(s.Device, 1, s.Model.Family).Graph
}

// stage finds what the names of a deployment and its sources stand for, from memory if
// they were found before.
func (w *World) stage(d *deployment.Deployment, s *Sources) (*stage, error) {
	if w.Memo == nil || s.PerfData.Dir != "" { // tables count what is taken from them
		return w.newStage(d, s)
	}
	return w.Memo.stage(d, s, func() (*stage, error) { return w.newStage(d, s) })
}

func (w *World) newStage(d *deployment.Deployment, s *Sources) (*stage, error) {
	out := &stage{}
	var errs [6]error
	out.Model, errs[0] = w.Model(d.Model, d.AsFamily)
	out.Device, errs[1] = w.Device(d.System, s.DeviceFile)
	if d.Engine.Name != "" {
		var err error
		out.Engine, err = engine.LookupVersion(d.Engine.Name, d.Engine.Version)
		errs[2] = badInput(err)
	}
	out.overlay, errs[3] = w.overlay(s.Calibration)
	var err error
	out.prices, err = prices.Open(w.Dir, s.PerfData)
	errs[4] = badInput(err)
	out.Systems, errs[5] = w.systems(d)
	return out, errors.Join(errors.Join(errs[:]...), badInput(d.CheckFormats()))
}

// systems are the profiles of pools that have a system of their own.
func (w *World) systems(d *deployment.Deployment) (map[string]*device.Profile, error) {
	var out map[string]*device.Profile
	for i := range d.Pools {
		name := d.Pools[i].System
		if name == "" {
			continue
		}
		p, err := w.Device(name, "")
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = map[string]*device.Profile{}
		}
		out[name] = p
	}
	return out, nil
}

// overlay reads a calibration, the shipped one without a file.
func (w *World) overlay(file string) (*calibration.Overlay, error) {
	if file == "" {
		return calibration.Shipped(), nil
	}
	data, err := w.read("calibration", file)
	if err != nil {
		return nil, err
	}
	o, err := calibration.Read(data, file)
	return o, badInput(err)
}

// about is a prediction about a checkpoint on a device. Tables may cover little of it:
// how far it may be off goes by the prices of the rest.
func about(s *graph.Spec, d *device.Profile, p prices.Pricing, tier device.Tier) calibration.Case {
	out := calibration.Case{Subject: calibration.SubjectOf(s, "", d), Tier: tier, Vendor: d.Vendor}
	if tier == device.Measured {
		out.Tier, out.Tables = p.Tier(d), true
	}
	return out
}
