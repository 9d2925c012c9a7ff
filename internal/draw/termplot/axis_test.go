package termplot

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/draw/scatter"
)

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		most   int
		want   string
	}{
		{0, 1, 6, "0 0.2 0.4 0.6 0.8 1.0"},
		{0, 10, 11, "0 1 2 3 4 5 6 7 8 9 10"},
		{0, 2000, 5, "0 500 1000 1500 2000"},
		{0, 13500, 7, "0 2k 4k 6k 8k 10k 12k"},
		{0, 12000, 5, "0 5k 10k"},
		{-1.5e6, 1.5e6, 7, "-1.5M -1.0M -0.5M 0 0.5M 1.0M 1.5M"},
		{1000000, 1000010, 3, "1000000 1000005 1000010"},
		{0.0001, 0.0003, 3, "0.0001 0.0002 0.0003"},
		{2e-9, 4e-9, 3, "2e-09 3e-09 4e-09"},
		{5e19, 2e20, 4, "5e+19 1e+20 1.5e+20 2e+20"},
	} {
		var got []string
		for _, tick := range (scale{scatter.Span{Lo: c.lo, Hi: c.hi}}).ticks(100, c.most, func([]tick) bool { return true }) {
			got = append(got, tick.label)
		}
		if d := cmp.Diff(c.want, strings.Join(got, " ")); d != "" {
			t.Errorf("%g to %g (-want +got):\n%s", c.lo, c.hi, d)
		}
	}
}

// For any values: they are inside the range, which starts at zero or above when they do; a label is where its number is,
// there are two or more, and no two are the same.
func TestTicksTellTheTruth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.Float64Range(-1e300, 1e300), rapid.Float64Range(0, 1e5), rapid.Float64Range(999.99, 1000))
		values := rapid.SliceOfN(value, 1, 5).Draw(t, "values")
		n := rapid.IntRange(5, 200).Draw(t, "n")
		a := scale{scatter.Around(values, nil)}
		lowest := math.Inf(1)
		for _, v := range values {
			lowest = min(lowest, v)
			if !a.Holds(v) {
				t.Errorf("%g is not in %v", v, a)
			}
		}
		if lowest >= 0 && a.Lo < 0 {
			t.Errorf("%v starts below zero, the values do not", a)
		}
		ticks := a.ticks(n, max(2, n/3), func([]tick) bool { return true })
		if len(ticks) < 2 {
			t.Errorf("%v has the ticks %v, want two or more", a, ticks)
		}
		for i, tick := range ticks {
			if got := a.at(parse(t, tick.label), n); got < tick.at-1 || got > tick.at+1 {
				t.Errorf("%q is at %d, want %d", tick.label, tick.at, got)
			}
			if i > 0 && parse(t, tick.label) <= parse(t, ticks[i-1].label) {
				t.Errorf("%q follows %q", tick.label, ticks[i-1].label)
			}
		}
	})
}

// parse reads a label as a user does.
func parse(t *rapid.T, label string) float64 {
	unit := 1.0
	if i := strings.IndexAny(label, "kMGT"); i >= 0 {
		unit = map[byte]float64{'k': 1e3, 'M': 1e6, 'G': 1e9, 'T': 1e12}[label[i]]
		label = label[:i]
	}
	v, err := strconv.ParseFloat(label, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v * unit
}
