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

// SurfacesResponse is the fitted surfaces and their errors on held-out shapes.
type SurfacesResponse struct {
	Surfaces table.Surfaces
	Errors   []SurfaceErrors
	Tables   *prices.Use
	// Unknown are systems of the directory without a device profile.
	Unknown []string
}

// SurfaceErrors is the error of predictions of held-out shapes.
type SurfaceErrors struct {
	System, Family string
	Missed         int // shapes that are not predicted
	// Surface, Tables and Form are the errors of surfaces, of tables of the other measured rows,
	// and of the operator forms.
	Surface, Tables, Form measured.Errors
}

// Surfaces fits surfaces to the measured kernels of the requested systems.
func Surfaces(ctx context.Context, w *session.Session, r KernelsRequest) (*SurfacesResponse, error) {
	p, devices, unknown, err := r.open(w)
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
	return session.Finish(ctx, out, session.BadInput(err))
}

// Write writes the surfaces as a file.
func (out *SurfacesResponse) Write(w io.Writer) error { return table.WriteSurfaces(w, &out.Surfaces) }
