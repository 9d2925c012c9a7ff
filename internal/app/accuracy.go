package app

import (
	"bytes"
	"fmt"
	"math"
	"sync"

	"plimsoll/internal/calibrate"
	"plimsoll/internal/cost"
	"plimsoll/internal/device"
	"plimsoll/internal/graph"
	"plimsoll/internal/replica"
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
	out := &AccuracyResponse{Rows: predictor(o, prices).PredictAll(rows, r.Workers), Overlay: o}
	out.Tables, err = prices.used()
	return out, err
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
		return &calibrate.Overlay{Source: "none"}, nil
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
func predictor(o *calibrate.Overlay, p *prices) *calibrate.Predictor {
	var mu sync.Mutex
	costers := map[string]cost.Coster{}
	return &calibrate.Predictor{
		Prices: func(d *device.Profile) cost.Coster {
			mu.Lock()
			defer mu.Unlock()
			if _, ok := costers[d.Name]; !ok {
				c, err := p.coster(d, graph.Physical())
				if err != nil {
					c, _ = form(d, graph.Physical())
				}
				costers[d.Name] = c
			}
			return costers[d.Name]
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
	p := predictor(&calibrate.Overlay{}, &prices{})
	out := &CalibrateResponse{LeaveOut: r.Validation.LeaveOut, Overlay: &calibrate.Overlay{
		Source: "plimsoll calibrate " + r.File, Residuals: map[string]calibrate.Residual{},
	}}
	for _, set := range calibrate.ByEngine(p, rows) {
		f := calibrate.CrossValidate(set, r.Validation, r.Iterations, r.Workers, r.Progress)
		out.Overlay.Set(set.Engine, f.Params)
		out.InSample = append(out.InSample, f.InSample...)
		out.ByConfiguration = append(out.ByConfiguration, f.ByConfiguration...)
		out.ByCell = append(out.ByCell, f.ByCell...)
		out.LeftOut = append(out.LeftOut, f.LeftOut...)
		if len(f.ByConfiguration) > 0 {
			out.Overlay.Residuals[set.Engine] = calibrate.Spread(f.ByConfiguration)
		}
	}
	if len(out.ByCell) > 0 {
		out.Overlay.Residuals[calibrate.Unseen] = calibrate.Spread(out.ByCell)
	}
	if len(out.Overlay.Engines) == 0 {
		return nil, badInput(fmt.Errorf("%s has no clean aggregated row that can be predicted", r.File))
	}
	if r.Validation.Folds > 1 {
		// Nothing was fitted to disaggregated rows: all of them are unseen.
		if apart := apart(rows); len(apart) > 0 {
			out.Overlay.Residuals[calibrate.Disaggregated] = calibrate.Spread(predictor(out.Overlay, &prices{}).PredictAll(apart, r.Workers))
		}
	}
	return out, nil
}

// apart are the clean disaggregated rows.
func apart(rows []calibrate.Row) []calibrate.Row {
	var out []calibrate.Row
	for i := range rows {
		if rows[i].Mode == "disagg" && rows[i].Quality == "" {
			out = append(out, rows[i])
		}
	}
	return out
}

// Coverage is the share of rows whose measurement lies in the 80 % interval.
func (a *AccuracyResponse) Coverage(rows []calibrate.Compared) (ttft, tpot float64) {
	n, inTTFT, inTPOT := 0, 0, 0
	for i := range rows {
		c := &rows[i]
		if c.Pred.Err != nil || c.Row.TTFT <= 0 || c.Row.TPOT <= 0 {
			continue
		}
		n++
		kind := c.Row.Engine
		if c.Row.Mode == "disagg" {
			kind = calibrate.Disaggregated
		}
		s := a.Overlay.Spread(kind)
		if lo, hi := calibrate.Interval(c.Pred.TTFT, s.TTFT); c.Row.TTFT >= lo && c.Row.TTFT <= hi {
			inTTFT++
		}
		if lo, hi := calibrate.Interval(c.Pred.TPOT, s.TPOT); c.Row.TPOT >= lo && c.Row.TPOT <= hi {
			inTPOT++
		}
	}
	if n == 0 {
		return math.NaN(), math.NaN()
	}
	return float64(inTTFT) / float64(n), float64(inTPOT) / float64(n)
}
