package workload

import (
	"math"

	"plimsoll/internal/units"
)

// Limits are what a deployment, or a single request, has to keep; zero is no
// limit.
type Limits struct {
	TTFT, TPOT units.Seconds
	Latency    units.Seconds // of a whole request
}

// Any reports whether there is a limit to keep.
func (l Limits) Any() bool { return l != Limits{} }

// Finite drops limits that bind nothing.
func (l Limits) Finite() Limits {
	for _, x := range []*units.Seconds{&l.TTFT, &l.TPOT, &l.Latency} {
		if math.IsInf(float64(*x), 1) {
			*x = 0
		}
	}
	return l
}

// Meets reports whether times are within the limits; a time exactly at one is.
func (l Limits) Meets(ttft, tpot, latency units.Seconds) bool {
	within := func(x, limit units.Seconds) bool { return limit == 0 || x <= limit }
	return within(ttft, l.TTFT) && within(tpot, l.TPOT) && within(latency, l.Latency)
}
