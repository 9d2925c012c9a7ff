package chart

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
)

// span is a range of values, hi above lo.
type span struct{ lo, hi float64 }

// drawable reports whether arithmetic with v stays clear of overflow.
func drawable(v float64) bool { return math.Abs(v) <= 1e300 } // false for NaN

// around returns a range with 8 % of room on both sides of the values, but not below zero if no value is. It takes in the
// limits that are not further from the values than half of what these span.
func around(values, limits []float64) span {
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
	return span{max(floor, lo-pad), hi + pad}
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
func (s span) holds(v float64) bool { return v >= s.lo && v <= s.hi }

// part returns how far v is from lo to hi, from 0 to 1.
func (s span) part(v float64) float64 { return (v - s.lo) / (s.hi - s.lo) }

// ticks places the labels of an axis for gonum's plot: at the multiples of 1, 2 or 5 times a power of ten. gonum's own
// ticks are three to an axis, and 12000 is "1.2e+04".
type ticks struct{}

// Ticks returns at most eight labelled places between lo and hi.
func (ticks) Ticks(lo, hi float64) []plot.Tick {
	const (
		most = 8
		blur = 1e-9 // the error of a quotient must not cost the tick at the end of a range
	)
	power := int(math.Floor(math.Log10((hi - lo) / most)))
	for i := 0; ; i++ {
		step := []float64{1, 2, 5}[i%3] * math.Pow10(power+i/3)
		first, last := math.Ceil(lo/step-blur), math.Floor(hi/step+blur)
		if last-first+1 > most {
			continue
		}
		unit, suffix := unitOf(max(math.Abs(lo), math.Abs(hi)), step)
		var out []plot.Tick
		for k := first; k <= last; k++ {
			label := "0"
			if k != 0 { // eight digits hide the error of the product and tell any two ticks apart
				label = strconv.FormatFloat(k*step/unit, 'g', 8, 64) + suffix
			}
			out = append(out, plot.Tick{Value: k * step, Label: label})
		}
		return out
	}
}

// unitOf returns the unit to write numbers of a size in: thousands (k), millions (M) and so on from 10000 up, as long as two
// decimals are enough to tell multiples of step apart.
func unitOf(size, step float64) (unit float64, suffix string) {
	if size < 1e4 || size >= 1e15 {
		return 1, ""
	}
	for _, u := range []struct {
		size float64
		name string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if size >= u.size && step >= u.size/100 {
			return u.size, u.name
		}
	}
	return 1, ""
}
