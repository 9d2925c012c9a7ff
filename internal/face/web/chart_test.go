package web

import (
	"math"
	"slices"
	"testing"
)

// TestNotesStayWithPoints: a point that cannot be drawn takes its note along, and the others keep theirs.
func TestNotesStayWithPoints(t *testing.T) {
	t.Parallel()
	s := series{X: []float64{1, 0, 3, 4}, Y: []float64{1, 2, math.NaN(), 4}, Notes: []string{"a", "b", "c", "d"}}
	s.clean(true, false)
	if !slices.Equal(s.X, []float64{1, 4}) || !slices.Equal(s.Y, []float64{1, 4}) || !slices.Equal(s.Notes, []string{"a", "d"}) {
		t.Errorf("got %v, %v, %q", s.X, s.Y, s.Notes)
	}
}
