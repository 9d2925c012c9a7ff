package calibration

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// Outside is how far deployments of sources err that the fit has no rows of, beyond those it has: standard
// deviations to add. Their hosts, builds, settings and clients differ in undocumented ways.
type Outside struct {
	Rows, Sources int
	figures.Each[float64]
}

// Text is the line of a file.
func (s Outside) Text() string {
	return fmt.Sprintf("%d rows of %d sources, ttft %g, tpot %g, throughput %g", s.Rows, s.Sources, s.TTFT, s.TPOT, s.Throughput)
}

// readOutside reads the line of a file.
func readOutside(_, text string) (s Outside, err error) {
	n, err := fmt.Sscanf(text, "%d rows of %d sources, ttft %g, tpot %g, throughput %g", &s.Rows, &s.Sources, &s.TTFT, &s.TPOT, &s.Throughput)
	for _, sigma := range []float64{s.TTFT, s.TPOT, s.Throughput} {
		if n != 5 || err != nil || !(sigma >= 0) || math.IsInf(sigma, 0) || s.Rows < 1 || s.Sources < 1 {
			return Outside{}, errors.New(`want "40 rows of 5 sources, ttft 0.3, tpot 0.1, throughput 0.1"`)
		}
	}
	return s, nil
}

// OutsideKey names the errors that a case from outside the fit adds: those of its vendor where it is not NVIDIA, else of its load.
func (s *Case) OutsideKey() string {
	if v := s.vendor(); v != nvidia {
		return v
	}
	return s.load()
}

// outside is what a case adds that is from none of the fit's sources; nothing where the user's own rows are in the fit, and where
// TensorCast's assumptions have been widened for all that is not known.
func (o *Overlay) outside(s *Case) (x Outside, ok bool) {
	if _, own := o.Residuals[s.OwnResiduals()]; own || s.Familiar || s.TensorCast || s.Method == SingleStep {
		return x, false
	}
	x, ok = o.Outside[s.OutsideKey()]
	return x, ok
}

// Familiar reports whether a source is one of the fit's. Their recipes are known, so their rows err by less than those of others.
func (o *Overlay) Familiar(source string) bool { return o.SourceNamed(source) != "" }

// SourceNamed is the name of the fit's source that a row is from, "" of none.
func (o *Overlay) SourceNamed(source string) string {
	for _, name := range slices.Sorted(maps.Keys(o.Sources)) {
		if slices.ContainsFunc(o.Sources[name], func(w string) bool { return strings.Contains(source, w) }) {
			return name
		}
	}
	return ""
}

// widenOutside widens the errors of such a case, and says why.
func (o *Overlay) widenOutside(s *Case, out *Expected) (why []string) {
	x, ok := o.outside(s)
	if !ok {
		return nil
	}
	out.widen(x.TTFT, x.TPOT, x.Throughput)
	of := ""
	if s.vendor() == ascend {
		of = " on Ascend devices"
	}
	return append(why, fmt.Sprintf("errors are larger for other sources (%d deployments%s, %d sources)", x.Rows, of, x.Sources))
}

// compared reports whether deployments on devices of the case's vendor were compared with their predictions.
func (o *Overlay) compared(s *Case) bool {
	_, ok := o.Outside[ascend]
	return ok && s.Vendor == device.Ascend && s.Method == Simulated && !s.TensorCast
}

// Widened is half an interval with an independent error of a standard deviation added.
func Widened(half, sigma float64) float64 { return math.Hypot(half, normal80*sigma) }
