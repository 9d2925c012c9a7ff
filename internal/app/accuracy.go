package app

import (
	"bytes"
	"fmt"
	"sync"

	"plimsoll/internal/calibrate"
	"plimsoll/internal/cost"
	"plimsoll/internal/device"
	"plimsoll/internal/serving"
)

// AccuracyRequest asks how well measured rows are predicted.
type AccuracyRequest struct {
	File        string
	Calibration string // an overlay file; "" = the shipped one
	Untuned     bool   // no calibration at all
	PerfData    PerfData
	Workers     int
}

// AccuracyResponse is the errors over measured rows.
type AccuracyResponse struct {
	Rows    []calibrate.Compared
	Overlay *calibrate.Overlay
	// Tables are the measured kernels used, nil without any.
	Tables *TableUse
}

// Accuracy predicts every row of a file of measurements.
func (w *World) Accuracy(r *AccuracyRequest) (*AccuracyResponse, error) {
	rows, err := w.measured(r.File)
	if err != nil {
		return nil, err
	}
	o, err := w.overlay(r.Calibration, r.Untuned)
	if err != nil {
		return nil, err
	}
	prices, err := w.prices(r.PerfData)
	if err != nil {
		return nil, err
	}
	prices.optional = true // rows come from many systems
	if err := prices.check(rows); err != nil {
		return nil, badInput(err)
	}
	out := &AccuracyResponse{Rows: predictor(o, prices).PredictAll(rows, r.Workers), Overlay: o}
	out.Tables, err = prices.used()
	return out, err
}

// check reports what is wrong with the tables asked for, of the first system of
// the rows where something is: predictions themselves cannot fail on prices.
func (p *prices) check(rows []calibrate.Row) error {
	seen := map[string]bool{}
	for i := range rows {
		system := rows[i].System
		if seen[system] {
			continue
		}
		seen[system] = true
		d, err := device.Lookup(system)
		if err != nil {
			continue // its rows say so
		}
		if _, err := p.physical(d); err != nil {
			return err
		}
	}
	return nil
}

// ExamineResponse is the doubts about a file of measurements.
type ExamineResponse struct {
	Rows     []calibrate.Row
	Findings []calibrate.Finding
}

// Examine says which rows of a file cannot be what they claim.
func (w *World) Examine(file string) (*ExamineResponse, error) {
	rows, err := w.measured(file)
	if err != nil {
		return nil, err
	}
	return &ExamineResponse{Rows: rows, Findings: predictor(&calibrate.Overlay{}, &prices{}).Examine(rows)}, nil
}

// measured reads a file of measured rows.
func (w *World) measured(file string) ([]calibrate.Row, error) {
	data, err := w.ReadFile(file)
	if err != nil {
		return nil, badInput(fmt.Errorf("reading measurements: %w", err))
	}
	rows, err := calibrate.Read(bytes.NewReader(data), file)
	return rows, badInput(err)
}

// overlay reads a calibration, the shipped one without a file.
func (w *World) overlay(file string, untuned bool) (*calibrate.Overlay, error) {
	switch {
	case untuned:
		fit := calibrate.Shipped() // its residuals know of predictions without a fit
		return &calibrate.Overlay{Source: "none", Reach: fit.Reach, Residuals: fit.Residuals}, nil
	case file == "":
		return calibrate.Shipped(), nil
	}
	data, err := w.ReadFile(file)
	if err != nil {
		return nil, badInput(fmt.Errorf("reading --calibration: %w", err))
	}
	o, err := calibrate.ReadOverlay(data, file)
	return o, badInput(err)
}

// predictor predicts rows with physical graphs at each device's best prices,
// which must have no tables or have been checked.
func predictor(o *calibrate.Overlay, p *prices) *calibrate.Predictor {
	var mu sync.Mutex
	costers := map[string]cost.Coster{}
	return &calibrate.Predictor{
		Prices: func(d *device.Profile) cost.Coster {
			mu.Lock()
			defer mu.Unlock()
			if _, ok := costers[d.Name]; !ok {
				c, err := p.physical(d)
				if err != nil {
					panic(fmt.Sprintf("prices of %s were not checked: %v", d.Name, err))
				}
				costers[d.Name] = c
			}
			return costers[d.Name]
		},
		Tune: o.Params().Tuning,
	}
}

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
	Overlay *calibrate.Overlay
	// Before are the rows as the base predicts them.
	Before []calibrate.Compared
	calibrate.Validated
}

// Calibrate fits measured rows.
func (w *World) Calibrate(r *CalibrateRequest) (*CalibrateResponse, error) {
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
		c.Base = base.Params()
	}
	out := &CalibrateResponse{
		Before: p.PredictPrepared(prepared, r.Workers), Validated: c.Run(prepared),
	}
	out.Overlay = &calibrate.Overlay{Source: "plimsoll calibrate " + r.File}
	if !r.FromScratch {
		out.Overlay.Cells, out.Overlay.Reach, out.Overlay.Residuals = base.Cells, base.Reach, base.Residuals
	}
	out.Overlay.Set(out.Params)
	if r.FromScratch {
		out.Overlay.Reached(prepared)
		out.Overlay.Fitted(prepared)
	}
	switch {
	case r.Validation.Folds < 2:
	case r.FromScratch:
		out.learn(rows, r.Workers)
	default:
		out.Overlay.LearnOwn(out.ByConfiguration)
	}
	return out, nil
}

// learn puts the residuals of rows no fit had seen into the overlay.
func (c *CalibrateResponse) learn(rows []calibrate.Row, workers int) {
	untuned := predictor(&calibrate.Overlay{}, &prices{})
	together := cleanRows(rows, "agg")
	c.Overlay.Learn(&calibrate.Evidence{
		Seen: calibrate.OfMode(c.ByConfiguration, "agg"), Unseen: calibrate.OfMode(c.ByCell, "agg"),
		Apart:    calibrate.OfMode(c.ByCell, "disagg"),
		Untuned:  untuned.PredictAll(together, workers),
		Formulas: untuned.AllFormulas(together, serving.Documented),
		Steady:   untuned.AllFormulas(together, serving.Steady),
	})
}

// cleanRows are the rows of a mode without a mark on their quality.
func cleanRows(rows []calibrate.Row, mode string) []calibrate.Row {
	var out []calibrate.Row
	for i := range rows {
		if rows[i].Mode == mode && rows[i].Quality == "" {
			out = append(out, rows[i])
		}
	}
	return out
}
