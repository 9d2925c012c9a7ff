package calibrate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibrate"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// Request is a fit to measured rows.
type Request struct {
	Files []string `json:"files,omitempty"` // of rows
	// Results are fitted together with the rows.
	Results ResultsRequest `json:"results,omitzero"`
	// More are further results, of other deployments.
	More []ResultsRequest `json:"more_results,omitempty"`
	// Calibration is an overlay file; its multipliers stay fixed and the rows' cells are fitted
	// on top. "" = the shipped one.
	Calibration string `json:"calibration,omitempty"`
	Iterations  int    `json:"iterations,omitempty"` // 0 = 4
	Workers     int    `json:"jobs,omitempty"`       // 0 = 1
	// Folds, if above one, splits the configurations into so many parts and predicts each by a fit to the others.
	Folds int `json:"folds,omitempty"`
}

// DefaultIterations is the default number of iterations of a fit.
const DefaultIterations = 4

// Response is a fit and its errors.
type Response struct {
	// Results are the benchmark runs among the rows, and the unusable ones.
	Results FoundResults
	// Base is the calibration before the fit, Before its predictions of the rows.
	Base   *calibration.Overlay
	Before []measured.Compared
	calibrate.Validated
}

// found reads the results of the user's own runs.
func (r *Request) found(ctx context.Context, w *session.Session) (*finder, error) {
	found, err := fromResults(ctx, w, &r.Results)
	for i := range r.More {
		if err == nil {
			err = found.add(ctx, &r.More[i])
		}
	}
	return found, err
}

// Run fits measured rows.
func Run(ctx context.Context, w *session.Session, r Request) (*Response, error) {
	rows, err := w.Measured(r.Files...)
	if err != nil {
		return nil, err
	}
	base, err := w.Overlay(r.Calibration)
	if err != nil {
		return nil, err
	}
	found, err := r.found(ctx, w)
	if err != nil {
		return nil, err
	}
	out := &Response{Results: found.found, Base: base}
	p := w.Predictor(base, &prices.Prices{})
	clean, err := p.PrepareClean(ctx, rows)
	if err != nil {
		return nil, err
	}
	prepared := slices.Concat(clean, found.rows)
	if len(prepared) == 0 {
		return nil, session.BadInput(fmt.Errorf("%s has no clean rows that can be predicted", strings.Join(r.Files, ", ")))
	}
	if found.found.Used != nil {
		r.Folds = cmp.Or(r.Folds, calibrate.Folds(prepared))
	}
	c := calibrate.Calibration{Work: Work(w, r.Iterations, r.Workers), Base: base, Folds: r.Folds}
	w.Tell(session.Progress{Task: fmt.Sprintf("predicting %d rows", len(prepared))})
	if out.Before, err = p.PredictPrepared(ctx, prepared, r.Workers); err != nil {
		return nil, err
	}
	if out.Validated, err = c.Run(ctx, prepared); err != nil {
		return nil, err
	}
	out.Overlay.Source = r.command()
	out.Overlay.Reach, out.Overlay.Residuals = base.Reach, base.Residuals
	if r.Folds > 1 {
		calibrate.LearnOwn(out.Overlay, out.ByConfiguration)
	}
	return session.Finish(ctx, out, nil)
}

// Work is how rows are simulated, with the progress told to a session.
func Work(w *session.Session, iterations, workers int) calibrate.Work {
	return calibrate.Work{
		Iterations: cmp.Or(iterations, DefaultIterations), Workers: workers,
		Progress: func(task string, done, of int) {
			w.Tell(session.Progress{Task: task, Done: done, Of: of, What: "rows"})
		},
	}
}

// command is the command line of the fit.
func (r *Request) command() string {
	words := append([]string{"plimsoll", "calibrate"}, r.Files...)
	if r.Results.Folders != nil {
		words = append(append(words, "--from-results"), r.Results.Folders...)
	}
	return strings.Join(words, " ")
}
