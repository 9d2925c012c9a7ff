package report

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// TestLimit: limits are printed as Python prints the float that was typed.
func TestLimit(t *testing.T) {
	for ms, want := range map[float64]string{
		50: "50.0", 33.3: "33.3", 0.1: "0.1", 12345.678: "12345.678", 1e6: "1000000.0", 1e-3: "0.001", 0.123: "0.123", 15.629: "15.629",
	} {
		if got := limit(units.Seconds(ms / 1e3)); got != want {
			t.Errorf("want %s, got %s", want, got)
		}
	}
	for _, none := range []units.Seconds{0, units.Seconds(math.Inf(1))} {
		if got := limit(none); got != "None" || session.LimitMs(none) != nil {
			t.Errorf("%g: want None, got %s", none, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		typed := strconv.FormatFloat(float64(rapid.IntRange(1, 1e9).Draw(t, "µs"))/1e3, 'f', -1, 64)
		ms, _ := strconv.ParseFloat(typed, 64)
		s := units.Seconds(ms / 1e3) // as the command line does
		want := typed
		if !strings.Contains(want, ".") {
			want += ".0"
		}
		if got := limit(s); got != want {
			t.Fatalf("want %s, got %s", want, got)
		}
		if got := *session.LimitMs(s); got != ms {
			t.Fatalf("want %v ms, got %v", ms, got)
		}
	})
}

// TestUp: what is printed as the nearest feasible limit is met when it is given
// back.
func TestUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := units.Seconds(rapid.Float64Range(1e-6, 1e4).Draw(t, "s"))
		printed, _ := strconv.ParseFloat(f2(session.UpMs(s)), 64)
		if limit := units.Seconds(printed / 1e3); s > limit || limit-s > 1.01e-5 {
			t.Fatalf("%g s is printed as %g ms", s, printed)
		}
	})
}
