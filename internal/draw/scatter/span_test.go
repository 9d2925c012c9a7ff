package scatter_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/draw/scatter"
)

func TestAround(t *testing.T) {
	for _, c := range []struct {
		values, limits []float64
		want           scatter.Span
	}{
		{[]float64{100, 200}, nil, scatter.Span{Lo: 92, Hi: 208}},
		{[]float64{0, 100}, nil, scatter.Span{Lo: 0, Hi: 108}},
		{[]float64{-100, 0}, nil, scatter.Span{Lo: -108, Hi: 8}},
		{[]float64{100, 200}, []float64{250, 251}, scatter.Span{Lo: 88, Hi: 262}}, // the second is too far
		{[]float64{0}, nil, scatter.Span{Lo: 0, Hi: 1.08}},
	} {
		if d := cmp.Diff(c.want, scatter.Around(c.values, c.limits)); d != "" {
			t.Errorf("%v, %v (-want +got):\n%s", c.values, c.limits, d)
		}
	}
}

func TestDrawable(t *testing.T) {
	for v, want := range map[float64]bool{0: true, -1e300: true, 1e301: false, math.Inf(-1): false} {
		if got := scatter.Drawable(v); got != want {
			t.Errorf("%g: want %v, got %v", v, want, got)
		}
	}
	if scatter.Drawable(math.NaN()) {
		t.Error("NaN: want false, got true")
	}
}

// For any values: they are inside the range; steps grow, and the finest makes as many ticks as asked for, less the one that
// the ends of the range may cost.
func TestStepsGrow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-1e9, 1e9), 1, 5).Draw(t, "values")
		most := rapid.IntRange(2, 50).Draw(t, "most")
		s := scatter.Around(values, nil)
		for _, v := range values {
			if !s.Holds(v) || s.Part(v) < 0 || s.Part(v) > 1 {
				t.Fatalf("%g is not in %v", v, s)
			}
		}
		step := s.Finest(most)
		if first, last := s.Multiples(step); last-first+1 < float64(most)-1 {
			t.Fatalf("%v has %g ticks with %v, want %d", s, last-first+1, step, most)
		}
		for range 6 {
			next := step.Coarser()
			if ratio := next.Size() / step.Size(); ratio < 1.9 || ratio > 2.6 {
				t.Fatalf("%v follows %v", next, step)
			}
			step = next
		}
	})
}

func TestClip(t *testing.T) {
	s := scatter.Span{Lo: 10, Hi: 20}
	for _, c := range []struct {
		low, high, from, to float64
		ok                  bool
	}{
		{12, 15, 12, 15, true},
		{5, 25, 10, 20, true},
		{5, 9, 10, 9, false},
		{21, 30, 21, 20, false},
		{20, 30, 20, 20, true},
	} {
		if from, to, ok := s.Clip(c.low, c.high); from != c.from || to != c.to || ok != c.ok {
			t.Errorf("%g to %g: want %g to %g (%v), got %g to %g (%v)", c.low, c.high, c.from, c.to, c.ok, from, to, ok)
		}
	}
	if _, _, ok := s.Clip(math.NaN(), 15); ok {
		t.Error("NaN is inside")
	}
}
