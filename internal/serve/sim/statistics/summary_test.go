package statistics

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// TestSummary: each figure has its own place.
func TestSummary(t *testing.T) {
	var values []units.Seconds
	for i := range 101 {
		values = append(values, units.Seconds((i*37)%101))
	}
	want := Summary{Count: 101, Mean: 50, P50: 50, P90: 90, P95: 95, P99: 99, Max: 100}
	if got := summarize(values, 0); got != want {
		t.Errorf("want %+v, got %+v", want, got)
	}
	if got := summarize(nil, 0); got != (Summary{}) {
		t.Errorf("of nothing: %+v", got)
	}
}

// TestPercentile: any percentile is exactly that of the values, the usual ones with and
// without being named.
func TestPercentile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) units.Seconds {
			return units.Seconds(rapid.Float64Range(0, 10).Draw(t, "value"))
		}), 1, 60).Draw(t, "values")
		p := rapid.OneOf(rapid.Float64Range(0.01, 99.99), rapid.SampledFrom([]float64{50, 90, 95, 99})).Draw(t, "percentile")
		sorted := slices.Sorted(slices.Values(values))
		at := p / 100 * float64(len(sorted)-1)
		i := int(at)
		want := sorted[i] + units.Seconds(at-float64(i))*(sorted[min(i+1, len(sorted)-1)]-sorted[i])
		got := summarize(values, p)
		if x := got.Percentile(p); math.Abs(float64(x-want)) > 1e-12 {
			t.Fatalf("p%g of %v is %v, want %v", p, sorted, x, want)
		}
		if got.Percentile(0) != got.Mean {
			t.Fatal("0 is not the mean")
		}
	})
}

// TestHistogram: percentiles of gaps are right to one percent, the mean to the
// last digit.
func TestHistogram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h Histogram
		var values []units.Seconds
		for _, x := range rapid.SliceOfN(rapid.Float64Range(-13, 8), 1, 200).Draw(t, "logarithms") {
			gap := units.Seconds(math.Exp(x))
			n := rapid.IntRange(1, 3).Draw(t, "times")
			h.Add(gap, int64(n))
			for range n {
				values = append(values, gap)
			}
		}
		slices.Sort(values)
		got := h.Summary()
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
