package replica

import (
	"plimsoll/internal/cost"
	"plimsoll/internal/deployment"
	"plimsoll/internal/sim"
)

// Fleet is a whole deployment as a simulation sees it. It is immutable and safe
// for concurrent use.
type Fleet struct {
	deployment *deployment.Resolved
	// replicas are one of each pool, in the order of the deployment's.
	replicas []*Replica
}

// NewFleet prepares a replica of every pool at the prices of its device.
func NewFleet(d *deployment.Resolved, prices func(*deployment.Served) (cost.Coster, error)) (*Fleet, error) {
	f := &Fleet{deployment: d}
	for i := range d.Pools {
		c, err := prices(&d.Pools[i])
		if err != nil {
			return nil, err
		}
		r, err := New(&d.Pools[i], c)
		if err != nil {
			return nil, err
		}
		f.replicas = append(f.replicas, r)
	}
	return f, nil
}

// Scaled is the fleet with prices and host times multiplied.
func (f *Fleet) Scaled(m Multipliers) *Fleet {
	out := &Fleet{deployment: f.deployment, replicas: make([]*Replica, len(f.replicas))}
	for i, r := range f.replicas {
		out.replicas[i] = r.Scaled(m)
	}
	return out
}

// Generates is the replica that generates tokens.
func (f *Fleet) Generates() *Replica { return f.replicas[len(f.replicas)-1] }

// First is the replica that takes a request first: that of the only pool, or of
// the one for prefill.
func (f *Fleet) First() *Replica { return f.replicas[0] }

// Config is a simulation of the fleet under a client. The caches of prefill
// replicas travel over the outermost link of the devices that generate.
func (f *Fleet) Config(client sim.Client) sim.Config {
	c := sim.Config{Client: client, Workers: f.pool(0)}
	if f.deployment.Disaggregated() {
		decode := f.pool(1)
		c.Decode, c.Link = &decode, f.replicas[1].Link(f.deployment.Pools[1].Device)
	}
	return c
}

// pool is the copies of one kind of replica.
func (f *Fleet) pool(i int) sim.Pool {
	p := f.replicas[i].Pool(f.deployment.Pools[i].Replicas)
	if f.deployment.LeastLoaded {
		p.Routing = sim.LeastLoaded
	}
	return p
}
