package prices

import (
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/calibrated"
	"github.com/plimsoll-project/plimsoll/internal/cost/roofline"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
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
	// Surfaces uses those forms times how measured kernels of the device, or of one of
	// its generation, differ from them.
	Surfaces Pricing = "surfaces"
)

// Pricings are the cost models.
func Pricings() []Pricing { return []Pricing{Roofline, Calibrated, Surfaces} }

// Words lists the cost models.
func (Pricing) Words() []string { return field.Texts(Pricings()) }

// Fitted reports whether prices are fitted to measured kernels.
func (p Pricing) Fitted() bool { return p == Calibrated || p == Surfaces }

// Best is the best cost model of a device.
func Best(d *device.Profile) Pricing {
	switch {
	case !calibrated.Known(d.Generation):
		return Roofline
	case surfacesOf(d) != nil:
		return Surfaces
	}
	return Calibrated
}

// Check reports a pricing that does not exist, or not for a device.
func (p Pricing) Check(d *device.Profile) error {
	switch {
	case !slices.Contains(Pricings(), p):
		return field.OneOf("pricing", p, Pricings()...)
	case p.Fitted() && !calibrated.Known(d.Generation):
		return field.Errorf("%s %s: no kernels of %s or a related device generation were measured", field.Name("pricing"), string(p), d.Name)
	case p == Surfaces && Best(d) != Surfaces:
		return field.Errorf("%s surfaces: none are trusted for %s; %s is its best", field.Name("pricing"), d.Name, string(Best(d)))
	}
	return nil
}

// Form is the prices of a device without tables or surfaces. FreeUnsupported drops arithmetic
// in formats the device has no unit for, as TensorCast does.
func (p Pricing) Form(d *device.Profile, freeUnsupported bool) cost.Coster {
	if p.Fitted() {
		if m, ok := calibrated.New(d); ok {
			return m
		}
	}
	return roofline.New(d, roofline.Settings{FreeUnsupported: freeUnsupported})
}

// Tier says where the prices of a device come from.
func (p Pricing) Tier(d *device.Profile) device.Tier {
	if p.Fitted() && calibrated.Known(d.Generation) {
		return calibrated.TierOf(d.Generation)
	}
	return d.Tier
}
