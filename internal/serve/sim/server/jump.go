package server

import "github.com/plimsoll-project/plimsoll/internal/basic/units"

// stepsUntil is the number of steps of a run after which the time is now or
// later, and that time. The time of a run is nearly linear in its steps, so the secant
// finds it in a try or two; halving bounds them. Steps do not get shorter as contexts
// grow, so one step less ends at least a mean step earlier.
func stepsUntil(model Stepper, p *plan, growth float64, now units.Seconds) (int64, units.Seconds) {
	const certain = 0.95           // of that mean step
	low, high := int64(0), p.steps // after low it is earlier, after high it is not
	lowAt, highAt := p.start, p.end
	for try := 0; high-low > 1; try++ {
		middle := low + (high-low)/2
		if span := highAt - lowAt; try < 8 && span > 0 {
			guess := low + int64(float64(high-low)*float64((now-lowAt)/span)) + 1
			middle = min(max(guess, low+1), high-1)
		}
		took := model.Decode(p.decodes, p.context, growth, int(middle))
		if at := p.start + took; at < now {
			low, lowAt = middle, at
		} else {
			high, highAt = middle, at
			if at-certain*took/units.Seconds(middle) < now {
				break
			}
		}
	}
	return high, highAt
}
