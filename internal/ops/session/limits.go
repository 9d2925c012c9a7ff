package session

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
)

// Limits are limits in milliseconds; null means none.
type Limits struct {
	TTFT *float64 `json:"ttft_ms"`
	TPOT *float64 `json:"tpot_ms"`
	// Latency is that of a whole request; left out without such a limit.
	Latency *float64 `json:"latency_ms,omitempty"`
}

// LimitsOf are limits as answers have them.
func LimitsOf(l workload.Limits) *Limits {
	return &Limits{LimitMs(l.TTFT), LimitMs(l.TPOT), LimitMs(l.Latency)}
}

// LimitMs is a limit in the milliseconds it was given in, nil for none.
func LimitMs(s units.Seconds) *float64 {
	if s == 0 || math.IsInf(float64(s), 1) {
		return nil
	}
	return new(s.TypedMs())
}

// UpMs is a latency in milliseconds, rounded up to two decimals, so that it meets a limit
// of this value.
func UpMs(s units.Seconds) float64 { return math.Ceil(s.Ms()*100) / 100 }
