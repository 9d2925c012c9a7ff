package graph

import "testing"

// TestReducedAllReduce: large tensors are sent in few bits on 2, 4 and 8 ranks, from the least of each on.
func TestReducedAllReduce(t *testing.T) {
	n := ReducedAllReduce{{0.25, 100}, {0.5, 200}, {0, 0}}
	for _, c := range []struct {
		bytes float64
		ranks int32
		want  float64
	}{{99, 2, 99}, {100, 2, 25}, {100, 4, 100}, {200, 4, 100}, {1000, 8, 1000}, {1000, 3, 1000}, {1000, 16, 1000}} {
		if got := n.sent(c.bytes, c.ranks); got != c.want {
			t.Errorf("%g bytes on %d ranks: %g, want %g", c.bytes, c.ranks, got, c.want)
		}
	}
	var none ReducedAllReduce
	if got := none.sent(1e9, 2); got != 1e9 {
		t.Errorf("%g", got)
	}
}
