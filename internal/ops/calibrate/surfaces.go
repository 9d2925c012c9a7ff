package calibrate

import (
	"context"
	"io"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/cost/table"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// SurfacesResponse is fitted surfaces, and their errors on shapes left out.
type SurfacesResponse struct {
	Surfaces table.Surfaces
	Errors   []SurfaceErrors
	Tables   *prices.Use
	// Unknown are systems of the directory without a device profile.
	Unknown []string
}

// SurfaceErrors is how far predictions of shapes left out lie from their measurements.
type SurfaceErrors struct {
	System, Family string
	Missed         int // shapes that are not predicted
	// Surface, Tables and Form are those of surfaces, of all other measured rows, and of
	// the operator forms alone.
	Surface, Tables, Form measured.Errors
}

// Surfaces fits surfaces to the measured kernels of the systems asked for.
func Surfaces(ctx context.Context, w *session.Session, r KernelsRequest) (*SurfacesResponse, error) {
	if r.PerfData.Dir == "" {
		return nil, session.BadInput(field.Errorf("fitting surfaces to kernels needs %s", field.Name("perf_data")))
	}
	p, err := prices.Open(w.Dir, r.PerfData)
	if err != nil {
		return nil, session.BadInput(err)
	}
	devices, unknown, err := kernelDevices(p, r.Systems)
	if err != nil {
		return nil, session.BadInput(err)
	}
	out := &SurfacesResponse{Unknown: unknown}
	out.Surfaces.Source = "kernel tables of AIConfigurator (github.com/ai-dynamo/aiconfigurator, Apache-2.0, August 2026), smoothed and thinned"
	for _, d := range devices {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if _, err := p.Coster(d, prices.Calibrated, false, false); err != nil {
			return nil, session.BadInput(err)
		}
		f, left, err := p.Surfaces(d)
		if err != nil {
			return nil, session.BadInput(err)
		}
		out.Surfaces.Systems = append(out.Surfaces.Systems, f)
		for i := range left {
			l := &left[i]
			out.Errors = append(out.Errors, SurfaceErrors{
				System: d.Name, Family: l.Family, Missed: l.Missed,
				Surface: measured.SummarizeRatios(l.Surface), Tables: measured.SummarizeRatios(l.Full), Form: measured.SummarizeRatios(l.Form),
			})
		}
	}
	if len(out.Errors) == 0 {
		return nil, session.BadInput(field.Errorf("%s %s has no kernels of the operator forms", field.Name("perf_data"), r.PerfData.Dir))
	}
	out.Tables, err = p.Used()
	return out, session.BadInput(err)
}

// Write writes the surfaces as a file.
func (out *SurfacesResponse) Write(w io.Writer) error { return table.WriteSurfaces(w, &out.Surfaces) }
