package app

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"plimsoll/internal/calibration"
	"plimsoll/internal/cost"
	"plimsoll/internal/device"
	"plimsoll/internal/graph"
	"plimsoll/internal/measured"
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
	Rows    []measured.Compared
	Overlay *calibration.Overlay
	// Tables are the measured kernels used, nil without any.
	Tables *TableUse
}

// Accuracy predicts every row of a file of measurements.
func (w *World) Accuracy(ctx context.Context, r *AccuracyRequest) (*AccuracyResponse, error) {
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
	out := &AccuracyResponse{Overlay: o}
	if out.Rows, err = predictor(o, prices).PredictAll(ctx, rows, r.Workers); err != nil {
		return nil, err
	}
	out.Tables, err = prices.used()
	return out, err
}

// check reports what is wrong with the tables asked for, of the first system of
// the rows where something is: predictions themselves cannot fail on prices.
func (p *prices) check(rows []measured.Row) error {
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
		if _, err := p.coster(d, graph.Physical()); err != nil {
			return err
		}
	}
	return nil
}

// ExamineResponse is the doubts about a file of measurements.
type ExamineResponse struct {
	Rows     []measured.Row
	Findings []measured.Finding
}

// Examine says which rows of a file cannot be what they claim.
func (w *World) Examine(file string) (*ExamineResponse, error) {
	rows, err := w.measured(file)
	if err != nil {
		return nil, err
	}
	return &ExamineResponse{Rows: rows, Findings: predictor(&calibration.Overlay{}, &prices{}).Examine(rows)}, nil
}

// measured reads a file of measured rows.
func (w *World) measured(file string) ([]measured.Row, error) {
	data, err := w.ReadFile(file)
	if err != nil {
		return nil, badInput(fmt.Errorf("reading measurements: %w", err))
	}
	rows, err := measured.Read(bytes.NewReader(data), file)
	return rows, badInput(err)
}

// overlay reads a calibration, the shipped one without a file.
func (w *World) overlay(file string, untuned bool) (*calibration.Overlay, error) {
	switch {
	case untuned:
		return calibration.Uncalibrated(), nil
	case file == "":
		return calibration.Shipped(), nil
	}
	data, err := w.ReadFile(file)
	if err != nil {
		return nil, badInput(fmt.Errorf("reading --calibration: %w", err))
	}
	o, err := calibration.Read(data, file)
	return o, badInput(err)
}

// predictor predicts rows with physical graphs at each device's best prices,
// which must have no tables or have been checked.
func predictor(o *calibration.Overlay, p *prices) *measured.Predictor {
	var mu sync.Mutex
	costers := map[string]cost.Coster{}
	return &measured.Predictor{
		Prices: func(d *device.Profile) cost.Coster {
			mu.Lock()
			defer mu.Unlock()
			if _, ok := costers[d.Name]; !ok {
				c, err := p.coster(d, graph.Physical())
				if err != nil {
					panic(fmt.Sprintf("prices of %s were not checked: %v", d.Name, err))
				}
				costers[d.Name] = c
			}
			return costers[d.Name]
		},
		Calibration: o,
	}
}
