package web

import (
	"math"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// number writes a value with three significant digits.
func number(v float64) string {
	if v == 0 { // of either sign
		return "0"
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return strings.TrimPrefix(strconv.FormatFloat(v, 'f', -1, 64), "+")
	}
	places := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	if math.Abs(v) >= 1e15 || places > 9 {
		return strconv.FormatFloat(v, 'e', 2, 64)
	}
	if places < 0 {
		unit := math.Pow(10, float64(-places))
		return grouped(strconv.FormatFloat(math.Round(v/unit)*unit, 'f', 0, 64))
	}
	text := strconv.FormatFloat(v, 'f', places, 64)
	if places > 0 {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return grouped(text)
}

// whole writes a count with all its digits.
func whole(n int) string { return units.Thousands(n) }

// grouped puts commas between thousands.
func grouped(text string) string {
	digits, _, _ := strings.Cut(text, ".")
	if n, err := strconv.Atoi(digits); err == nil && n != 0 { // "-0" keeps its sign
		return units.Thousands(n) + text[len(digits):]
	}
	return text
}

// milliseconds writes a time, in seconds from 10 s on.
func milliseconds(ms float64) string {
	if math.Abs(ms) >= 1e4 {
		return number(ms/1e3) + "\u00a0s"
	}
	return number(ms) + "\u00a0ms"
}

// dollars writes a price: cents where they matter, three digits elsewhere.
func dollars(usd float64) string {
	switch {
	case usd < 0:
		return "−" + dollars(-usd)
	case usd >= 1 && usd < 100:
		return "$" + strconv.FormatFloat(usd, 'f', 2, 64)
	}
	return "$" + number(usd)
}

// percent writes a share of one. Only 0 and 1 are shown as 0 % and 100 %.
func percent(share float64) string {
	switch {
	case share > 0 && share < 0.01:
		return "<1\u00a0%"
	case share < 1 && share > 0.99:
		return ">99\u00a0%"
	}
	return number(math.Round(100*share)) + "\u00a0%"
}

// difference writes a ratio as a change: "+20 %", "2.3 ×".
func difference(ratio float64) string {
	if ratio >= 2 {
		return number(ratio) + "\u00a0×"
	}
	change := math.Round(100 * (ratio - 1))
	switch {
	case change > 0:
		return "+" + number(change) + "\u00a0%"
	case change < 0:
		return "−" + number(-change) + "\u00a0%"
	}
	return "±0\u00a0%"
}
