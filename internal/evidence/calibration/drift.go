package calibration

import (
	"fmt"

	"github.com/plimsoll-project/plimsoll/internal/basic/version"
)

// How far a deployment drifts in the weeks after it was measured: standard deviations. Of 228 cases of AMD's nightly dashboard of ATOM 80 %
// moved by less than 9.3 % in TPOT and 10.0 % in tokens/s within 20 to 40 days (TPOT by -3.6 % a month in the median), and TTFT of 172
// cases by 24 % within 10 to 20 (of single nights; ops/upgrade has medians over many); tokens/s of 1,465 pairs of consecutive releases of
// TensorRT-LLM by 9.7 %.
const (
	driftTTFT       = 0.19
	driftTPOT       = 0.073
	driftThroughput = 0.078
)

// drift widens the errors of releases that are newer than all the fit has rows of, and says why. "" is the newest release that is known,
// and not the newest there is. The user's own rows are of the release in use.
func (o *Overlay) drift(s *Case, out *Expected) (why []string) {
	_, own := o.Residuals[s.OwnResiduals()]
	if own || s.Familiar || s.Method != Simulated || !o.fitted(s.Engine) {
		return nil
	}
	newest := o.Releases[s.Engine]
	if newest == "" || s.Release != "" && version.Compare(s.Release, newest) <= 0 {
		return nil
	}
	out.widen(driftTTFT, driftTPOT, driftThroughput)
	if s.Release != "" {
		return append(why, fmt.Sprintf("no release after %s was measured", newest))
	}
	return append(why, "the newest release may not have been measured")
}
