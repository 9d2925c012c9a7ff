package app

import (
	"bytes"
	"fmt"
	"sync"

	"plimsoll/internal/calibrate"
	"plimsoll/internal/cost"
	"plimsoll/internal/device"
	"plimsoll/internal/graph"
	"plimsoll/internal/replica"
	"plimsoll/internal/serving"
)

// AccuracyRequest asks how well measured rows are predicted.
type AccuracyRequest struct {
	File        string
	Calibration string // an overlay file; "" = the shipped one
	Untuned     bool   // no calibration at all
	Workers     int
}

// AccuracyResponse is the errors over measured rows.
type AccuracyResponse struct {
	Rows    []calibrate.Compared
	Overlay *calibrate.Overlay
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
	p := predictor(o)
	return &AccuracyResponse{Rows: p.PredictAll(rows, r.Workers), Overlay: o}, nil
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
	return &ExamineResponse{Rows: rows, Findings: predictor(&calibrate.Overlay{}).Examine(rows)}, nil
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

// predictor predicts rows with physical graphs at each device's best prices.
func predictor(o *calibrate.Overlay) *calibrate.Predictor {
	var mu sync.Mutex
	prices := map[string]cost.Coster{}
	return &calibrate.Predictor{
		Prices: func(d *device.Profile) cost.Coster {
			mu.Lock()
			defer mu.Unlock()
			if _, ok := prices[d.Name]; !ok {
				prices[d.Name], _ = coster(d, graph.Physical())
			}
			return prices[d.Name]
		},
		Tune: func(engine, generation string) replica.Tuning { return o.Tuning(engine, generation) },
	}
}

// CalibrateRequest asks for a fit to measured rows.
type CalibrateRequest struct {
	File       string
	Iterations int
	Workers    int
	Validation calibrate.Validation
	Progress   func(string)
}

// CalibrateResponse is a fit and what it is worth.
type CalibrateResponse struct {
	Overlay *calibrate.Overlay
	// InSample are the fitted rows; ByConfiguration and ByCell predict each row
	// by a fit that has not seen its configuration or its cell.
	InSample, ByConfiguration, ByCell []calibrate.Compared
	// LeftOut predicts each row by a fit that has not seen its LeaveOut.
	LeftOut  []calibrate.Compared
	LeaveOut string
}

// Calibrate fits engines to measured rows.
func (w *World) Calibrate(r *CalibrateRequest) (*CalibrateResponse, error) {
	rows, err := w.measured(r.File)
	if err != nil {
		return nil, err
	}
	p := predictor(&calibrate.Overlay{})
	out := &CalibrateResponse{LeaveOut: r.Validation.LeaveOut, Overlay: &calibrate.Overlay{
		Source: "plimsoll calibrate " + r.File,
	}}
	for _, set := range calibrate.ByEngine(p, rows) {
		f := calibrate.CrossValidate(set, r.Validation, r.Iterations, r.Workers, r.Progress)
		out.Overlay.Set(set.Engine, f.Params)
		out.Overlay.Fitted(set.Rows)
		out.InSample = append(out.InSample, f.InSample...)
		out.ByConfiguration = append(out.ByConfiguration, f.ByConfiguration...)
		out.ByCell = append(out.ByCell, f.ByCell...)
		out.LeftOut = append(out.LeftOut, f.LeftOut...)
	}
	if len(out.Overlay.Engines) == 0 {
		return nil, badInput(fmt.Errorf("%s has no clean aggregated row that can be predicted", r.File))
	}
	if r.Validation.Folds > 1 {
		out.learn(p, rows, r.Workers)
	}
	return out, nil
}

// learn puts the residuals of rows no fit had seen into the overlay.
func (c *CalibrateResponse) learn(untuned *calibrate.Predictor, rows []calibrate.Row, workers int) {
	together, apart := cleanRows(rows, "agg"), cleanRows(rows, "disagg")
	c.Overlay.Learn(&calibrate.Validated{
		Seen: c.ByConfiguration, Unseen: c.ByCell,
		Apart:    predictor(c.Overlay).PredictAll(apart, workers), // nothing is fitted to them
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

// Coverage is the share of rows whose measurement lies in the 80 % interval; NaN
// of none.
func (a *AccuracyResponse) Coverage(rows []calibrate.Compared) (ttft, tpot float64) {
	return a.Overlay.Coverage(rows)
}
