package units_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

func TestPrinting(t *testing.T) {
	for _, c := range []struct {
		value fmt.Stringer
		want  string
	}{
		{units.Seconds(0), "0 s"},
		{units.Seconds(1e-9), "0.001 µs"},
		{12.34 * units.Microsecond, "12.34 µs"},
		{999.96 * units.Microsecond, "1.000 ms"},
		{5.678 * units.Millisecond, "5.678 ms"},
		{567.84 * units.Millisecond, "567.8 ms"},
		{999.96 * units.Millisecond, "1.000 s"},
		{units.Seconds(1.2345), "1.234 s"},
		{units.Seconds(98765), "98765 s"},
		{-5 * units.Millisecond, "-5.000 ms"},
		{units.Bytes(0), "0 B"},
		{units.Bytes(1023), "1023 B"},
		{units.KiB, "1.000 KiB"},
		{1.5 * units.GiB, "1.500 GiB"},
		{64 * units.GiB, "64.00 GiB"},
		{1023.99 * units.GiB, "1024 GiB"},
		{-2 * units.TiB, "-2.000 TiB"},
		{5000 * units.TiB, "5000 TiB"},
	} {
		if got := c.value.String(); got != c.want {
			t.Errorf("%#v: want %q, got %q", c.value, c.want, got)
		}
	}
	for n, want := range map[float64]string{
		0: "0", 999: "999", 1000: "1 K", 3.28e10: "32.8 B", 6.71e11: "671 B", 1.04e12: "1.04 T", 7e6: "7 M",
		999.9e9: "1 T", 999.4: "999", 2.8e15: "2800 T", -5e9: "-5 B",
	} {
		if got := units.Count(n); got != want {
			t.Errorf("%g: want %q, got %q", n, want, got)
		}
	}
}

func TestConversions(t *testing.T) {
	if got := (3 * units.GiB).GiB(); got != 3 {
		t.Errorf("GiB: got %g", got)
	}
	if ms, us := units.Seconds(0.25).Ms(), units.Seconds(0.25).Us(); ms != 250 || us != 250_000 {
		t.Errorf("ms and µs: got %g and %g", ms, us)
	}
	if units.MiB != 1024*units.KiB || units.TiB != 1024*units.GiB {
		t.Error("multiples")
	}
}

// TestFourDigits: whatever the size, a number is printed without an exponent,
// with at most four digits before its unit's next.
func TestFourDigits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(0, 999).Draw(t, "x")
		e := rapid.SampledFrom([]float64{1e-6, 1e-3, 1}).Draw(t, "scale")
		for _, s := range []string{units.Seconds(x * e).String(), units.Bytes(x / e).String()} {
			number, unit, ok := strings.Cut(s, " ")
			if digits := strings.ReplaceAll(number, ".", ""); !ok || unit == "" || len(digits) > 4 || strings.Contains(s, "e") {
				t.Errorf("%g: %q", x*e, s)
			}
		}
	})
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", 100: "100", 233600: "233,600"} {
		if got := units.Thousands(n); got != want {
			t.Errorf("%d: want %s, got %s", n, want, got)
		}
	}
}

func TestFigure(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 40: "40", 6.7168: "6.72", 25.86: "25.9", 99.96: "100", 13236.4: "13,236", 0.00344: "0.00344", 9.999: "10.0", 0.9996: "1.00", -3.14159: "-3.14", 4.999999999999999: "5", 5.0001: "5.00",
	} {
		if got := units.Figure(x); got != want {
			t.Errorf("%g: want %s, got %s", x, want, got)
		}
	}
}

func TestRead(t *testing.T) {
	for word, want := range map[string]float64{"3500": 3500, "3.5k": 3500, "2 K": 2000, "1m": 1e6, "1.1k": 1100} {
		if got, err := units.ReadCount(word); err != nil || got != want {
			t.Errorf("%s: want %g, got %g (%v)", word, want, got, err)
		}
	}
	for word, want := range map[string]float64{"50": 50, "50ms": 50, "2s": 2000, "0.5 s": 500, "2秒": 2000, "20毫秒": 20} {
		if got, err := units.ReadMs(word); err != nil || got != want {
			t.Errorf("%s: want %g, got %g (%v)", word, want, got, err)
		}
	}
	for _, word := range []string{"", "k", "s", "3x", "2 s s"} {
		if x, err := units.ReadCount(word); err == nil {
			t.Errorf("%q is read as the count %g", word, x)
		}
		if x, err := units.ReadMs(word); err == nil {
			t.Errorf("%q is read as the time %g", word, x)
		}
	}
}
