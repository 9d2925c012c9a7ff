package app

import (
	"plimsoll/internal/cost"
	"plimsoll/internal/cost/calibrated"
	"plimsoll/internal/cost/roofline"
	"plimsoll/internal/device"
	"plimsoll/internal/graph"
)

// coster chooses how operators are priced, and says how well that is known: by
// fitted forms where constants for the device's generation exist, otherwise by
// the profile's peaks. TensorCast's policy is always priced by peaks.
func coster(d *device.Profile, p graph.Policy) (cost.Coster, device.Tier) {
	if !p.HalfPrecision {
		if m, ok := calibrated.New(d); ok {
			return m, m.Tier()
		}
	}
	return roofline.New(d, roofline.Settings{FreeUnsupported: p.FreeUnsupported}), d.Tier
}
