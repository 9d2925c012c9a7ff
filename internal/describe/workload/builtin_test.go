package workload

import (
	"math"
	"testing"
)

func TestBuiltin(t *testing.T) {
	d := Builtin()
	if len(d.Bins) != 35 || d.Bins[0] != (Bin{0, 500, 0.24718176439266218}) || d.Bins[34] != (Bin{120000, 140000, 0.00000498356085134383}) {
		t.Errorf("got %d bins, %v to %v", len(d.Bins), d.Bins[0], d.Bins[len(d.Bins)-1])
	}
	sum := 0.0
	for i, b := range d.Bins {
		sum += b.Weight
		if i > 0 && b.Min != d.Bins[i-1].Max {
			t.Errorf("bin %d does not touch the one before it", i)
		}
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("the weights add up to %g", sum)
	}
	d.Bins[0].Weight = 0
	if Builtin().Bins[0].Weight == 0 {
		t.Error("callers share one distribution")
	}
}
