package ascend_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

type point struct{ x, y float64 }

func both(f *point) (x, y float64) { return f.x, f.y }

// TestFrontier holds the frontier to its definition by trying every pair: what is
// on it is beaten by nothing, what is not is beaten or equalled by something on it.
func TestFrontier(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(0, 6).Draw(t, "n")) })
		items := rapid.SliceOf(rapid.Custom(func(t *rapid.T) point { return point{number.Draw(t, "x"), number.Draw(t, "y")} })).Draw(t, "items")
		front := search.Frontier(items, both)
		beats := func(a, b point) bool { return a != b && a.x >= b.x && a.y >= b.y }
		for _, f := range front {
			if !slices.Contains(items, f) || slices.ContainsFunc(items, func(o point) bool { return beats(o, f) }) {
				t.Fatalf("%v is on the frontier of %v", f, items)
			}
		}
		for _, o := range items {
			if !slices.ContainsFunc(front, func(f point) bool { return f == o || beats(f, o) }) {
				t.Fatalf("nothing on the frontier %v is as good as %v", front, o)
			}
		}
		if !slices.IsSortedFunc(front, func(a, b point) int { return int(b.x - a.x) }) {
			t.Fatalf("not in order: %v", front)
		}
	})
}
