package calibrate

import (
	"context"
	"errors"
	"io"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/cost/calibrated"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibrate"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// KernelsRequest asks for a fit of the operator forms to measured kernels.
type KernelsRequest struct {
	PerfData prices.Tables `json:"perf_data"`
	Systems  []string      `json:"systems,omitempty"` // nil = all that are known
	// Selection is a file of the forms that are taken from the fit, and of what it starts from; "" takes all, from the
	// shipped constants.
	Selection string `json:"selection,omitempty"`
}

// KernelsResponse is fitted constants, and their errors on the measurements.
type KernelsResponse struct {
	Constants map[string]calibrated.Constants
	Errors    []calibrate.KernelErrors
	Tables    *prices.Use
	// Unknown are systems of the directory without a device profile.
	Unknown []string
	// Selected says that a selection chose among the forms.
	Selected bool
}

// Kernels fits the constants of the operator forms, by generation.
func Kernels(ctx context.Context, w *session.Session, r KernelsRequest) (*KernelsResponse, error) {
	if r.PerfData.Dir == "" {
		return nil, session.BadInput(field.Errorf("fitting operators to kernels needs %s", field.Name("perf_data")))
	}
	p, err := prices.Open(w.Dir, r.PerfData)
	if err != nil {
		return nil, session.BadInput(err)
	}
	selection, err := selection(w, r.Selection)
	if err != nil {
		return nil, session.BadInput(err)
	}
	out := &KernelsResponse{Selected: r.Selection != ""}
	devices, unknown, err := kernelDevices(p, r.Systems)
	if err != nil {
		return nil, session.BadInput(err)
	}
	out.Unknown = unknown
	var sets []calibrate.Kernels
	for _, d := range devices {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if _, err := p.Physical(d); err != nil {
			return nil, session.BadInput(err)
		}
		samples, err := p.Samples(d)
		if err != nil {
			return nil, session.BadInput(err)
		}
		sets = append(sets, calibrate.Kernels{Device: d, Samples: samples})
	}
	if out.Constants, out.Errors, err = calibrate.FitKernels(ctx, sets, selection); err != nil {
		return nil, err
	}
	if len(out.Errors) == 0 {
		return nil, session.BadInput(field.Errorf("%s %s has no kernels of the operator forms", field.Name("perf_data"), r.PerfData.Dir))
	}
	out.Tables, err = p.Used()
	return out, session.BadInput(err)
}

// selection reads the file that chooses among the forms, nil for none.
func selection(w *session.Session, file string) (map[string]calibrated.Choice, error) {
	if file == "" {
		return nil, nil //nolint:nilnil // everything is taken
	}
	data, err := w.ReadFile(file)
	if err != nil {
		return nil, field.Errorf("reading %s: %w", field.Name("selection"), err)
	}
	return calibrated.ReadSelection(file, data)
}

// Write prints the constants with their source.
func (out *KernelsResponse) Write(w io.Writer) error {
	comment := "Constants of the operator forms, per generation, fitted to measured kernels:\n" +
		"plimsoll calibrate --perf-data " + out.Tables.Dir + "\n"
	if out.Selected { // says nothing of where its input was, so that the same input gives the same bytes
		comment = "Constants of the operator forms, per generation. Made by plimsoll calibrate --perf-data DIR --selection FILE:\n" +
			"selection.yaml says which forms were selected, and why.\n"
	}
	return calibrated.Write(w, comment+"Times are in microseconds, the rest are shares of the data sheet's peaks.", out.Constants)
}

// kernelDevices finds the profiles of the systems asked for, or of all that the
// directory has; unknown are those of them without a profile.
func kernelDevices(p *prices.Prices, systems []string) (devices []*device.Profile, unknown []string, err error) {
	var errs []error
	for _, name := range systems {
		d, err := device.Lookup(name)
		errs = append(errs, err)
		devices = append(devices, d)
	}
	if len(systems) > 0 {
		return devices, nil, errors.Join(errs...)
	}
	for _, name := range p.Systems() {
		d, err := device.Lookup(name)
		if err != nil {
			unknown = append(unknown, name)
			continue
		}
		devices = append(devices, d)
	}
	return devices, unknown, nil
}
