package app

import (
	"fmt"

	"plimsoll/internal/cost"
	"plimsoll/internal/cost/calibrated"
	"plimsoll/internal/cost/roofline"
	"plimsoll/internal/device"
	"plimsoll/internal/graph"
)

// Pricing is how operators are priced where no measured kernel covers them.
type Pricing string

// The ways.
const (
	// Roofline prices by the profile's peaks and efficiencies, as TensorCast does.
	Roofline Pricing = "roofline"
	// Calibrated prices by forms fitted to measured kernels of the device's
	// generation or of a related one.
	Calibrated Pricing = "calibrated"
)

// bestPricing is the way that knows most about a device.
func bestPricing(d *device.Profile) Pricing {
	if _, ok := calibrated.Nearest(d.Generation); ok {
		return Calibrated
	}
	return Roofline
}

// form is the prices of a device. Of a policy they know only what it says of
// missing arithmetic.
func (p Pricing) form(d *device.Profile, policy *graph.Policy) (cost.Coster, device.Tier) {
	if p == Calibrated {
		if m, ok := calibrated.New(d); ok {
			return m, m.Tier()
		}
	}
	return roofline.New(d, roofline.Settings{FreeUnsupported: policy.FreeUnsupported}), d.Tier
}

// tier says how well these prices of a device are known.
func (p Pricing) tier(d *device.Profile) device.Tier {
	_, tier := p.form(d, &graph.Policy{})
	return tier
}

// Modelling is how a request wants steps modelled; each may be left open.
type Modelling struct {
	Policy  string  // "" = tensorcast on Ascend, physical elsewhere
	Pricing Pricing // "" = roofline under tensorcast, the best there is elsewhere
	Compile *bool   // fuses operators; nil = where prices are calibrated, since engines do
}

// modelling is the same for a device, with nothing left open.
type modelling struct {
	policy  graph.Policy
	pricing Pricing
	compile bool
}

// on resolves what was left open.
func (m *Modelling) on(d *device.Profile) (modelling, error) {
	var out modelling
	var err error
	if out.policy, err = policyFor(m.Policy, d); err != nil {
		return out, err
	}
	switch best := bestPricing(d); {
	case m.Pricing == "" && out.policy.IsTensorCast():
		out.pricing = Roofline
	case m.Pricing == "":
		out.pricing = best
	case m.Pricing != Roofline && m.Pricing != Calibrated:
		return out, fmt.Errorf("--pricing must be %s or %s, got %q", Roofline, Calibrated, m.Pricing)
	case m.Pricing == Calibrated && best != Calibrated:
		return out, fmt.Errorf("--pricing calibrated: no kernels of %s or a related device were measured", d.Name)
	default:
		out.pricing = m.Pricing
	}
	out.compile = out.fuses()
	if m.Compile != nil {
		out.compile = *m.Compile
	}
	return out, nil
}

// fuses reports whether operators are fused unless the request says otherwise.
// Fitted prices are of engines' kernels, and no engine runs norms and activations
// operator by operator; the Ascend guide's default is what its tool does.
func (m *modelling) fuses() bool { return m.pricing == Calibrated }

// policyFor finds a policy by name; the default is TensorCast's where TensorCast
// is at home.
func policyFor(name string, d *device.Profile) (graph.Policy, error) {
	switch name {
	case "":
		if d.Vendor == device.Ascend || d.Vendor == device.Test {
			return graph.TensorCast(), nil
		}
		return graph.Physical(), nil
	case graph.TensorCast().Name:
		return graph.TensorCast(), nil
	case graph.Physical().Name:
		return graph.Physical(), nil
	}
	return graph.Policy{}, fmt.Errorf("--policy must be tensorcast or physical, got %q", name)
}
