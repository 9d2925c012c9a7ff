package app

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"sync"

	"plimsoll/internal/calibrate"
	"plimsoll/internal/cost"
	"plimsoll/internal/device"
	"plimsoll/internal/graph"
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
	LeaveOut string
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
		LeaveOut: r.Validation.LeaveOut, Before: p.PredictPrepared(prepared, r.Workers), Validated: c.Run(prepared),
	}
	out.Overlay = &calibrate.Overlay{Source: "plimsoll calibrate " + r.File, Residuals: map[string]calibrate.Residual{}}
	maps.Copy(out.Overlay.Residuals, base.Residuals)
	out.Overlay.Set(out.Params)
	if r.Validation.Folds > 1 {
		out.addResiduals()
	}
	return out, nil
}

// addResiduals puts the spreads of predictions of unseen rows into the overlay.
func (out *CalibrateResponse) addResiduals() {
	kinds := map[string][]calibrate.Compared{}
	for _, c := range out.ByConfiguration {
		kind := c.Row.Engine
		if c.Row.Mode == "disagg" {
			kind = calibrate.Disaggregated
		}
		kinds[kind] = append(kinds[kind], c)
	}
	for _, c := range out.ByCell {
		if c.Row.Mode == "agg" {
			kinds[calibrate.Unseen] = append(kinds[calibrate.Unseen], c)
		}
	}
	for name, rows := range kinds {
		out.Overlay.Residuals[name] = calibrate.Spread(rows)
	}
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
