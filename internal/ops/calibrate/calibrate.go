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
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
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
	FromScratch bool   `json:"from_scratch,omitempty"` // fit all groups, without cells
	// Extend adds the groups that the calibration lacks, such as an engine on a device
	// generation without rows; the rest stays fixed.
	Extend     bool `json:"extend,omitempty"`
	Iterations int  `json:"iterations,omitempty"` // 0 = 4
	// Sample is the number of rows to use per configuration, spread over its loads; 0 = all.
	Sample     int                  `json:"sample,omitempty"`
	Workers    int                  `json:"jobs,omitempty"` // 0 = 1
	Validation calibrate.Validation `json:"validation,omitzero"`
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

// base is the calibration before the fit.
func (r *Request) base(w *session.Session) (*calibration.Overlay, error) {
	base, err := w.Overlay(r.Calibration)
	if err == nil && r.FromScratch {
		base = calibration.Uncalibrated()
	}
	return base, err
}

// Run fits measured rows.
func Run(ctx context.Context, w *session.Session, r Request) (*Response, error) {
	rows, err := w.Measured(r.Files...)
	if err != nil {
		return nil, err
	}
	base, err := r.base(w)
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
	prepared := thinned(slices.Concat(clean, found.rows), r.Sample)
	if len(prepared) == 0 {
		return nil, session.BadInput(fmt.Errorf("%s has no clean rows that can be predicted", strings.Join(r.Files, ", ")))
	}
	if found.found.Used != nil {
		r.Validation.Folds = cmp.Or(r.Validation.Folds, calibrate.Folds(prepared))
	}
	c := calibrate.Calibration{
		Iterations: cmp.Or(r.Iterations, DefaultIterations), Workers: r.Workers, Validation: r.Validation,
		Progress: func(task string, done, of int) {
			w.Tell(session.Progress{Task: task, Done: done, Of: of, What: "rows"})
		},
	}
	if !r.FromScratch {
		c.Base = base
	}
	w.Tell(session.Progress{Task: fmt.Sprintf("predicting %d rows", len(prepared))})
	if out.Before, err = p.PredictPrepared(ctx, prepared, r.Workers); err != nil {
		return nil, err
	}
	if r.Extend {
		return session.Finish(ctx, out, out.extend(ctx, &c, prepared, r.command()))
	}
	if out.Validated, err = c.Run(ctx, prepared); err != nil {
		return nil, err
	}
	out.Overlay.Source = r.command()
	if r.FromScratch {
		calibrate.Reached(out.Overlay, prepared)
	} else {
		out.Overlay.Reach, out.Overlay.Residuals = base.Reach, base.Residuals
	}
	switch {
	case r.Validation.Folds < 2:
	case r.FromScratch:
		err = out.learn(ctx, w.Predictor(&calibration.Overlay{}, &prices.Prices{}), rows, r.Workers)
	default:
		calibrate.LearnOwn(out.Overlay, out.ByConfiguration)
	}
	return session.Finish(ctx, out, err)
}

// extend adds the groups that the base lacks.
func (c *Response) extend(ctx context.Context, by *calibrate.Calibration, rows []measured.Prepared, command string) error {
	x, err := by.Extend(ctx, rows)
	if err != nil {
		return err
	}
	c.Overlay, c.ByConfiguration, c.ByCell = x.Overlay, x.ByConfiguration, x.ByCell
	c.Overlay.Source = fmt.Sprintf("%s; extended by %d numbers from %d rows (%s --extend)", c.Base.Source, x.Numbers, len(rows), command)
	return nil
}

// command is the command line of the fit.
func (r *Request) command() string {
	words := append([]string{"plimsoll", "calibrate"}, r.Files...)
	if r.Results.Folders != nil {
		words = append(append(words, "--from-results"), r.Results.Folders...)
	}
	return strings.Join(words, " ")
}

// thinned keeps a number of rows of each configuration, spread over its loads.
func thinned(rows []measured.Prepared, most int) []measured.Prepared {
	if most <= 0 {
		return rows
	}
	byConfiguration := map[string][]int{}
	for i := range rows {
		name := rows[i].Row.Configuration()
		byConfiguration[name] = append(byConfiguration[name], i)
	}
	var keep []int
	for _, all := range byConfiguration {
		slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(rows[a].Row.Concurrency, rows[b].Row.Concurrency) })
		n := min(most, len(all))
		for k := range n {
			keep = append(keep, all[(2*k+1)*len(all)/(2*n)])
		}
	}
	slices.Sort(keep)
	out := make([]measured.Prepared, len(keep))
	for i, at := range keep {
		out[i] = rows[at]
	}
	return out
}

// learn puts the residuals of held-out rows into the overlay.
func (c *Response) learn(ctx context.Context, plain *measured.Predictor, rows []measured.Row, workers int) error {
	aggregated := cleanRows(rows, "agg")
	without, err := plain.PredictAll(ctx, aggregated, workers)
	if err != nil {
		return err
	}
	calibrate.Learn(c.Overlay, &calibrate.Evidence{
		Seen: measured.OfMode(c.ByConfiguration, "agg"), Unseen: measured.OfMode(c.ByCell, "agg"),
		Disaggregated: measured.OfMode(c.ByCell, "disagg"), DisaggregatedSeen: measured.OfMode(c.ByConfiguration, "disagg"), Uncalibrated: without,
		Formulas: plain.AllFormulas(ctx, aggregated, formulas.Documented),
		Steady:   plain.AllFormulas(ctx, aggregated, formulas.Steady),
	})
	return nil
}

// cleanRows are the rows of a mode without a quality mark.
func cleanRows(rows []measured.Row, mode string) []measured.Row {
	var out []measured.Row
	for i := range rows {
		if rows[i].Mode == mode && rows[i].Quality == "" {
			out = append(out, rows[i])
		}
	}
	return out
}
