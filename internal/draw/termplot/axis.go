package termplot

import (
	"math"
	"slices"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/draw/scatter"
)

// scale is an axis that is drawn in equal parts.
type scale struct{ scatter.Span }

// at returns in which of n equal parts of the range v is.
func (s scale) at(v float64, n int) int {
	return min(max(int(s.Part(v)*float64(n)), 0), n-1)
}

// tick is a labelled place of an axis: the part of the axis as [scale.at] counts it.
type tick struct {
	at    int
	label string
}

// ticks returns the places of round numbers on an axis of n parts: the multiples of the smallest 1, 2 or 5 times a power of
// ten that makes no more than most of them and fits. If not even the last step with two of them fits, those of it that do.
func (s scale) ticks(n, most int, fits func([]tick) bool) []tick {
	var coarsest []tick
	for step := s.Finest(most); ; step = step.Coarser() {
		ticks := s.every(step, n)
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

// every returns the ticks at the multiples of step.
func (s scale) every(step scatter.Step, n int) []tick {
	first, last := s.Multiples(step)
	var values []float64
	for k := first; k <= last; k++ {
		values = append(values, k*step.Size())
	}
	labels := numbers(values, step.Power)
	ticks := make([]tick, len(values))
	for i, v := range values {
		ticks[i] = tick{s.at(v, n), labels[i]}
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
