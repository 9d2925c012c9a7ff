package replica

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/power"
	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
)

// meter sums up the work of a pool: the loads of one data-parallel rank, by phase.
type meter struct {
	replica         *Replica
	ranks           *ranks // nil where ranks are replicas of their own
	decode, prefill counted
}

// counted are the steps of a phase and how long they took.
type counted struct {
	steps *step.Tally
	took  units.Seconds
}

// meter prepares one.
func (r *Replica) meter() *meter {
	m := &meter{replica: r}
	m.Restart()
	if n := inStep(&r.spec); n > 1 {
		m.ranks = newRanks(r, n)
	}
	return m
}

// Restart implements [server.Meter].
func (m *meter) Restart() {
	m.decode, m.prefill = counted{steps: m.replica.curve.Tally()}, counted{steps: m.replica.curve.Tally()}
}

// Step implements [server.Meter].
func (m *meter) Step(b server.Batch, took units.Seconds) { m.add(b, 1, took, &m.prefill) }

// Decode implements [server.Meter]; as with time, all steps count as those of the mean
// context.
func (m *meter) Decode(n int, context, growth float64, steps int, took units.Seconds) {
	mean := meanContext(context, growth, steps)
	m.add(server.Batch{Decode: n, DecodeContext: mean, Sampled: n}, float64(steps), took, &m.decode)
}

// add counts steps of one shape. Ranks that step together all count as the fullest,
// which the others wait for.
func (m *meter) add(b server.Batch, steps float64, took units.Seconds, to *counted) {
	if m.ranks != nil {
		b = m.ranks.fullestBatch(&b)
	}
	s := m.replica.sums(&b)
	to.steps.Add(&s, steps)
	to.took += took
}

// perDevice are the loads of one device: a graph holds the layers of all pipeline
// stages.
func (m *meter) perDevice() power.Loads {
	stages := float64(max(1, m.replica.spec.Layout.PP))
	return power.Loads{Decode: m.decode.load(stages), Prefill: m.prefill.load(stages)}
}

// load is that of each of so many pipeline stages.
func (c *counted) load(stages float64) power.Load {
	out := power.Load{Activity: c.steps.Activity(), Time: c.took}
	for k := range out.Activity {
		out.Activity[k] /= stages
	}
	return out
}

// Meters measure a fleet in a simulation.
type Meters struct {
	fleet  *Fleet
	meters []*meter
}

// Meter adds meters to a simulation of the fleet. They cost time, so only runs whose energy
// is shown have them.
func (f *Fleet) Meter(c *sim.Config) *Meters {
	out := &Meters{fleet: f}
	for _, r := range f.replicas {
		out.meters = append(out.meters, r.meter())
	}
	c.Workers.Meter = out.meters[0]
	if c.Decode != nil {
		c.Decode.Meter = out.meters[1]
	}
	return out
}

// Used is the work of the devices of one pool.
type Used struct {
	Devices int
	Loads   power.Loads // of one device
	Busy    float64     // share of the time
}

// Used is the work of each pool in a simulation that has ended.
func (m *Meters) Used(r *statistics.Result) []Used {
	out := make([]Used, len(m.meters))
	for i, x := range m.meters {
		pool := &m.fleet.deployment.Pools[i]
		out[i] = Used{Devices: pool.Replicas * pool.Spec.Layout.Devices, Loads: x.perDevice(), Busy: r.Workers.Busy}
		if i > 0 {
			out[i].Busy = r.Decode.Busy
		}
	}
	return out
}

// Energy is what a deployment draws while it serves.
type Energy struct {
	// Watts is the mean power of a device, Draw what adds up to it, Cap the most that one may draw, Devices their number.
	Watts   units.Watts
	Draw    power.Draw
	Cap     units.Watts
	Devices int
	// PerToken is the energy of all devices for an output token.
	PerToken units.Joules
	// Tier says how well the power of the devices is known.
	Tier device.Tier
}

// Energy is that of a simulation that has ended, and whether the power of all devices
// is known. factor is that of the deployment's cell (power.Fitted).
func (m *Meters) Energy(r *statistics.Result, factor float64) (Energy, bool) {
	var out Energy
	var draw power.Draw
	for i, u := range m.Used(r) {
		p, ok := power.New(m.fleet.deployment.Pools[i].Device)
		if !ok {
			return Energy{}, false
		}
		if out.Tier != device.Transferred {
			out.Tier = p.Tier()
		}
		p = p.Scaled(factor)
		draw = draw.Plus(p.Draw(&u.Loads, u.Busy), float64(u.Devices))
		out.Cap = max(out.Cap, p.Cap())
		out.Devices += u.Devices
	}
	if out.Devices == 0 || r.OutputRate <= 0 {
		return Energy{}, false
	}
	out.Watts, out.Draw = draw.Total()/units.Watts(out.Devices), power.Draw{}.Plus(draw, 1/float64(out.Devices))
	out.PerToken = units.Joules(draw.Total()) / units.Joules(r.OutputRate)
	return out, true
}
