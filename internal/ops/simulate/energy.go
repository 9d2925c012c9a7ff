package simulate

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

// Energy is what the devices of a deployment draw while it serves.
type Energy struct {
	// PerToken is the energy of all devices for an output token.
	PerToken         units.Joules          `json:"joules_per_output_token"`
	PerTokenInterval *calibration.Interval `json:"joules_per_output_token_80"`
	// Watts is the mean power of a device.
	Watts units.Watts `json:"watts_per_device"`
	// Tier is calibrated where the power of the device's generation was measured,
	// transferred where it is estimated from others.
	Tier device.Tier `json:"tier"`

	// Error is the expected error of the joules per output token.
	Error calibration.Error `json:"-"`
	// Draw adds up to Watts, Cap is the most that a device may draw.
	Draw power.Draw  `json:"-"`
	Cap  units.Watts `json:"-"`
}

// Range is the energy of an output token with its interval.
func (e *Energy) Range() Range {
	return Range{float64(e.PerToken), e.PerTokenInterval.Low, e.PerTokenInterval.High}
}

// EnergyOf is the energy of a simulated deployment, nil if unknown.
func EnergyOf(m *replica.Meters, r *sim.Result, d *deployment.Resolved) *Energy {
	subject := calibration.SubjectOfDeployment(d)
	e, ok := m.Energy(r, subject.PowerFactor())
	if !ok {
		return nil
	}
	expected := calibration.ExpectJoules(&subject, e.Tier)
	return &Energy{e.PerToken, expected.Around(float64(e.PerToken)), e.Watts, e.Tier, expected, e.Draw, e.Cap}
}
