package formulas

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// Pair is a prefill and a decode deployment that feed one another.
type Pair struct {
	Prefill, Decode figures.Outcome
	// PrefillQPS and DecodeQPS are the requests per second of one instance each, as
	// the guide counts them.
	PrefillQPS, DecodeQPS float64
	// Ratio is prefill instances per decode instance.
	Ratio float64
	// Balanced is the requests per second of one instance of each.
	Balanced float64
}

// Match pairs two outcomes under a load.
func Match(p, d figures.Outcome, l *Load) Pair {
	x := Pair{Prefill: p, Decode: d, PrefillQPS: l.Prompts(&p), DecodeQPS: Answers(&d, l.Output)}
	x.Ratio = x.DecodeQPS / x.PrefillQPS
	x.Balanced = min(x.PrefillQPS, x.DecodeQPS)
	return x
}

// Answers is the requests per second of a decode, for answers of output tokens, of
// which the prefill yields the first.
func Answers(o *figures.Outcome, output int) float64 {
	return float64(o.Concurrency) / float64(o.TPOT*units.Seconds(max(output-1, 1)))
}

// Instances is a number of prefill and decode instances.
type Instances struct {
	Prefill int `json:"prefill"`
	Decode  int `json:"decode"`
}

// Devices are those the instances take, of prefill and decode devices each.
func (n Instances) Devices(prefill, decode int) int { return n.Prefill*prefill + n.Decode*decode }

// QPS is the requests per second that pass both phases, at rates of one instance
// each.
func (n Instances) QPS(prefill, decode float64) float64 {
	return min(float64(n.Prefill)*prefill, float64(n.Decode)*decode)
}

// equalRates is how far rates that are the same may differ by rounding.
const equalRates = 1e-9

// Split divides a budget of devices into instances of prefill and decode devices
// each, for the most requests per second at rates p and d of one instance each; of
// equal splits it takes the one with the fewest devices. The zero value means that
// not one of each fits.
func Split(p, d float64, budget, prefill, decode int) Instances {
	var best Instances
	most := 0.0
	for n := 1; n*decode+prefill <= budget; n++ {
		// As many prefill instances as feed the decode instances, if they fit.
		enough := math.Ceil(float64(n) * d / p * (1 - equalRates))
		i := Instances{int(min(max(1, enough), float64((budget-n*decode)/prefill))), n}
		qps := i.QPS(p, d)
		equal := qps >= most*(1-equalRates) && i.Devices(prefill, decode) < best.Devices(prefill, decode)
		if qps > most*(1+equalRates) || equal {
			best, most = i, max(qps, most)
		}
	}
	return best
}

// Nearest is the split as close to the ratio as possible (in prefill instances,
// for the decode instances chosen), and among equally close ones the largest. The
// zero value means that not one of each fits.
func Nearest(ratio float64, budget, prefill, decode int) Instances {
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
