package chart

import (
	"math"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/draw/scatter"
)

// tick is a labelled place on an axis.
type tick struct {
	at    float64
	label string
}

// ticks returns at most eight places: the multiples of 1, 2 or 5 times a power of ten.
func ticks(span scatter.Span) []tick {
	const most = 8
	values, step := span.Round(most)
	unit, suffix := unitOf(max(math.Abs(span.Lo), math.Abs(span.Hi)), step)
	var out []tick
	for _, v := range values {
		label := "0"
		if v != 0 { // eight digits hide the error of the product and tell any two ticks apart
			label = strconv.FormatFloat(v/unit, 'g', 8, 64) + suffix
		}
		out = append(out, tick{v, label})
	}
	return out
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
