package power

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
)

// Constants are those of one generation of devices.
type Constants struct {
	// Idle is the share of the cap that a device draws while it waits for requests,
	// Active what running steps add to it, whatever they compute.
	Idle   float64 `yaml:"idle"`
	Active float64 `yaml:"active"`
	// Memory, Compute and Link are picojoules per byte of memory, per matrix operation
	// in 16 bits and per byte sent to other devices.
	Memory  float64 `yaml:"memory"`
	Compute float64 `yaml:"compute"`
	Link    float64 `yaml:"link"`
}

// Values are pointers to the constants, in the order they are written.
func (c *Constants) Values() [5]*float64 {
	return [...]*float64{&c.Idle, &c.Active, &c.Memory, &c.Compute, &c.Link}
}

// Names are those of the values.
func Names() [5]string { return [...]string{"idle", "active", "memory", "compute", "link"} }

// Model is what one device draws. It is immutable and safe for concurrent use.
type Model struct {
	cap, idle, active float64 // watts
	per               Activity
	tier              device.Tier
}

// New prepares the model of a device, or reports that its power is unknown.
func New(p *device.Profile) (*Model, bool) {
	if p.Power <= 0 {
		return nil, false
	}
	c, tier := nearest(p)
	m := With(p, &c)
	m.tier = tier
	return m, true
}

// picojoule in joules.
const pico = 1e-12

// With prepares the model of a device with constants of one's own. Half as many bits
// take half the energy: data sheets promise twice the operations at the same power.
func With(p *device.Profile, c *Constants) *Model {
	return &Model{
		cap: p.Power, idle: c.Idle * p.Power, active: c.Active * p.Power, tier: device.Calibrated,
		per: Activity{
			Memory: c.Memory * pico, Link: c.Link * pico,
			Wide: c.Compute * pico, FP8: c.Compute * pico / 2, FP4: c.Compute * pico / 4,
		},
	}
}

// Scaled is the model of a device whose kernels draw a multiple above idle.
func (m *Model) Scaled(factor float64) *Model {
	out := *m
	out.active *= factor
	for k := range out.per {
		out.per[k] *= factor
	}
	return &out
}

// Tier says where the constants come from: this generation's rows, or another's.
func (m *Model) Tier() device.Tier { return m.tier }

// Cap is the most a device may draw.
func (m *Model) Cap() units.Watts { return units.Watts(m.cap) }

// Idle is what a device draws while it waits.
func (m *Model) Idle() units.Watts { return units.Watts(m.idle) }

// Load is the work of one device and how long it takes.
type Load struct {
	Activity Activity
	Time     units.Seconds
}

// softness is the exponent of the approach to the cap: as a device nears it, clocks
// drop for parts of a step, long before the mean is at the cap. Of 2, 3, 4, 6 and 8,
// 4 predicts measured power best.
const softness = 4

// Watts is the mean power of a device under a load: between idle and the cap.
func (m *Model) Watts(l *Load) units.Watts {
	if l.Time <= 0 {
		return m.Idle()
	}
	return units.Watts(m.cap * math.Pow(1+math.Pow(m.cap/m.uncapped(l), softness), -1./softness))
}

// uncapped is what a device would draw under a load at its full clocks.
func (m *Model) uncapped(l *Load) float64 {
	p := m.idle + m.active
	for k, amount := range l.Activity {
		p += m.per[k] * amount / float64(l.Time)
	}
	return p
}

// Joules is the energy of a device under a load.
func (m *Model) Joules(l *Load) units.Joules { return units.Joules(m.Watts(l)) * units.Joules(l.Time) }

// Loads are the work of one device by phase: steps that only decode, and those with
// prefill, which come closer to the cap.
type Loads struct{ Decode, Prefill Load }

// Mean is the mean power of a device that works through loads for a share of its time
// and waits for the rest.
func (m *Model) Mean(l *Loads, busy float64) units.Watts {
	time := l.Decode.Time + l.Prefill.Time
	if time <= 0 {
		return m.Idle()
	}
	working := units.Watts((m.Joules(&l.Decode) + m.Joules(&l.Prefill)) / units.Joules(time))
	busy = math.Min(1, busy)
	return units.Watts(busy)*working + units.Watts(1-busy)*m.Idle()
}

// Draw is the mean power of a device by what draws it; the parts add up to it.
type Draw struct {
	Idle units.Watts // while it waits, and below all else
	// Running is what running steps add whatever they compute, Memory, Compute and Link what they move, compute and send: at the
	// clocks that the cap leaves them.
	Running, Memory, Compute, Link units.Watts
}

// Draw is what [Model.Mean] adds up.
func (m *Model) Draw(l *Loads, busy float64) Draw {
	out := Draw{Idle: m.Idle()}
	total := float64(l.Decode.Time + l.Prefill.Time)
	if total <= 0 {
		return out
	}
	busy = math.Min(1, busy)
	for _, x := range []*Load{&l.Decode, &l.Prefill} {
		if x.Time <= 0 {
			continue
		}
		// Near the cap clocks are lower, for all that a step does.
		share := busy / total * (float64(m.Watts(x)) - m.idle) / (m.uncapped(x) - m.idle)
		out.Running += units.Watts(m.active * float64(x.Time) * share)
		for k, to := range [Kinds]*units.Watts{Memory: &out.Memory, Wide: &out.Compute, FP8: &out.Compute, FP4: &out.Compute, Link: &out.Link} {
			*to += units.Watts(m.per[k] * x.Activity[k] * share)
		}
	}
	return out
}

// Total is what the parts add up to.
func (d Draw) Total() units.Watts { return d.Idle + d.Running + d.Memory + d.Compute + d.Link }

// Plus adds n times another device's draw.
func (d Draw) Plus(x Draw, n float64) Draw {
	by := units.Watts(n)
	return Draw{
		Idle: d.Idle + by*x.Idle, Running: d.Running + by*x.Running, Memory: d.Memory + by*x.Memory,
		Compute: d.Compute + by*x.Compute, Link: d.Link + by*x.Link,
	}
}
