package roofline

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// level is one level of the interconnect, prepared.
type level struct {
	inside    int32   // ranks inside one position of this level
	ranks     float64 // ranks of one whole group at this level
	bandwidth float64 // bytes per second at the link's efficiency
	sheet     float64 // … and of the data sheet
	latency   float64
	mesh      bool
	peer      bool
}

// levels prepares a profile's links, outermost first.
func levels(p *device.Profile) []level {
	out := make([]level, len(p.Links))
	inside := int32(1)
	for i := len(p.Links) - 1; i >= 0; i-- {
		l := &p.Links[i]
		out[i] = level{
			inside:    inside,
			bandwidth: float64(l.Bandwidth) * l.Efficiency,
			sheet:     float64(l.Bandwidth),
			latency:   float64(l.Latency),
			mesh:      l.Topology == device.FullMesh,
			peer:      l.Transport == device.Peer,
		}
		inside *= int32(l.Size)
		out[i].ranks = float64(inside)
	}
	return out
}

// spanned returns the outermost level a group spans, nil for a device without
// links or a group of one; the whole collective runs at that level's speed.
func (m *Model) spanned(g parallel.Group) *level {
	last := (g.Size - 1) * g.Stride
	for i := range m.levels {
		if l := &m.levels[i]; last >= l.inside {
			return l
		}
	}
	return nil
}

// share is the part of a level's bandwidth that a group has: in a full mesh it
// uses only the links to its own members.
func (l *level) share(bandwidth float64, g parallel.Group) float64 {
	if l.mesh && l.ranks > 1 {
		return bandwidth * float64(g.Size-1) / (l.ranks - 1)
	}
	return bandwidth
}

// link returns the bandwidth and latency between the members of a group.
func (m *Model) link(g parallel.Group) (bandwidth, latency float64) {
	l := m.spanned(g)
	if l == nil {
		return math.Inf(1), 0
	}
	return l.share(l.bandwidth, g), l.latency
}

// Link returns the data sheet's bandwidth between the members of a group,
// whether the innermost links alone join them, and whether these have peer access.
func (m *Model) Link(g parallel.Group) (bandwidth float64, inner, peer bool) {
	l := m.spanned(g)
	if l == nil {
		return math.Inf(1), true, false
	}
	return l.share(l.sheet, g), l == &m.levels[len(m.levels)-1], l.peer
}

// Together is how many members of a group that reaches beyond a node are inside each node
// or rack, and 1 for a group that does not.
func (m *Model) Together(g parallel.Group) int32 {
	l := m.spanned(g)
	if l == nil || int(l.inside) < m.profile.Node {
		return 1
	}
	return max(1, l.inside/g.Stride)
}

// communicate costs a collective: the better of two algorithms, never faster
// than memory moves its inputs and outputs.
func (m *Model) communicate(o *op.Op) cost.Estimate {
	n := float64(o.Group.Size)
	bandwidth, latency := m.link(o.Group)
	wire := float64(o.Payload) / bandwidth
	log := math.Log2(n)
	var t float64
	switch o.Comm {
	case op.AllReduce:
		ring := 2*(n-1)*latency + 2*(n-1)/n*wire
		tree := 2*log*latency + 2*wire
		t = math.Min(ring, tree)
	case op.AllGather:
		t = log*latency + (n-1)*wire
	case op.ReduceScatter:
		t = log*latency + (n-1)/n*wire
	case op.AllToAll:
		t = log*latency + wire
	case op.SendRecv:
		t = latency + wire
	case op.NoComm:
	}
	e := cost.Estimate{
		Comm:   units.Seconds(t),
		Memory: units.Seconds(float64(o.Bytes) * m.memory),
		Fixed:  m.profile.Fixed.Communication,
	}
	e.Total = max(e.Comm, e.Memory) + e.Fixed
	return e
}
