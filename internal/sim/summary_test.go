package sim

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"plimsoll/internal/units"
)

// TestSummary: percentiles are those of the sorted values.
func TestSummary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.Float64Range(0, 1), rapid.Map(rapid.IntRange(0, 3), func(i int) float64 { return float64(i) }))
		drawn := rapid.SliceOfN(value, 1, 400).Draw(t, "values")
		values := make([]units.Seconds, len(drawn))
		for i, v := range drawn {
			values[i] = units.Seconds(v)
		}
		got := summarize(slices.Clone(values))
		slices.Sort(values)
		for p, have := range map[float64]units.Seconds{0.5: got.P50, 0.9: got.P90, 0.95: got.P95, 0.99: got.P99, 1: got.Max} {
			x := p * float64(len(values)-1)
			i := int(math.Floor(x))
			j := min(i+1, len(values)-1)
			near(t, "percentile", values[i]+units.Seconds(x-float64(i))*(values[j]-values[i]), have)
		}
	})
}

// TestHistogram: percentiles of gaps are right to one percent, the mean to the
// last digit.
func TestHistogram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h histogram
		var values []units.Seconds
		for _, x := range rapid.SliceOfN(rapid.Float64Range(-13, 8), 1, 200).Draw(t, "logarithms") {
			gap := units.Seconds(math.Exp(x))
			n := rapid.IntRange(1, 3).Draw(t, "times")
			h.add(gap, int64(n))
			for range n {
				values = append(values, gap)
			}
		}
		slices.Sort(values)
		got := h.summary()
		if got.Count != len(values) || got.Max != values[len(values)-1] {
			t.Fatalf("count %d and maximum %v of %v", got.Count, got.Max, values)
		}
		for p, have := range map[float64]units.Seconds{0.5: got.P50, 0.9: got.P90, 0.95: got.P95, 0.99: got.P99} {
			want := values[int(math.Ceil(p*float64(len(values))))-1]
			if ratio := float64(have / want); ratio < 0.99 || ratio > 1.01 {
				t.Fatalf("p%g: want %v, got %v", p*100, want, have)
			}
		}
	})
}
