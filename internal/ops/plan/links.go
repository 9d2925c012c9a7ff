package plan

import (
	"cmp"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
)

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
	bytes := float64(c.Found.Sent) * float64(max(1, l.TP)*max(1, l.PP)) * float64(input)
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
