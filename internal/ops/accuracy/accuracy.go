package accuracy

import (
	"context"

	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
	"github.com/plimsoll-project/plimsoll/internal/ops/calibrate"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// Request is a file of measured rows to predict, or results of load generators as they are.
type Request struct {
	File string `json:"file"`
	// Results, if it names some, are predicted in place of a file of rows.
	Results      calibrate.ResultsRequest `json:"results,omitzero"`
	Calibration  string                   `json:"calibration,omitempty"` // an overlay file; "" = the shipped one
	Uncalibrated bool                     `json:"uncalibrated,omitempty"`
	PerfData     prices.Tables            `json:"perf_data,omitzero"`
	Workers      int                      `json:"jobs,omitempty"` // 0 = 1
	// Energy also predicts the joules of rows without measured ones.
	Energy bool `json:"energy,omitempty"`
}

// Response is the measured rows with their predictions.
type Response struct {
	Rows []measured.Compared
	// Calibration is the source of the multipliers and intervals.
	Calibration string
	// Tables are the measured kernels used, nil without any.
	Tables *prices.Use
	// Results are the runs of load generators among the rows, and those that could not be used.
	Results calibrate.FoundResults
}

// Run predicts every row of a file of measurements.
func Run(ctx context.Context, w *session.Session, r Request) (*Response, error) {
	var rows []measured.Row
	var err error
	if r.Results.Folders == nil {
		rows, err = w.Measured(r.File)
	}
	if err != nil {
		return nil, err
	}
	o := calibration.Uncalibrated()
	if !r.Uncalibrated {
		if o, err = w.Overlay(r.Calibration); err != nil {
			return nil, err
		}
	}
	out := &Response{Calibration: o.Source}
	p, err := prices.Open(w.Dir, r.PerfData)
	if err != nil {
		return nil, session.BadInput(err)
	}
	p.Optional = true // rows come from many systems
	if err := checkPrices(ctx, p, rows); err != nil {
		return nil, session.BadInput(err)
	}
	predictor := w.Predictor(o, p)
	predictor.Energy = r.Energy
	predictor.Progress = func(done int) { w.Tell(session.Progress{Task: "predicting", Done: done, Of: len(rows), What: "rows"}) }
	if out.Rows, err = predictor.PredictAll(ctx, rows, r.Workers); err != nil {
		return nil, err
	}
	if err := out.results(ctx, w, predictor, &r); err != nil {
		return nil, err
	}
	measured.Expect(o, out.Rows)
	out.Tables, err = p.Used()
	return session.Finish(ctx, out, session.BadInput(err))
}

// results adds the runs of load generators.
func (out *Response) results(ctx context.Context, w *session.Session, p *measured.Predictor, r *Request) error {
	if r.Results.Folders == nil {
		return nil
	}
	found, prepared, err := calibrate.Find(ctx, w, &r.Results)
	if err != nil {
		return err
	}
	for i := range found.Used {
		u := &found.Used[i]
		u.Row.Source = u.File
		if gpus := max(1, u.Row.GPUs); u.Run.TotalRate > 0 {
			u.Row.PerGPU = u.Run.TotalRate / float64(gpus)
		}
	}
	out.Results = found
	rows, err := p.PredictPrepared(ctx, prepared, r.Workers)
	out.Rows = append(out.Rows, rows...)
	return err
}

// checkPrices checks the kernel tables of the rows' systems and reports the first
// problem: predictions themselves cannot fail on tables.
func checkPrices(ctx context.Context, p *prices.Prices, rows []measured.Row) error {
	seen := map[string]bool{}
	for i := range rows {
		system := rows[i].System
		if seen[system] {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		seen[system] = true
		d, err := device.Lookup(system)
		if err != nil {
			continue // reported by its rows
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
func Examine(ctx context.Context, w *session.Session, file string) (*ExamineResponse, error) {
	rows, err := w.Measured(file)
	if err != nil {
		return nil, err
	}
	findings, err := w.Predictor(&calibration.Overlay{}, &prices.Prices{}).Examine(ctx, rows)
	return session.Finish(ctx, &ExamineResponse{Rows: rows, Findings: findings}, err)
}
