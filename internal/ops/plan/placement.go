package plan

import (
	"cmp"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
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

// KVFlow is the KV cache traffic from prefill to decode workers.
type KVFlow struct {
	PerRequest float64 `json:"mb_per_request"` // of a prompt of mean length
	PerSecond  float64 `json:"gb_per_s"`       // of all requests, at the rate of the contender
	// Link connects the workers as placed. Times are those of the outermost link, since launch files may place
	// the workers on other nodes.
	Link string `json:"link"`
}

// flow is nil where prompts and answers are computed by the same workers. Every device of a decode worker takes in what it will hold.
func (c *Contender) flow(input int) *KVFlow {
	if !c.Run.Disaggregated() || len(c.Links) == 0 {
		return nil
	}
	l := &c.Run.Pools[len(c.Run.Pools)-1].Layout
	bytes := float64(c.Found.Run.Sent) * float64(max(1, l.TP)*max(1, l.PP)) * float64(input)
	const mb, gb = 1e6, 1e9
	link := &c.Links[0]
	switch nodes := len(c.Placement()); nodes {
	case 0: // not known
	case 1:
		link = cmp.Or(c.Within(), link)
	default:
		link = cmp.Or(c.Between(nodes), link)
	}
	return &KVFlow{bytes / mb, bytes * c.RequestRate.Value / gb, link.Name}
}

// Within is the link that connects the GPUs of a node; nil where there is none to show.
func (c *Contender) Within() *device.LinkFacts { return c.spans(c.NodeGPUs) }

// Between is the link that connects so many nodes; nil where there is none to show.
func (c *Contender) Between(nodes int) *device.LinkFacts {
	if nodes < 2 {
		return nil
	}
	return c.spans(nodes * c.NodeGPUs)
}

// spans is the innermost link that connects so many GPUs, the outermost where none does.
func (c *Contender) spans(gpus int) *device.LinkFacts {
	reach := 1
	for i := len(c.Links) - 1; gpus > 1 && i >= 0; i-- {
		if reach *= max(1, c.Links[i].Size); reach >= gpus || i == 0 {
			return &c.Links[i]
		}
	}
	return nil
}
