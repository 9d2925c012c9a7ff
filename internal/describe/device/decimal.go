package device

import (
	"math"
	"strconv"
	"strings"
)

// decimal is a number as written in a file. Its text is kept because 0.2 µs must
// become the float nearest to 2e-7, which neither 0.2/1e6 nor 0.2*1e-6 is sure
// to be: moving the decimal exponent and rounding once is.
type decimal struct {
	text  string // mantissa with an optional exponent, as strconv reads it
	value float64
}

// newDecimal keeps the text when it is a plain decimal of that value, and falls
// back on the shortest one for YAML's other spellings (0x10, 1_000, 010).
func newDecimal(text string, value float64) decimal {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || x != value || strings.ContainsAny(text, "xXpP_") {
		text = strconv.FormatFloat(value, 'e', -1, 64)
	}
	return decimal{text: text, value: value}
}

// scaled is the number times ten to the exp, rounded once.
func (d decimal) scaled(exp int) float64 {
	mantissa, tail, found := strings.Cut(strings.ToLower(d.text), "e")
	if found {
		e, err := strconv.Atoi(tail)
		if err != nil {
			return d.value * math.Pow10(exp)
		}
		exp += e
	}
	x, err := strconv.ParseFloat(mantissa+"e"+strconv.Itoa(exp), 64)
	if err != nil {
		return d.value * math.Pow10(exp)
	}
	return x
}

// inUnits undoes scaled for display: 3.539e14 in units of 1e12 is 353.9, not
// 353.90000000000003.
func inUnits(x float64, exp int) float64 {
	return newDecimal("", x).scaled(-exp)
}
