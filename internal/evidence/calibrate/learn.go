package calibrate

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// LearnOwn puts the residuals of a user's rows, their configurations held out,
// into an overlay, by cell. Other cells keep theirs: forty rows of one cell say
// nothing about the next.
func LearnOwn(o *calibration.Overlay, rows []measured.Compared) {
	sets := map[string][]*measured.Compared{}
	for i := range rows {
		if c := &rows[i]; c.Comparable() {
			name := c.Pred.Case.OwnResiduals()
			sets[name] = append(sets[name], c)
		}
	}
	o.Residuals = maps.Clone(o.Residuals)
	if o.Residuals == nil {
		o.Residuals = map[string]calibration.Residuals{}
	}
	for name, set := range sets {
		o.Residuals[name] = Summed(set, true, o.Residuals[string(calibration.KindUnseen)].TTFT)
	}
}

// Summed are the residuals of rows. Those of a fit are made symmetric: the bias
// that remains belongs to single models, and would mislead about others. Not all rows
// have a TTFT; where too few do, the error is that of wider.
func Summed(rows []*measured.Compared, even bool, wider calibration.Error) calibration.Residuals {
	round := func(x float64) float64 { return math.Round(1e4*x) / 1e4 }
	cells := map[string]float64{}
	for _, c := range rows {
		cells[c.Row.Cell()]++
	}
	of := func(residual func(*measured.Compared) float64, otherwise calibration.Error) calibration.Error {
		var logs []weighted
		for _, c := range rows {
			x := residual(c)
			if even {
				x = math.Abs(x)
			}
			if !math.IsNaN(x) && !math.IsInf(x, 0) {
				logs = append(logs, weighted{x, 1 / math.Max(fewRows, cells[c.Row.Cell()])})
			}
		}
		if len(logs) == 0 || len(logs) < min(len(rows), calibration.Enough) {
			return otherwise
		}
		if even {
			half := round(at(logs, 0.8))
			return calibration.Error{Low: -half, High: half}
		}
		return calibration.Error{Low: round(at(logs, 0.1)), High: round(at(logs, 0.9))}
	}
	return calibration.Residuals{Rows: len(rows), Each: figures.Each[calibration.Error]{
		TTFT: of(func(c *measured.Compared) float64 {
			if c.Row.TTFT == 0 {
				return math.NaN()
			}
			return math.Log(float64(c.Row.TTFT / c.Pred.TTFT))
		}, wider),
		TPOT: of(func(c *measured.Compared) float64 { return math.Log(float64(c.Row.TPOT / c.Pred.TPOT)) }, wider),
		Throughput: of(func(c *measured.Compared) float64 {
			if c.Row.TTFT == 0 {
				return math.Log(c.Row.PerGPU / c.Pred.PerGPU)
			}
			return math.Log(c.Row.ClosedLoop(c.Row.TTFT, c.Row.TPOT) / c.Pred.Throughput)
		}, wider),
	}}
}

// fewRows is the number of rows up to which those of a cell count singly.
const fewRows = 10

// weighted is a residual. Those of a cell are alike, so that a cell with many counts
// no more than one with a few: intervals are to hold for the next cell.
type weighted struct{ residual, weight float64 }

// at is the residual below which a share of the weight lies.
func at(all []weighted, share float64) float64 {
	slices.SortFunc(all, func(a, b weighted) int { return cmp.Compare(a.residual, b.residual) })
	var sum, below float64
	for _, w := range all {
		sum += w.weight
	}
	for _, w := range all {
		if below += w.weight; below >= share*sum {
			return w.residual
		}
	}
	return all[len(all)-1].residual
}
