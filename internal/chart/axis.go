package chart

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"

	"plimsoll/internal/scatter"
)

// ticks places the labels of an axis for gonum's plot: at the multiples of 1, 2 or 5 times a power of ten. gonum's own
// ticks are three to an axis, and 12000 is "1.2e+04".
type ticks struct{}

// Ticks returns at most eight labelled places between lo and hi.
func (ticks) Ticks(lo, hi float64) []plot.Tick {
	const most = 8
	span := scatter.Span{Lo: lo, Hi: hi}
	for round := span.Finest(most); ; round = round.Coarser() {
		first, last := span.Multiples(round)
		if last-first+1 > most {
			continue
		}
		step := round.Size()
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
