package quantile_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/quantile"
)

// TestDefinition: numpy.quantile([15, 20, 35, 40, 50], …) says so.
func TestDefinition(t *testing.T) {
	values := []float64{40, 15, 50, 20, 35}
	want := []float64{15, 18, 29, 35, 46, 50}
	for i, got := range quantile.Of(values, 0, 0.15, 0.4, 0.5, 0.9, 1) {
		if math.Abs(got-want[i]) > 1e-12 {
			t.Errorf("want %v, got %v", want[i], got)
		}
	}
	if got := quantile.Of([]float64{7}, 0.3, 1); !slices.Equal(got, []float64{7, 7}) {
		t.Errorf("of one value: %v", got)
	}
}

// TestOf: quantiles are those of the sorted values, and no value is lost.
func TestOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.Float64Range(0, 1), rapid.Map(rapid.IntRange(0, 3), func(i int) float64 { return float64(i) }))
		values := rapid.SliceOfN(value, 1, 400).Draw(t, "values")
		at := rapid.SliceOfN(rapid.Float64Range(0, 1), 0, 6).Draw(t, "at")
		sorted := slices.Sorted(slices.Values(values))
		got := quantile.Of(values, at...)
		for k, q := range at {
			x := q * float64(len(sorted)-1)
			i := int(math.Floor(x))
			j := min(i+1, len(sorted)-1)
			if want := sorted[i] + (x-float64(i))*(sorted[j]-sorted[i]); math.Abs(want-got[k]) > 1e-12 {
				t.Fatalf("at %g: want %v, got %v", q, want, got[k])
			}
		}
		if slices.Sort(values); !slices.Equal(sorted, values) {
			t.Fatal("the values have changed")
		}
	})
}
