package document

import (
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
)

// Interval is an 80 % interval.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// interval is null for a missing quantity.
func interval(e calibration.Error, predicted float64) *Interval {
	if predicted == 0 {
		return nil
	}
	low, high := e.Interval(predicted)
	return &Interval{low, high}
}
