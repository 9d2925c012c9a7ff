package ops

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/power"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/replica"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
)

// DefaultEnergyPrice is US dollars for a kilowatt-hour: what industry in the United
// States paid on average in 2023, 8.06 cents, rounded (EIA). For
// the power of cooling and conversion too, multiply a price by the PUE of the site.
const DefaultEnergyPrice = 0.08

// Energy is what a deployment draws while it serves.
type Energy struct {
	replica.Energy

	// Error is what to expect of the joules of an output token.
	Error calibration.Error
}

// energyOf is that of a simulated deployment, nil where it is unknown.
func energyOf(m *replica.Meters, r *sim.Result, d *deployment.Resolved) *Energy {
	subject := calibration.SubjectOfDeployment(d)
	e, ok := m.Energy(r, subject.PowerFactor())
	if !ok {
		return nil
	}
	return &Energy{e, calibration.ExpectJoules(&subject, e.Tier)}
}

// StepEnergy is what a step draws: under the engine, if there is one, otherwise while
// its operators run.
type StepEnergy struct {
	Watts units.Watts // mean of a device
	// PerDevice is the energy of one device, All of all of them, PerToken All for each
	// new token.
	PerDevice, All, PerToken units.Joules
	// Tier says how well the power of the device is known.
	Tier device.Tier
}

// stepEnergy is that of an evaluated step.
func stepEnergy(p *deployment.Served, r *StepResponse) *StepEnergy {
	m, ok := power.New(p.Device)
	if !ok {
		return nil
	}
	load := power.Load{Time: r.Result.Time}
	if e := r.Engine; e != nil {
		subject := calibration.SubjectOfServed(p)
		m, load.Time = m.Scaled(subject.PowerFactor()), e.Time
	}
	work, l := r.Result.Activity(), &p.Spec.Layout
	load.Activity.Add(&work, 1/float64(max(1, l.PP)))
	out := &StepEnergy{Watts: m.Watts(&load), PerDevice: m.Joules(&load), Tier: m.Tier()}
	out.All = out.PerDevice * units.Joules(l.Devices)
	out.PerToken = out.All / units.Joules(r.Requests*r.Query*max(1, l.DP))
	return out
}
