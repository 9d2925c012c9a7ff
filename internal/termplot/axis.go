package termplot

import (
	"math"
	"slices"
	"strconv"
)

// axis is a range of values, hi above lo.
type axis struct{ lo, hi float64 }

// drawable reports whether arithmetic with v stays clear of overflow.
func drawable(v float64) bool { return math.Abs(v) <= 1e300 } // false for NaN

// around returns a range with 8 % of room on both sides of the values, but not below zero if no value is. It takes in the
// limits that are not further from the values than half of what these span.
func around(values, limits []float64) axis {
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
	return axis{max(floor, lo-pad), hi + pad}
}

// spread moves the ends of a range apart until values in it can be told from each other: when they agree in the first six
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

// holds reports whether v is inside the range.
func (a axis) holds(v float64) bool { return v >= a.lo && v <= a.hi }

// at returns in which of n equal parts of the range v is.
func (a axis) at(v float64, n int) int {
	return min(max(int((v-a.lo)/(a.hi-a.lo)*float64(n)), 0), n-1)
}

// tick is a labelled place of an axis: the part of the axis as [axis.at] counts it.
type tick struct {
	at    int
	label string
}

// ticks returns the places of round numbers on an axis of n parts: the multiples of the smallest 1, 2 or 5 times a power of
// ten that makes no more than most of them and fits. If not even the last step with two of them fits, those of it that do.
func (a axis) ticks(n, most int, fits func([]tick) bool) []tick {
	power := int(math.Floor(math.Log10((a.hi - a.lo) / float64(most))))
	var coarsest []tick
	for i := 0; ; i++ {
		step := round{[]float64{1, 2, 5}[i%3], power + i/3}
		ticks := a.every(step, n)
		if len(ticks) < 2 {
			break
		}
		coarsest = ticks
		if len(ticks) <= most && fits(ticks) {
			return ticks
		}
	}
	var some []tick
	for _, t := range coarsest {
		if fits(append(slices.Clip(some), t)) {
			some = append(some, t)
		}
	}
	return some
}

// round is a number of one digit: digit · 10^power.
type round struct {
	digit float64
	power int
}

// every returns the ticks at the multiples of step.
func (a axis) every(step round, n int) []tick {
	const blur = 1e-9 // the error of a quotient must not cost the tick at the end of a range
	unit := step.digit * math.Pow10(step.power)
	last := math.Floor(a.hi/unit + blur)
	var values []float64
	for k := math.Ceil(a.lo/unit - blur); k <= last; k++ {
		values = append(values, k*unit)
	}
	labels := numbers(values, step.power)
	ticks := make([]tick, len(values))
	for i, v := range values {
		ticks[i] = tick{a.at(v, n), labels[i]}
	}
	return ticks
}

// numbers writes multiples of 10^power, all in the same unit: plain from 0.0001 to 9999, above that in thousands (k),
// millions (M) and so on as long as two decimals are enough, and with an exponent where nothing else is short.
func numbers(values []float64, power int) []string {
	var largest float64
	for _, v := range values {
		largest = max(largest, math.Abs(v))
	}
	write := func(v float64) string { return strconv.FormatFloat(v, 'f', max(0, -power), 64) }
	switch {
	case largest >= 1e15 || power < -6:
		write = func(v float64) string {
			digits := int(math.Floor(math.Log10(math.Abs(v)))) - power + 1
			return strconv.FormatFloat(v, 'g', max(1, digits), 64)
		}
	case largest >= 1e4:
		for _, unit := range []struct {
			power int
			name  string
		}{{12, "T"}, {9, "G"}, {6, "M"}, {3, "k"}} {
			if largest >= math.Pow10(unit.power) && unit.power-power <= 2 {
				write = func(v float64) string {
					return strconv.FormatFloat(v/math.Pow10(unit.power), 'f', max(0, unit.power-power), 64) + unit.name
				}
				break
			}
		}
	}
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = "0"
		if v != 0 {
			out[i] = write(v)
		}
	}
	return out
}
