package sim

import "fmt"

// Routing chooses the replica for a request.
type Routing int

const (
	// RoundRobin goes through the replicas in turn.
	RoundRobin Routing = iota
	// LeastLoaded takes the replica with the fewest requests that have not left
	// it, the first among equals.
	LeastLoaded
)

// String names the routing.
func (r Routing) String() string {
	switch r {
	case RoundRobin:
		return "round-robin"
	case LeastLoaded:
		return "least-loaded"
	default:
		return fmt.Sprintf("routing %d", int(r))
	}
}

// pool is the replicas of one kind, and whose turn it is.
type pool struct {
	routing  Routing
	replicas []replica
	turn     int
}

// route chooses a replica and counts the request as its load.
func (p *pool) route() *replica {
	at := p.turn
	if p.routing == LeastLoaded {
		at = 0
		for i := range p.replicas {
			if p.replicas[i].load < p.replicas[at].load {
				at = i
			}
		}
	} else if p.turn++; p.turn == len(p.replicas) {
		p.turn = 0
	}
	r := &p.replicas[at]
	r.load++
	return r
}
