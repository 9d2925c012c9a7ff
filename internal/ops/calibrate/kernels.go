package calibrate

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/cost/calibrated"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibrate"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// KernelsRequest is a fit of the operator forms to measured kernels.
type KernelsRequest struct {
	PerfData prices.Tables `json:"perf_data"`
	Systems  []string      `json:"systems,omitempty"` // nil = all known ones
	// Selection is a file that lists the forms to take from the fit and its initial constants; "" takes all, starting from
	// the shipped constants.
	Selection string `json:"selection,omitempty"`
}

// KernelsResponse is the fitted constants and their errors.
type KernelsResponse struct {
	Constants map[string]calibrated.Constants
	Errors    []calibrate.KernelErrors
	Tables    *prices.Use
	// Unknown are systems of the directory without a device profile.
	Unknown []string
	// Selected means that a selection chose among the forms.
	Selected bool
}

// Kernels fits the constants of the operator forms, by generation.
func Kernels(ctx context.Context, w *session.Session, r KernelsRequest) (*KernelsResponse, error) {
	selection, err := selection(w, r.Selection)
	if err != nil {
		return nil, session.BadInput(err)
	}
	p, devices, unknown, err := r.open(w)
	if err != nil {
		return nil, session.BadInput(err)
	}
	out := &KernelsResponse{Selected: r.Selection != "", Unknown: unknown}
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
	return session.Finish(ctx, out, session.BadInput(err))
}

// selection reads the selection of forms, nil for none.
func selection(w *session.Session, file string) (map[string]calibrated.Choice, error) {
	if file == "" {
		return nil, nil //nolint:nilnil // no selection
	}
	data, err := w.ReadFile(file, bound.Selection)
	if err != nil {
		return nil, field.Errorf("reading %s: %w", field.Name("selection"), err)
	}
	return calibrated.ReadSelection(file, data)
}

// Write prints the constants with their source.
func (out *KernelsResponse) Write(w io.Writer) error {
	comment := "Constants of the operator forms, per generation, fitted to measured kernels:\n" +
		"plimsoll calibrate --perf-data " + out.Tables.Dir + "\n"
	if out.Selected { // without the input path, so that the same input gives the same bytes
		comment = "Constants of the operator forms, per generation. Made by plimsoll calibrate --perf-data DIR --selection FILE:\n" +
			"selection.yaml says which forms were selected, and why.\n"
	}
	return calibrated.Write(w, comment+"Times are in microseconds, unit in GB/s, the rest are shares of the data sheet's peaks.", out.Constants)
}

// open opens the kernel tables and finds the profiles of the requested systems, or of all in
// the directory; unknown are the systems there without a profile.
func (r *KernelsRequest) open(w *session.Session) (p *prices.Prices, devices []*device.Profile, unknown []string, err error) {
	if r.PerfData.Dir == "" {
		return nil, nil, nil, field.Errorf("a fit to kernels needs %s", field.Name("perf_data"))
	}
	if p, err = prices.Open(w.Dir, r.PerfData); err != nil {
		return nil, nil, nil, err
	}
	systems := r.Systems
	if len(systems) == 0 {
		systems = p.Systems()
	}
	var errs []error
	for _, name := range systems {
		switch d, err := device.Lookup(name); {
		case err == nil:
			devices = append(devices, throughHost(d))
		case len(r.Systems) > 0:
			errs = append(errs, err)
		default:
			unknown = append(unknown, name)
		}
	}
	return p, devices, unknown, errors.Join(errs...)
}

// throughHost is a device as its kernels were measured: over PCIe through the host, whatever the profile says of its links.
func throughHost(d *device.Profile) *device.Profile {
	out := *d
	out.Links = slices.Clone(d.Links)
	for i := range out.Links {
		out.Links[i].Transport = device.ThroughHost
	}
	return &out
}
