package workload

import (
	"fmt"
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// Statistic is what of the times of requests limits apply to: their mean, a percentile of each, or a share of requests that meet all
// limits at once.
type Statistic struct {
	// Percentile at which latencies are held to the limits; 0 = their mean.
	Percentile float64 `json:"percentile,omitempty" minimum:"0" exclusiveMaximum:"100"`
	// Goodput is the share of requests that must be within all limits at once; it replaces percentile.
	Goodput float64 `json:"goodput,omitempty" exclusiveMinimum:"0" exclusiveMaximum:"1"`
}

// At is the percentile of times that counts; 0 is the mean.
func (s Statistic) At() float64 {
	if s.Goodput > 0 {
		return 100 * s.Goodput
	}
	return s.Percentile
}

// Named is the times that count, as people write them: mean, p95.
func (s Statistic) Named() string {
	if s.At() == 0 {
		return "mean"
	}
	return fmt.Sprintf("p%g", s.At())
}

// CheckStatistic reports a wrong statistic for limits.
func (s Statistic) CheckStatistic(l Limits) error {
	const percentile, goodput field.Name = "percentile", "goodput"
	switch {
	case s.Percentile != 0 && !(s.Percentile > 0 && s.Percentile < 100):
		return field.Errorf("%s must be above 0 and below 100, or 0 for the mean, got %g", percentile, s.Percentile)
	case s.Goodput != 0 && !(s.Goodput > 0 && s.Goodput < 1):
		return field.Errorf("%s must be above 0 and below 1, got %g", goodput, s.Goodput)
	case s.Goodput != 0 && s.Percentile != 0:
		return field.Errorf("give %s or %s", percentile, goodput)
	case s.Goodput != 0 && !l.Finite().Any():
		return field.Errorf("%s needs a limit", goodput)
	}
	return nil
}

// SLORatio is how many times as long as its limit the time takes that misses its limit most; requests that [Limits.Meets] have at most 1.
func (l Limits) SLORatio(ttft, tpot, latency units.Seconds) float64 {
	most := 0.0
	for _, x := range [...][2]units.Seconds{{ttft, l.TTFT}, {tpot, l.TPOT}, {latency, l.Latency}} {
		if x[1] > 0 {
			most = math.Max(most, float64(x[0]/x[1]))
		}
	}
	return most
}
