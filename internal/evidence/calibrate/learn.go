package calibrate

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/version"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
)

// Evidence is predictions of held-out rows, by what was held out.
type Evidence struct {
	// Seen and DisaggregatedSeen rows had their configuration held out of the fit, Unseen
	// and Disaggregated ones their model under their engine on their device generation.
	Seen, Unseen, DisaggregatedSeen, Disaggregated []measured.Compared
	// Uncalibrated are predicted without any fit.
	Uncalibrated []measured.Compared
	// Formulas and Steady are predicted by throughput-optimizer's formulas.
	Formulas, Steady []measured.Compared
}

// Learn puts the residuals of predictions into an overlay, by kind and group. The
// path of a group narrows from left to right; groups with few rows are left out.
func Learn(o *calibration.Overlay, v *Evidence) {
	o.Residuals = map[string]calibration.Residuals{}
	for kind, rows := range map[calibration.Kind][]measured.Compared{
		calibration.KindSeen: v.Seen, calibration.KindUnseen: v.Unseen, calibration.KindDisaggregated: v.Disaggregated,
		calibration.KindDisaggregatedSeen: v.DisaggregatedSeen,
		calibration.KindUncalibrated:      v.Uncalibrated, calibration.KindFormulas: v.Formulas, calibration.KindSteady: v.Steady,
	} {
		learn(o, kind, rows)
	}
}

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
		o.Residuals[name] = summed(set, true, o.Residuals[string(calibration.KindUnseen)].TTFT)
	}
}

func learn(o *calibration.Overlay, kind calibration.Kind, rows []measured.Compared) {
	sets := map[string][]*measured.Compared{}
	laboratories := slices.ContainsFunc(rows, func(c measured.Compared) bool { return c.Comparable() && c.Pred.Case.Rig == "" })
	for i := range rows {
		c := &rows[i]
		if !c.Comparable() || laboratories && c.Pred.Case.Rig != "" { // beside them rigs are sources outside the fit
			continue
		}
		path := c.Pred.Case.Path(kind)
		for n := range path {
			name := strings.Join(path[:n+1], "/")
			sets[name] = append(sets[name], c)
		}
	}
	even := kind == calibration.KindSeen || kind == calibration.KindUnseen
	whole := summed(sets[string(kind)], even, calibration.Error{Low: -math.Ln2, High: math.Ln2})
	for name, set := range sets {
		// The whole kind is kept however few its rows: without it nothing is known.
		if len(set) >= calibration.Enough || name == string(kind) {
			o.Residuals[name] = summed(set, even, whole.TTFT)
		}
	}
}

// summed are the residuals of rows. Those of a fit are made symmetric: the bias
// that remains belongs to single models, and would mislead about others. Not all rows
// have a TTFT; where too few do, the error is that of wider.
func summed(rows []*measured.Compared, even bool, wider calibration.Error) calibration.Residuals {
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
	return calibration.Residuals{
		Rows: len(rows),
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
	}
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

// Reached extends an overlay's reach to the loads of aggregated rows, and its releases to those of all.
func Reached(o *calibration.Overlay, rows []measured.Prepared) {
	o.Releases = maps.Clone(o.Releases)
	if o.Releases == nil {
		o.Releases = map[string]string{}
	}
	for i := range rows {
		c := &rows[i].Case
		if s := &rows[i].Subject; version.Check(s.Release) == nil && version.Compare(s.Release, o.Releases[s.Engine]) > 0 {
			o.Releases[s.Engine] = s.Release
		}
		if rows[i].Subject.Disaggregated {
			continue // says nothing of aggregated deployments
		}
		o.Reach.Concurrency = max(o.Reach.Concurrency, c.Concurrency)
		o.Reach.Input = max(o.Reach.Input, c.Input)
		o.Reach.Devices = max(o.Reach.Devices, c.Devices)
	}
}
