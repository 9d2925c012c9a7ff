package deployments

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/version"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibrate"
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
	whole := calibrate.Summed(sets[string(kind)], even, calibration.Error{Low: -math.Ln2, High: math.Ln2})
	for name, set := range sets {
		// The whole kind is kept however few its rows: without it nothing is known.
		if len(set) >= calibration.Enough || name == string(kind) {
			o.Residuals[name] = calibrate.Summed(set, even, whole.TTFT)
		}
	}
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
