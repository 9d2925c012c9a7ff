package step

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/power"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// Energy is the energy of a step: under the engine, if any, otherwise of its operators.
type Energy struct {
	Watts units.Watts `json:"watts_per_device"` // mean over the step
	// PerDevice is the energy of one device, All of all of them, PerToken All for each
	// new token.
	PerDevice units.Joules `json:"joules_per_device"`
	All       units.Joules `json:"joules"`
	PerToken  units.Joules `json:"joules_per_token"`
	// Tier is calibrated where the power of the device's generation was measured,
	// transferred where it is estimated from others.
	Tier device.Tier `json:"tier"`
}

// energyOf is that of an evaluated step.
func energyOf(p *deployment.Served, r *Response) *Energy {
	m, ok := power.New(p.Device)
	if !ok {
		return nil
	}
	load := power.Load{Time: r.Time}
	if e := r.Engine; e != nil {
		subject := calibration.SubjectOfServed(p)
		m, load.Time = m.Scaled(subject.PowerFactor()), e.Time
	}
	work, l := r.Result.Activity(), &p.Spec.Layout
	load.Activity.Add(&work, 1/float64(max(1, l.PP)))
	out := &Energy{Watts: m.Watts(&load), PerDevice: m.Joules(&load), Tier: m.Tier()}
	out.All = out.PerDevice * units.Joules(l.Devices)
	out.PerToken = out.All / units.Joules(r.Requests*r.Query*max(1, l.DP))
	return out
}
