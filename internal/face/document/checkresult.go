package document

import (
	"github.com/plimsoll-project/plimsoll/internal/evidence/results"
	"github.com/plimsoll-project/plimsoll/internal/ops/check"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
)

// CheckResult is the comparison of measured runs with their predictions, for programs.
// Times are in milliseconds.
type CheckResult struct {
	File string       `json:"file"`
	Runs []CheckedRun `json:"runs"`
}

// CheckedRun is a run with its prediction.
type CheckedRun struct {
	Format      string            `json:"format"`
	Request     *simulate.Request `json:"request"` // what was predicted
	Requests    int               `json:"requests"`
	Concurrency int               `json:"concurrency,omitempty"`
	Rate        float64           `json:"rate,omitempty"`
	Input       float64           `json:"mean_isl,omitempty"`
	Output      float64           `json:"mean_osl,omitempty"`
	Inside      bool              `json:"inside"`
	Figures     []CheckedFigure   `json:"figures"`
	Causes      []Cause           `json:"causes"`
	Basis       string            `json:"basis"`
	Notes       []string          `json:"notes"`
}

// CheckedFigure is a figure with its 80 % interval and what was measured.
type CheckedFigure struct {
	Name      string  `json:"name"`
	Predicted float64 `json:"predicted"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	Measured  float64 `json:"measured"`
	Ratio     float64 `json:"measured_over_predicted"`
	Inside    bool    `json:"inside"`
}

// Cause is an assumption that was changed, and the prediction with it.
type Cause struct {
	What string `json:"what"`
	// Stated says that the result itself shows the difference; otherwise it is a guess.
	Stated  bool            `json:"stated"`
	Figures []CheckedFigure `json:"figures"`
	// Left is the remaining share of the error.
	Left     float64 `json:"error_left"`
	Explains bool    `json:"explains"`
	Failure  string  `json:"failure,omitempty"`
}

// NewCheckResult converts a response.
func NewCheckResult(r *check.Response) *CheckResult {
	out := &CheckResult{File: r.Request.File, Runs: []CheckedRun{}}
	for i := range r.Runs {
		c := &r.Runs[i]
		x := runOf(&c.Run)
		x.Request, x.Inside, x.Figures, x.Basis, x.Causes = &c.Asked, c.Inside, figuresOf(c.Figures), c.Basis, []Cause{}
		x.Notes = append([]string{}, c.Notes...)
		for j := range c.Causes {
			e := &c.Causes[j]
			x.Causes = append(x.Causes, Cause{e.What, e.Stated, figuresOf(e.Figures), e.Left, e.Explains, e.Failure})
		}
		out.Runs = append(out.Runs, x)
	}
	return out
}

func runOf(r *results.Run) CheckedRun {
	return CheckedRun{
		Format: string(r.Format), Requests: r.Requests, Concurrency: r.Concurrency, Rate: r.Rate, Input: r.Input, Output: r.Output,
	}
}

func figuresOf(all []check.Figure) []CheckedFigure {
	out := []CheckedFigure{}
	for i := range all {
		f := &all[i]
		unit := 1.0
		if f.IsTime() {
			unit = 1e3
		}
		out = append(out, CheckedFigure{f.Name, unit * f.Predicted, unit * f.Low, unit * f.High, unit * f.Measured, f.Ratio(), f.Inside})
	}
	return out
}
