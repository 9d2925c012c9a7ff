package plan

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// TestPlacement: every GPU of every worker has a place, no node has more than it holds, and a worker that fits on a node is not divided.
func TestPlacement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &Contender{NodeGPUs: rapid.IntRange(1, 9).Draw(t, "node")}
		want := 0
		for range rapid.IntRange(1, 2).Draw(t, "pools") {
			p := deployment.Pool{Replicas: rapid.IntRange(1, 6).Draw(t, "replicas"), Layout: parallel.Layout{Devices: rapid.IntRange(1, 20).Draw(t, "size")}}
			want += p.Replicas * p.Layout.Devices
			c.Run.Pools = append(c.Run.Pools, p)
		}
		got := 0
		for _, node := range c.Placement() {
			used := 0
			for _, w := range node {
				used += w.GPUs
				if w.GPUs < 1 {
					t.Errorf("a worker without GPUs: %+v", w)
				}
			}
			if used > c.NodeGPUs || used == 0 {
				t.Errorf("%d GPUs on a node of %d", used, c.NodeGPUs)
			}
			got += used
		}
		if got != want {
			t.Errorf("%d GPUs placed, there are %d", got, want)
		}
		if (&Contender{}).Placement() != nil {
			t.Error("a placement on nodes that are not known")
		}
	})
}
