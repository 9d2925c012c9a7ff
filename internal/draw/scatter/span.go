package scatter

import (
	"math"
	"slices"
)

// Span is a range of values, Hi above Lo.
type Span struct{ Lo, Hi float64 }

// Drawable reports whether arithmetic with v stays clear of overflow.
func Drawable(v float64) bool { return math.Abs(v) <= 1e300 } // false for NaN

// Around returns a range with 8 % of room on both sides of the values, but not below zero if no value is. It takes in the
// limits that are not further from the values than half of what these span.
func Around(values, limits []float64) Span {
	const room, near = 0.08, 0.5
	lo, hi := slices.Min(values), slices.Max(values)
	floor := math.Inf(-1)
	if lo >= 0 {
		floor = 0
	}
	lo, hi = spread(lo, hi)
	first, last := lo, hi
	for _, at := range limits {
		if at >= first-near*(last-first) && at <= last+near*(last-first) {
			lo, hi = min(lo, at), max(hi, at)
		}
	}
	pad := room * (hi - lo)
	return Span{max(floor, lo-pad), hi + pad}
}

// spread moves the ends of a range apart until values in it have distinct labels: when they agree in the first six
// digits, no label of bearable length could.
func spread(lo, hi float64) (float64, float64) {
	const same, apart = 1e-6, 0.08
	size := max(math.Abs(lo), math.Abs(hi))
	switch {
	case size < 1e-300: // zero, or too near to it for division
		return 0, 1
	case hi-lo < same*size:
		by := apart * size // a variable, or some processors round the sum in another way
		return lo - by, hi + by
	}
	return lo, hi
}

// Holds reports whether v is inside the range.
func (s Span) Holds(v float64) bool { return v >= s.Lo && v <= s.Hi }

// Clip returns the part of an interval that is inside the range, and whether there is any.
func (s Span) Clip(low, high float64) (from, to float64, ok bool) {
	from, to = max(low, s.Lo), min(high, s.Hi)
	return from, to, from <= to
}

// Part returns how far v is from Lo to Hi, from 0 to 1.
func (s Span) Part(v float64) float64 { return (v - s.Lo) / (s.Hi - s.Lo) }

// Step is a round distance between ticks: Digit · 10^Power, where the digit is 1, 2 or 5.
type Step struct {
	Digit float64
	Power int
}

// Finest returns a step with which the range has most ticks or more: the one to start from.
func (s Span) Finest(most int) Step {
	return Step{1, int(math.Floor(math.Log10((s.Hi - s.Lo) / float64(most))))}
}

// Coarser returns the next larger step.
func (s Step) Coarser() Step {
	switch s.Digit {
	case 1:
		return Step{2, s.Power}
	case 2:
		return Step{5, s.Power}
	default:
		return Step{1, s.Power + 1}
	}
}

// Size is the step as a number.
func (s Step) Size() float64 { return s.Digit * math.Pow10(s.Power) }

// Round returns the finest round numbers in the range that are no more than most, and the distance between them.
func (s Span) Round(most int) (at []float64, step float64) {
	for round := s.Finest(most); ; round = round.Coarser() {
		first, last := s.Multiples(round)
		if last-first+1 > float64(most) {
			continue
		}
		for k := first; k <= last; k++ {
			at = append(at, k*round.Size())
		}
		return at, round.Size()
	}
}

// Multiples returns by what to multiply the size of a step for the first and the last tick of the range.
func (s Span) Multiples(step Step) (first, last float64) {
	const blur = 1e-9 // the error of a quotient must not cost the tick at the end of a range
	size := step.Size()
	return math.Ceil(s.Lo/size - blur), math.Floor(s.Hi/size + blur)
}
