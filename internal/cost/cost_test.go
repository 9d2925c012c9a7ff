package cost_test

import (
	"testing"

	"plimsoll/internal/cost"
)

func TestBound(t *testing.T) {
	for _, c := range []struct {
		estimate cost.Estimate
		want     cost.Bound
		name     string
	}{
		{cost.Estimate{}, cost.Free, "free"},
		{cost.Estimate{Total: 3, Memory: 2, Matrix: 1, Fixed: 1}, cost.Memory, "memory"},
		{cost.Estimate{Total: 3, Memory: 2, Matrix: 1, Vector: 1.5}, cost.Compute, "compute"},
		{cost.Estimate{Total: 3, Memory: 2, Matrix: 1, Vector: 1}, cost.Memory, "memory"}, // a tie
		{cost.Estimate{Total: 3, Memory: 1, Comm: 2}, cost.Communication, "communication"},
		{cost.Estimate{Total: 3, Memory: 2, Comm: 1}, cost.Memory, "memory"},
		{cost.Estimate{Total: 3, Fixed: 3}, cost.Memory, "memory"}, // launches are left aside
	} {
		if got := c.estimate.Bound(); got != c.want || got.String() != c.name {
			t.Errorf("%+v: want %s, got %s", c.estimate, c.name, got)
		}
	}
}
