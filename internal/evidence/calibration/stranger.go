package calibration

import (
	"errors"
	"fmt"
	"math"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
)

// Stranger is how far the deployments of people err whose like the fit has no rows of, beyond those it has: standard
// deviations to add. Their hosts, builds, settings and clients differ in ways that nobody writes down.
type Stranger struct {
	Rows, Sources          int
	TTFT, TPOT, Throughput float64
}

// Text is the line of a file.
func (s Stranger) Text() string {
	return fmt.Sprintf("%d rows of %d sources, ttft %g, tpot %g, throughput %g", s.Rows, s.Sources, s.TTFT, s.TPOT, s.Throughput)
}

// readStranger reads the line of a file.
func readStranger(_, text string) (s Stranger, err error) {
	n, err := fmt.Sscanf(text, "%d rows of %d sources, ttft %g, tpot %g, throughput %g", &s.Rows, &s.Sources, &s.TTFT, &s.TPOT, &s.Throughput)
	for _, sigma := range []float64{s.TTFT, s.TPOT, s.Throughput} {
		if n != 5 || err != nil || !(sigma >= 0) || math.IsInf(sigma, 0) || s.Rows < 1 || s.Sources < 1 {
			return Stranger{}, errors.New(`want "40 rows of 5 sources, ttft 0.3, tpot 0.1, throughput 0.1"`)
		}
	}
	return s, nil
}

// StrangersKey names the strangers that a case is one of: those of its vendor where it is not NVIDIA's, else of its load.
func (s *Case) StrangersKey() string {
	if v := s.vendor(); v != nvidia {
		return v
	}
	return s.load()
}

// stranger is what a case adds that is from none of the fit's sources. Where the user's own rows are in the fit, it is none of a
// stranger's.
func (o *Overlay) stranger(s *Case) (x Stranger, ok bool) {
	if _, own := o.Residuals[s.OwnResiduals()]; own || s.Familiar || s.Method == SingleStep {
		return x, false
	}
	x, ok = o.Strangers[s.StrangersKey()]
	return x, ok
}

// strange widens the errors of such a case, and says why.
func (o *Overlay) strange(s *Case, out *Expected) (why []string) {
	x, ok := o.stranger(s)
	if !ok {
		return nil
	}
	out.widen(x.TTFT, x.TPOT, x.Throughput)
	of := ""
	if s.vendor() == ascend {
		of = " on Ascend devices"
	}
	return append(why, fmt.Sprintf("deployments of other sources err by more (%d%s, of %d sources)", x.Rows, of, x.Sources))
}

// compared reports whether deployments on devices of the case's vendor were compared with their predictions.
func (o *Overlay) compared(s *Case) bool {
	_, ok := o.Strangers[ascend]
	return ok && s.Vendor == device.Ascend && s.Method == Simulated && !s.TensorCast
}

// Widened is half an interval with an independent error of a standard deviation added.
func Widened(half, sigma float64) float64 { return math.Hypot(half, normal80*sigma) }
