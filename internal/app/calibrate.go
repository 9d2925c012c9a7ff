package app

import (
	"context"
	"fmt"

	"plimsoll/internal/calibrate"
	"plimsoll/internal/calibration"
	"plimsoll/internal/measured"
	"plimsoll/internal/serving"
)

// CalibrateRequest asks for a fit to measured rows.
type CalibrateRequest struct {
	File string
	// Calibration is an overlay file whose parameters stay as they are while the
	// rows' cells are fitted on top; "" = the shipped one.
	Calibration string
	FromScratch bool // fit every group anew instead, none to a cell
	Iterations  int
	Workers     int
	Validation  calibrate.Validation
	Progress    func(string)
}

// CalibrateResponse is a fit and what it is worth.
type CalibrateResponse struct {
	// Before are the rows as the base predicts them.
	Before []measured.Compared
	calibrate.Validated
}

// Calibrate fits measured rows.
func (w *World) Calibrate(ctx context.Context, r *CalibrateRequest) (*CalibrateResponse, error) {
	rows, err := w.measured(r.File)
	if err != nil {
		return nil, err
	}
	base, err := w.overlay(r.Calibration, r.FromScratch)
	if err != nil {
		return nil, err
	}
	p := predictor(base, &prices{})
	prepared := p.PrepareClean(rows)
	if len(prepared) == 0 {
		return nil, badInput(fmt.Errorf("%s has no clean row that can be predicted", r.File))
	}
	c := calibrate.Calibration{Iterations: r.Iterations, Workers: r.Workers, Validation: r.Validation, Progress: r.Progress}
	if !r.FromScratch {
		c.Base = base
	}
	out := &CalibrateResponse{}
	if out.Before, err = p.PredictPrepared(ctx, prepared, r.Workers); err != nil {
		return nil, err
	}
	if out.Validated, err = c.Run(ctx, prepared); err != nil {
		return nil, err
	}
	out.Overlay.Source = "plimsoll calibrate " + r.File
	if r.FromScratch {
		calibrate.Reached(out.Overlay, prepared)
	} else {
		out.Overlay.Reach, out.Overlay.Residuals = base.Reach, base.Residuals
	}
	switch {
	case r.Validation.Folds < 2:
	case r.FromScratch:
		return out, out.learn(ctx, rows, r.Workers)
	default:
		calibrate.LearnOwn(out.Overlay, out.ByConfiguration)
	}
	return out, nil
}

// learn puts the residuals of held-out rows into the overlay.
func (c *CalibrateResponse) learn(ctx context.Context, rows []measured.Row, workers int) error {
	plain := predictor(&calibration.Overlay{}, &prices{})
	aggregated := cleanRows(rows, "agg")
	without, err := plain.PredictAll(ctx, aggregated, workers)
	if err != nil {
		return err
	}
	calibrate.Learn(c.Overlay, &calibrate.Evidence{
		Seen: measured.OfMode(c.ByConfiguration, "agg"), Unseen: measured.OfMode(c.ByCell, "agg"),
		Disaggregated: measured.OfMode(c.ByCell, "disagg"), Uncalibrated: without,
		Formulas: plain.AllFormulas(ctx, aggregated, serving.Documented),
		Steady:   plain.AllFormulas(ctx, aggregated, serving.Steady),
	})
	return nil
}

// cleanRows are the rows of a mode without a mark on their quality.
func cleanRows(rows []measured.Row, mode string) []measured.Row {
	var out []measured.Row
	for i := range rows {
		if rows[i].Mode == mode && rows[i].Quality == "" {
			out = append(out, rows[i])
		}
	}
	return out
}
