package replica

import (
	"sync"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
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
	var curves Curves
	return curves.Fleet(d, prices)
}

// Curves keeps the prices of steps by what is computed and on which device: deployments
// that differ only in the settings of their engines share them. It is safe for concurrent
// use.
type Curves struct {
	mu    sync.Mutex
	known map[priced]*step.Curve
}

type priced struct {
	spec   graph.Spec
	device *device.Profile
}

// maxCurves bounds the curves that are kept, of some ten kilobytes each: a server is asked about any settings.
const maxCurves = 1 << 8

// of is the curve of a pool.
func (c *Curves) of(p *deployment.Served, prices cost.Coster) (*step.Curve, error) {
	key := priced{p.Spec, p.Device}
	c.mu.Lock()
	defer c.mu.Unlock()
	if curve, ok := c.known[key]; ok {
		return curve.Fork(), nil
	}
	g, err := graph.New(p.Spec)
	if err != nil {
		return nil, err
	}
	if c.known == nil || len(c.known) >= maxCurves {
		c.known = map[priced]*step.Curve{}
	}
	c.known[key] = step.NewCurve(g, prices)
	return c.known[key].Fork(), nil
}

// Fleet is NewFleet with curves that are kept; the prices of a device are always the same.
func (c *Curves) Fleet(d *deployment.Resolved, prices func(*deployment.Served) (cost.Coster, error)) (*Fleet, error) {
	if _, ok := sim.RoutingNamed(d.Routing); !ok {
		return nil, field.OneOf("routing", d.Routing, sim.RoutingNames()...)
	}
	f := &Fleet{deployment: d}
	for i := range d.Pools {
		coster, err := prices(&d.Pools[i])
		if err != nil {
			return nil, err
		}
		curve, err := c.of(&d.Pools[i], coster)
		if err != nil {
			return nil, err
		}
		r, err := along(&d.Pools[i], curve)
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

// Config is a simulation of the fleet under a client.
func (f *Fleet) Config(client traffic.Client) sim.Config {
	c := sim.Config{Client: client, Workers: f.pool(0)}
	if f.deployment.Disaggregated() {
		decode := f.pool(1)
		c.Decode, c.Link = &decode, f.replicas[1].Link(f.replicas[0])
	}
	return c
}

// pool is the copies of one kind of replica.
func (f *Fleet) pool(i int) sim.Pool {
	p := f.replicas[i].Pool(f.deployment.Pools[i].Replicas)
	p.Routing, _ = sim.RoutingNamed(f.deployment.Routing)
	p.Engine.Host = f.replicas[i].tier(&f.deployment.Host)
	return p
}
