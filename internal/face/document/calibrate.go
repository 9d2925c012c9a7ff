package document

import (
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
	"github.com/plimsoll-project/plimsoll/internal/ops/calibrate"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
)

// Calibrate is a fit and its errors, for programs.
type Calibrate struct {
	// Source is the fit's own description.
	Source string `json:"source"`
	Rows   int    `json:"rows"`
	// Unchanged says that the fit did not improve predictions of held-out configurations.
	Unchanged bool `json:"unchanged"`
	// Fits are the errors before the fit, of the fitted rows, and of rows that were held
	// out of it.
	Fits []FitErrors `json:"errors"`
	// Results are the runs of --from-results.
	Results []CalibratedRun `json:"results"`
	Unused  []UnusedRun     `json:"unused_results"`
}

// FitErrors are the errors of predictions by a fit.
type FitErrors struct {
	// Of is "before the fit", "fitted rows", "configuration held out" or the like.
	Of     string        `json:"of"`
	Mode   string        `json:"mode"`
	Errors AccuracyGroup `json:"errors"`
}

// CalibratedRun is a run that was fitted; times in milliseconds.
type CalibratedRun struct {
	File        string            `json:"file"`
	Format      string            `json:"format"`
	Request     *simulate.Request `json:"request"` // as it was simulated
	Layout      string            `json:"layout"`
	Launch      []string          `json:"launch_files,omitempty"`
	Concurrency int               `json:"concurrency"`
	TTFT        RunTime           `json:"ttft_ms"`
	TPOT        RunTime           `json:"tpot_ms"`
}

// RunTime is a time of a run: measured, and predicted before and after the fit; zero is
// unknown.
type RunTime struct {
	Measured float64 `json:"measured"`
	Before   float64 `json:"predicted_before"`
	After    float64 `json:"predicted_after"`
}

// UnusedRun is a result that cannot be used, and why.
type UnusedRun struct {
	File string `json:"file"`
	Why  string `json:"why"`
}

// NewCalibrate converts a response; say puts an error into words.
func NewCalibrate(r *calibrate.Response, say func(error) string) *Calibrate {
	out := &Calibrate{
		Source: r.Overlay.Source, Rows: len(r.Before), Unchanged: r.Unchanged, Fits: []FitErrors{}, Results: []CalibratedRun{}, Unused: []UnusedRun{},
	}
	for _, mode := range [...]string{"agg", "disagg"} {
		for _, f := range FitsOf(r) {
			if rows := measured.OfMode(f.Rows, mode); len(rows) > 0 {
				measured.Expect(f.Expects, rows)
				out.Fits = append(out.Fits, FitErrors{f.Of, mode, GroupOf(rows)})
			}
		}
	}
	before, after := byRow(r.Before), byRow(r.InSample)
	for i := range r.Results.Used {
		u := &r.Results.Used[i]
		x := CalibratedRun{
			File: u.File, Format: string(u.Run.Format), Request: &u.Asked, Layout: u.Layout, Launch: u.Launch, Concurrency: u.Row.Concurrency,
			TTFT: RunTime{Measured: u.Row.TTFT.Ms()}, TPOT: RunTime{Measured: u.Row.TPOT.Ms()},
		}
		if p := before[u.Row]; p != nil {
			x.TTFT.Before, x.TPOT.Before = p.TTFT.Ms(), p.TPOT.Ms()
		}
		if p := after[u.Row]; p != nil {
			x.TTFT.After, x.TPOT.After = p.TTFT.Ms(), p.TPOT.Ms()
		}
		out.Results = append(out.Results, x)
	}
	for _, u := range r.Results.Unused {
		out.Unused = append(out.Unused, UnusedRun{u.File, say(u.Err)})
	}
	return out
}

// byRow finds predictions by their row.
func byRow(rows []measured.Compared) map[*measured.Row]*measured.Prediction {
	out := map[*measured.Row]*measured.Prediction{}
	for i := range rows {
		out[rows[i].Row] = &rows[i].Pred
	}
	return out
}

// PredictedBy is rows predicted by a fit, and the errors it expects.
type PredictedBy struct {
	Of      string
	Rows    []measured.Compared
	Expects *calibration.Overlay
}

// FitsOf lists the predictions of a response in display order.
func FitsOf(r *calibrate.Response) []PredictedBy {
	held := "configuration held out"
	if r.ByLoad {
		held = "load held out"
	}
	return []PredictedBy{{"before the fit", r.Before, r.Base}, {"fitted rows", r.InSample, r.Overlay}, {held, r.ByConfiguration, r.Overlay}}
}
