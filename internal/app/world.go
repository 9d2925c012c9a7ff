package app

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"plimsoll/internal/calibrate"
	"plimsoll/internal/device"
	"plimsoll/internal/model"
)

// World is where models and devices come from beyond what is built in.
type World struct {
	// Dir opens a local directory.
	Dir func(path string) fs.FS
	// ReadFile reads a local file.
	ReadFile func(name string) ([]byte, error)
	// Hub is the Hugging Face cache, nil when there is none.
	Hub fs.FS
}

// InputError is a mistake in a request, to be mended by asking differently.
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

// Model finds a model: a directory that holds a config.json, an id of the
// catalog or in the Hugging Face cache, or another name of a model of the catalog.
func (w *World) Model(id string) (*model.Model, error) {
	if id == "" {
		return nil, badInput(errors.New("no model given"))
	}
	m, err := w.models().Open(id)
	return m, badInput(err)
}

// models is where models come from.
func (w *World) models() model.Source { return model.Source{Dir: w.Dir, Hub: w.Hub} }

// stage finds what a prediction is about: a model, a device, and the calibration
// of what is said of them.
func (w *World) stage(id, name, file, calibration string) (*model.Model, *device.Profile, *calibrate.Overlay, error) {
	m, err := w.Model(id)
	if err != nil {
		return nil, nil, nil, err
	}
	d, err := w.Device(name, file)
	if err != nil {
		return nil, nil, nil, err
	}
	o, err := w.overlay(calibration, false)
	return m, d, o, err
}

// Device finds a device: the profile in file if one is given, otherwise an
// embedded profile by name.
func (w *World) Device(name, file string) (*device.Profile, error) {
	if file == "" {
		p, err := device.Lookup(name)
		return p, badInput(err)
	}
	data, err := w.ReadFile(file)
	if err != nil {
		return nil, badInput(fmt.Errorf("reading --device-file: %w", err))
	}
	p, err := device.Parse(data, file)
	if err != nil {
		return nil, badInput(err)
	}
	if name != "" && !strings.EqualFold(name, p.Name) {
		return nil, badInput(fmt.Errorf("--device %s is not the device of %s, which is %s", name, file, p.Name))
	}
	return p, nil
}
