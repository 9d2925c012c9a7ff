package prices

import (
	"plimsoll/internal/cost"
	"plimsoll/internal/cost/calibrated"
	"plimsoll/internal/cost/roofline"
	"plimsoll/internal/device"
	"plimsoll/internal/field"
)

// Pricing is the cost model of operators that no kernel table covers.
type Pricing string

// The cost models.
const (
	// Roofline uses the profile's peaks and efficiencies, as TensorCast does.
	Roofline Pricing = "roofline"
	// Calibrated uses forms fitted to measured kernels of the device's generation or
	// of a related one.
	Calibrated Pricing = "calibrated"
)

// Best is the best cost model of a device.
func Best(d *device.Profile) Pricing {
	if calibrated.Known(d.Generation) {
		return Calibrated
	}
	return Roofline
}

// Check reports a pricing that does not exist, or not for a device.
func (p Pricing) Check(d *device.Profile) error {
	switch {
	case p != Roofline && p != Calibrated:
		return field.Errorf("%s must be %s or %s, got %q", field.Name("pricing"), string(Roofline), string(Calibrated), string(p))
	case p == Calibrated && Best(d) != Calibrated:
		return field.Errorf("%s calibrated: no kernels of %s or a related device generation were measured", field.Name("pricing"), d.Name)
	}
	return nil
}

// Form is the prices of a device without tables. FreeUnsupported drops arithmetic
// in formats the device has no unit for, as TensorCast does.
func (p Pricing) Form(d *device.Profile, freeUnsupported bool) (cost.Coster, device.Tier) {
	if p == Calibrated {
		if m, ok := calibrated.New(d); ok {
			return m, m.Tier()
		}
	}
	return roofline.New(d, roofline.Settings{FreeUnsupported: freeUnsupported}), d.Tier
}

// Tier says where the prices of a device come from.
func (p Pricing) Tier(d *device.Profile) device.Tier {
	if p == Calibrated && calibrated.Known(d.Generation) {
		return calibrated.TierOf(d.Generation)
	}
	return d.Tier
}
