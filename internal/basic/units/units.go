package units

import (
	"fmt"
	"math"
	"strconv"
)

// Seconds is a duration. A float, because operators last microseconds and runs
// last hours, and because sums of thousands of operators must not round.
type Seconds float64

// Bytes is an amount of memory or traffic. A float, because 4-bit formats put
// half a byte on an element.
type Bytes float64

// Ops counts arithmetic operations; a fused multiply-add is two.
type Ops float64

// BytesPerSecond is a bandwidth.
type BytesPerSecond float64

// OpsPerSecond is a peak arithmetic rate.
type OpsPerSecond float64

// Watts is a power.
type Watts float64

// Joules is an energy.
type Joules float64

// Multiples. Memory is reported in binary units.
const (
	KiB Bytes = 1 << 10
	MiB Bytes = 1 << 20
	GiB Bytes = 1 << 30
	TiB Bytes = 1 << 40

	Microsecond Seconds = 1e-6
	Millisecond Seconds = 1e-3
)

// GiB returns the amount in gibibytes.
func (b Bytes) GiB() float64 { return float64(b / GiB) }

// Ms returns the duration in milliseconds.
func (s Seconds) Ms() float64 { return float64(s) * 1e3 }

// Rate is how often per second something happens that takes s each time; 0 where s is 0, for something that does not happen.
func (s Seconds) Rate() float64 {
	if s == 0 {
		return 0
	}
	return 1 / float64(s)
}

// TypedMs returns the milliseconds that someone typed: what the way through seconds
// added beyond the digits anyone types is taken off.
func (s Seconds) TypedMs() float64 {
	const typed = 12
	x, err := strconv.ParseFloat(strconv.FormatFloat(s.Ms(), 'g', typed, 64), 64)
	if err != nil { // what was just printed can be read
		return s.Ms()
	}
	return x
}

// Us returns the duration in microseconds.
func (s Seconds) Us() float64 { return float64(s) * 1e6 }

// String prints a duration with three or four significant digits in the unit
// that suits it: "12.34 µs", "5.678 ms", "1.234 s".
func (s Seconds) String() string {
	a := math.Abs(float64(s))
	switch {
	case a == 0:
		return "0 s"
	case a < 999.95e-6: // what would round to 1000 µs is 1 ms
		return significant(s.Us()) + " µs"
	case a < 999.95e-3:
		return significant(s.Ms()) + " ms"
	default:
		return significant(float64(s)) + " s"
	}
}

// String prints an amount in the binary unit that suits it: "1.50 GiB".
func (b Bytes) String() string {
	a := math.Abs(float64(b))
	switch {
	case a < float64(KiB):
		return fmt.Sprintf("%.0f B", float64(b))
	case a < float64(MiB):
		return significant(float64(b/KiB)) + " KiB"
	case a < float64(GiB):
		return significant(float64(b/MiB)) + " MiB"
	case a < float64(TiB):
		return significant(float64(b/GiB)) + " GiB"
	default:
		return significant(float64(b/TiB)) + " TiB"
	}
}

// Count prints a large count with a decimal suffix: "32.8 B", "671 B", "1.04 T".
func Count(n float64) string {
	for _, s := range []struct {
		at   float64
		name string
	}{{1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e3, "K"}} {
		if a := math.Abs(n) / s.at; a >= 999.5 {
			return fmt.Sprintf("%.0f %s", n/s.at, s.name)
		} else if a >= 0.9995 { // 999.6 million is 1 B
			return fmt.Sprintf("%.3g %s", n/s.at, s.name)
		}
	}
	return fmt.Sprintf("%.0f", n)
}

// significant prints four significant digits without an exponent.
func significant(x float64) string {
	switch a := math.Abs(x); {
	case a >= 999.95:
		return fmt.Sprintf("%.0f", x)
	case a >= 99.995:
		return fmt.Sprintf("%.1f", x)
	case a >= 9.9995:
		return fmt.Sprintf("%.2f", x)
	default:
		return fmt.Sprintf("%.3f", x)
	}
}

// Thousands prints a whole number in groups of three digits: "233,600".
func Thousands(n int) string {
	s := strconv.Itoa(n)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Counted prints a number of things: "1 replica", "4 replicas".
func Counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Thousands(n) + " " + thing + "s"
}

// Figure prints a number for people: three significant digits, or a whole number.
func Figure(x float64) string {
	switch a := math.Abs(x); {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return fmt.Sprint(x)
	case a >= 99.95 || math.Abs(x-math.Round(x)) <= 1e-12*a: // a sum that is whole but for its last bits, which differ between processors
		return Thousands(int(math.Round(x)))
	case a >= 9.995:
		return fmt.Sprintf("%.1f", x)
	case a >= 0.9995:
		return fmt.Sprintf("%.2f", x)
	default:
		return strconv.FormatFloat(x, 'g', 3, 64)
	}
}
