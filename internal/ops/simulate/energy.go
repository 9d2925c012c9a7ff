package simulate

import (
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/replica"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
)

// DefaultEnergyPrice is US dollars for a kilowatt-hour: what industry in the United
// States paid on average in 2023, 8.06 cents, rounded (EIA). For
// the power of cooling and conversion too, multiply a price by the PUE of the site.
const DefaultEnergyPrice = 0.08

// Energy is the energy and power of a deployment under load.
type Energy struct {
	replica.Energy

	// Error is the expected error of the joules per output token.
	Error calibration.Error
}

// EnergyOf is the energy of a simulated deployment, nil if unknown.
func EnergyOf(m *replica.Meters, r *sim.Result, d *deployment.Resolved) *Energy {
	subject := calibration.SubjectOfDeployment(d)
	e, ok := m.Energy(r, subject.PowerFactor())
	if !ok {
		return nil
	}
	return &Energy{e, calibration.ExpectJoules(&subject, e.Tier)}
}
