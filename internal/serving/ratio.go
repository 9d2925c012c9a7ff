package serving

import (
	"math"

	"plimsoll/internal/units"
)

// Pair is a prefill and a decode deployment that feed one another.
type Pair struct {
	Prefill, Decode Outcome
	// PrefillQPS and DecodeQPS are the requests per second of one instance each.
	PrefillQPS, DecodeQPS float64
	// Ratio is prefill instances per decode instance.
	Ratio float64
	// Balanced is the requests per second of one instance of each.
	Balanced float64
}

// Match pairs two outcomes for answers of output tokens, of which the prefill
// yields the first.
func Match(p, d Outcome, output int) Pair {
	x := Pair{Prefill: p, Decode: d}
	x.PrefillQPS = float64(p.Concurrency) / float64(p.TTFT)
	x.DecodeQPS = float64(d.Concurrency) / float64(d.TPOT*units.Seconds(max(output-1, 1)))
	x.Ratio = x.DecodeQPS / x.PrefillQPS
	x.Balanced = min(x.PrefillQPS, x.DecodeQPS)
	return x
}

// Instances is a number of prefill and decode instances.
type Instances struct{ Prefill, Decode int }

// Split divides a budget of devices into instances of prefill and decode
// devices each: as close to the ratio as possible (in prefill instances, for
// the decode instances chosen), and among equally close ones the largest. The
// zero value means that not one of each fits.
func Split(ratio float64, budget, prefill, decode int) Instances {
	var best Instances
	bestOff := math.Inf(1)
	for d := 1; d*decode <= budget; d++ {
		most := (budget - d*decode) / prefill
		if most < 1 {
			break
		}
		// Half way between two the larger is as close; when the ideal does not
		// fit, the most that does is the closest.
		ideal := float64(d) * ratio
		p := int(min(max(1, math.Round(ideal)), float64(most)))
		off := math.Abs(float64(p) - ideal)
		// Equal up to rounding: the larger split carries more.
		if off < bestOff+1e-9 {
			best, bestOff = Instances{p, d}, math.Min(off, bestOff)
		}
	}
	return best
}
