package calibration

import (
	"math"
	"slices"
	"strings"

	"plimsoll/internal/engine"
	"plimsoll/internal/replica"
	"plimsoll/internal/step"
)

// The parameters of a fit. Each scales a kind of operator or a host time.
const (
	products = iota
	experts
	exchange
	elementwise
	decodeAttention
	prefillProducts // on top of products
	prefillExperts  // on top of experts
	prefillAttention
	perStep
	perSequence
	perPrefillStep
	perLayer
	launchFloor
	first
	Parameters // how many there are
)

// names are the parameters' names in an overlay.
//
//nolint:gochecknoglobals // a constant table
var names = [Parameters]string{
	"products", "experts", "exchange", "elementwise", "decode_attention",
	"prefill_products", "prefill_experts", "prefill_attention",
	"per_step", "per_sequence", "per_prefill_step", "per_layer", "launch_floor", "first",
}

// Logs are the logarithms of the multipliers of all parameters; zeros change
// nothing.
type Logs [Parameters]float64

// Groups are the multipliers of groups of predictions, by the group's name. Those
// of all groups a prediction belongs to are multiplied.
type Groups map[string]*Logs

// Width is the standard deviation of a parameter's prior, in logarithms: kernels
// are known to a third, host times to a factor of two.
func Width(parameter int) float64 {
	if parameter >= perStep {
		return 0.7
	}
	return 0.35
}

// Group is one group a prediction belongs to, and the width of its prior around
// the wider group, as a share of the parameter's width.
type Group struct {
	Name  string
	Share float64
}

// Wide are the groups whose multipliers hold for models without rows too: the
// vendor's devices, an engine on them, the device generation, and the vendor's
// disaggregated deployments. On no axis that was left out (cells, models, systems) do
// they predict worse than no fit; what distinguishes more does.
func (s *Subject) Wide() []Group {
	vendor := s.vendor()
	out := []Group{{vendor, 1}, {vendor + separator + s.Engine, 0.7}, {s.Generation, 0.5}}
	if s.Disaggregated && vendor != amd {
		out = append(out, Group{vendor + separator + disaggregated, 0.7})
	}
	return out
}

// Groups are the groups a subject belongs to for a parameter, from the widest to
// the narrowest: the wide ones; its engine on its device generation, and within that
// operators or models of the same kind; and the engine's disaggregated deployments. The
// shares were chosen by cross-validation over configurations and over cells.
func (s *Subject) Groups(parameter int) []Group {
	own := s.Engine + separator + s.Generation
	out := append(s.Wide(), Group{own, 0.5})
	if kind := s.kind(parameter); kind != "" {
		out = append(out, Group{own + separator + kind, 0.7})
	}
	if s.Disaggregated {
		out = append(out, Group{s.vendor() + separator + s.Engine + separator + disaggregated, 0.7})
	}
	return out
}

// The vendors that groups distinguish; all but AMD's devices count as NVIDIA's, whose
// rows are the most.
const (
	amd    = "amd"
	nvidia = "nvidia"
)

func (s *Subject) vendor() string {
	if strings.HasPrefix(s.Generation, "cdna") {
		return amd
	}
	return nvidia
}

// OwnCell is the group of a subject's cell, whose prior is as wide as the
// parameter's.
func (s *Subject) OwnCell() Group { return Group{s.Cell(), 1} }

// Matters reports whether a parameter can change a prediction about the subject.
func (s *Subject) Matters(parameter int) bool {
	return s.Experts != "" || parameter != experts && parameter != prefillExperts
}

// kind distinguishes the operators or host times of a parameter: by their number
// format, the kind of attention and its cache, or the class of model.
func (s *Subject) kind(parameter int) string {
	switch parameter {
	case products, prefillProducts:
		return s.Products
	case experts, prefillExperts:
		return s.Experts
	case decodeAttention, prefillAttention:
		if s.Class == engine.Latent {
			return "latent " + s.KV
		}
		return "attention " + s.KV
	case perLayer, launchFloor:
		return string(s.Class)
	}
	return ""
}

// Sum adds up the logarithms of a subject's groups.
func (o *Overlay) Sum(s Subject) Logs {
	groups := o.Groups
	if o.Unseen != nil && !o.Has(&s) {
		groups = o.Unseen
		if s.Disaggregated && s.vendor() == amd {
			groups = nil // what was fitted elsewhere makes predictions of these worse
		}
	}
	family := s
	family.Generation = s.family()
	var sum Logs
	for i := range sum {
		wider := family.Groups(i)
		for k, g := range s.Groups(i) {
			z, ok := groups[g.Name]
			if !ok { // a variant of a generation uses what was fitted to the generation
				z, ok = groups[wider[k].Name]
			}
			if ok {
				sum[i] += z[i]
			}
		}
	}
	if z, ok := o.Groups[s.Cell()]; ok {
		for i := range sum {
			sum[i] += z[i]
		}
	}
	return sum
}

// Has reports whether the overlay was fitted to rows of the subject's model under its
// engine on devices of its generation: those of another device of the generation
// predict nearly as well as its own. Of disaggregated deployments they do not.
func (o *Overlay) Has(s *Subject) bool {
	return !s.Disaggregated && slices.Contains(o.Families[s.familyRow()], s.Model) || o.Saw(s)
}

// Multipliers are those of a prediction about a subject.
func (o *Overlay) Multipliers(s Subject) replica.Multipliers { return o.Sum(s).Multipliers() }

// Multipliers turns logarithms into multipliers of a replica's times.
func (z Logs) Multipliers() replica.Multipliers {
	m := replica.Ones()
	e := func(parameter int) float64 { return math.Exp(z[parameter]) }
	m.Decode[step.Products], m.Decode[step.Experts] = e(products), e(experts)
	m.Decode[step.Exchange], m.Decode[step.Elementwise] = e(exchange), e(elementwise)
	m.Decode[step.Attention] = e(decodeAttention)
	m.Prefill = m.Decode
	m.Prefill[step.Products] *= e(prefillProducts)
	m.Prefill[step.Experts] *= e(prefillExperts)
	m.Prefill[step.Attention] = e(prefillAttention)
	m.PerStep, m.PerSequence, m.PerPrefillStep = e(perStep), e(perSequence), e(perPrefillStep)
	m.PerLayer, m.LaunchFloor = e(perLayer), e(launchFloor)
	m.First = e(first)
	return m
}
