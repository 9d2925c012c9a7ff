package document

import "github.com/plimsoll-project/plimsoll/internal/ops/simulate"

// Energy is what the devices of a deployment draw while it serves.
type Energy struct {
	// PerToken is the energy of all devices for an output token.
	PerToken         float64   `json:"joules_per_output_token"`
	PerTokenInterval *Interval `json:"joules_per_output_token_80"`
	// Watts is the mean power of a device.
	Watts float64 `json:"watts_per_device"`
	// Tier is calibrated where the power of the device's generation was measured,
	// transferred where it is estimated from others.
	Tier string `json:"tier"`
}

func energyOf(e *simulate.Energy) *Energy {
	if e == nil {
		return nil
	}
	return &Energy{float64(e.PerToken), interval(e.Error, float64(e.PerToken)), float64(e.Watts), string(e.Tier)}
}
