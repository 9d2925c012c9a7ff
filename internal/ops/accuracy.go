package ops

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
)

// AccuracyRequest asks how well measured rows are predicted.
type AccuracyRequest struct {
	File         string        `json:"file"`
	Calibration  string        `json:"calibration,omitempty"` // an overlay file; "" = the shipped one
	Uncalibrated bool          `json:"uncalibrated,omitempty"`
	PerfData     prices.Tables `json:"perf_data,omitzero"`
	Workers      int           `json:"jobs,omitempty"` // 0 = 1
	// Energy asks for the joules of rows without measured ones too.
	Energy bool `json:"energy,omitempty"`
}

// AccuracyResponse is the errors over measured rows.
type AccuracyResponse struct {
	Rows []measured.Compared
	// Calibration is the source of the multipliers and intervals.
	Calibration string
	// Tables are the measured kernels used, nil without any.
	Tables *prices.Use
}

// Accuracy predicts every row of a file of measurements.
func (w *World) Accuracy(ctx context.Context, r AccuracyRequest) (*AccuracyResponse, error) {
	rows, err := w.measured(r.File)
	if err != nil {
		return nil, err
	}
	o := calibration.Uncalibrated()
	if !r.Uncalibrated {
		if o, err = w.overlay(r.Calibration); err != nil {
			return nil, err
		}
	}
	out := &AccuracyResponse{Calibration: o.Source}
	p, err := prices.Open(w.Dir, r.PerfData)
	if err != nil {
		return nil, badInput(err)
	}
	p.Optional = true // rows come from many systems
	if err := checkPrices(p, rows); err != nil {
		return nil, badInput(err)
	}
	predictor := w.predictor(o, p)
	predictor.Energy = r.Energy
	predictor.Progress = func(done int) { w.tell(Progress{"predicting", done, len(rows), "rows"}) }
	if out.Rows, err = predictor.PredictAll(ctx, rows, r.Workers); err != nil {
		return nil, err
	}
	measured.Expect(o, out.Rows)
	out.Tables, err = p.Used()
	return out, badInput(err)
}

// checkPrices checks the kernel tables of the rows' systems and reports the first
// problem: predictions themselves cannot fail on tables.
func checkPrices(p *prices.Prices, rows []measured.Row) error {
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
		if _, err := p.Physical(d); err != nil {
			return err
		}
	}
	return nil
}

// ExamineResponse is the suspicious rows of a file of measurements.
type ExamineResponse struct {
	Rows     []measured.Row
	Findings []measured.Finding
}

// Examine finds the suspicious rows of a file of measurements.
func (w *World) Examine(_ context.Context, file string) (*ExamineResponse, error) {
	rows, err := w.measured(file)
	if err != nil {
		return nil, err
	}
	return &ExamineResponse{Rows: rows, Findings: w.predictor(&calibration.Overlay{}, &prices.Prices{}).Examine(rows)}, nil
}

// measured reads a file of measured rows.
func (w *World) measured(files ...string) ([]measured.Row, error) {
	var out []measured.Row
	for _, file := range files {
		if w.ReadFile == nil {
			return nil, badInput(fmt.Errorf("%s: %w", file, errNoFiles))
		}
		data, err := w.ReadFile(file)
		if err != nil {
			return nil, badInput(fmt.Errorf("reading measurements: %w", err))
		}
		rows, err := measured.Read(bytes.NewReader(data), file)
		if err != nil {
			return nil, badInput(err)
		}
		out = append(out, rows...)
	}
	return out, nil
}

// predictor predicts rows with physical graphs at each device's best prices,
// which must have no tables or have been checked.
func (w *World) predictor(o *calibration.Overlay, p *prices.Prices) *measured.Predictor {
	var mu sync.Mutex
	costers := map[string]cost.Coster{}
	return &measured.Predictor{
		Prices: func(d *device.Profile) cost.Coster {
			mu.Lock()
			defer mu.Unlock()
			if _, ok := costers[d.Name]; !ok {
				c, err := p.Physical(d)
				if err != nil {
					panic(fmt.Sprintf("prices of %s were not checked: %v", d.Name, err))
				}
				costers[d.Name] = c
			}
			return costers[d.Name]
		},
		Calibration: o,
		Models:      w.models(),
	}
}
