package plan

import (
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// Worker is a replica of a pool on one node, or the part of it there.
type Worker struct {
	Role   deployment.Role
	Number int // within its pool, from 1
	GPUs   int // on this node
}

// Placement is the workers of a contender on nodes in the order of the pools: a worker that fits on a node is not divided, a larger one begins
// a node of its own. Files that start it may place workers otherwise. It is nil where the nodes of the system are not known.
func (c *Contender) Placement() [][]Worker {
	total := 0
	for i := range c.Run.Pools { // a record may hold any number
		p := &c.Run.Pools[i]
		if p.Replicas > experiment.MaxDevices || p.Layout.Devices > experiment.MaxDevices {
			return nil
		}
		total += max(1, p.Replicas) * max(1, p.Layout.Devices)
	}
	if c.NodeGPUs < 1 || c.NodeGPUs > experiment.MaxDevices || total > experiment.MaxDevices {
		return nil
	}
	var out [][]Worker
	free := 0
	put := func(w Worker) {
		if free == 0 {
			out = append(out, nil)
			free = c.NodeGPUs
		}
		w.GPUs = min(w.GPUs, free)
		out[len(out)-1] = append(out[len(out)-1], w)
		free -= w.GPUs
	}
	for i := range c.Run.Pools {
		p := &c.Run.Pools[i]
		size := max(1, p.Layout.Devices)
		for n := range max(1, p.Replicas) {
			if size > free {
				free = 0
			}
			for left := size; left > 0; {
				w := Worker{Role: p.Role, Number: n + 1, GPUs: left}
				put(w)
				last := out[len(out)-1]
				left -= last[len(last)-1].GPUs
			}
		}
	}
	return out
}
