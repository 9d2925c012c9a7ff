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
	head
	decodeAttention
	prefillProducts // on top of products
	prefillExperts  // on top of experts
	prefillExchange // on top of exchange
	prefillAttention
	perStep
	perSequence
	perPrefillStep
	perLayer
	launchFloor
	api
	apiPerToken
	first
	Parameters // how many there are
)

// names are the parameters' names in an overlay.
//
//nolint:gochecknoglobals // a constant table
var names = [Parameters]string{
	"products", "experts", "exchange", "elementwise", "head", "decode_attention",
	"prefill_products", "prefill_experts", "prefill_exchange", "prefill_attention",
	"per_step", "per_sequence", "per_prefill_step", "per_layer", "launch_floor", "api", "api_per_token", "first",
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

// Groups are the groups a subject belongs to for a parameter, from the widest to
// the narrowest: all predictions, those of its engine, those of its engine on its
// device generation; within each of these, those of the same kind; and all
// disaggregated ones, and those of its engine. The shares were chosen by
// cross-validation over configurations and over cells.
func (s *Subject) Groups(parameter int) []Group {
	out := []Group{{everything, 0.6}, {s.Engine, 0.7}, {s.Engine + separator + s.Generation, 0.5}}
	if kind := s.kind(parameter); kind != "" {
		for _, wide := range out {
			out = append(out, Group{wide.Name + separator + kind, 0.5})
		}
	}
	if s.Disaggregated {
		out = append(out, Group{disaggregated, 0.7}, Group{s.Engine + separator + disaggregated, 0.7})
	}
	return out
}

// OwnCell is the group of a subject's cell, whose prior is as wide as the
// parameter's.
func (s *Subject) OwnCell() Group { return Group{s.Cell(), 1} }

// everything is the group of all predictions.
const everything = "all"

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
	}
	if _, ok := groups[s.Engine+separator+s.Generation]; !ok {
		// A variant of a generation uses what was fitted to the generation.
		s.Generation, _, _ = strings.Cut(s.Generation, "-")
	}
	var sum Logs
	for i := range sum {
		for _, g := range s.Groups(i) {
			if z, ok := groups[g.Name]; ok {
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

// Has reports whether the overlay was fitted to rows of the subject's cell.
func (o *Overlay) Has(s *Subject) bool { return slices.Contains(o.Cells[s.row()], s.Model) }

// Multipliers are those of a prediction about a subject.
func (o *Overlay) Multipliers(s Subject) replica.Multipliers { return o.Sum(s).Multipliers() }

// Multipliers turns logarithms into multipliers of a replica's times.
func (z Logs) Multipliers() replica.Multipliers {
	m := replica.Ones()
	e := func(parameter int) float64 { return math.Exp(z[parameter]) }
	m.Decode[step.Products], m.Decode[step.Experts] = e(products), e(experts)
	m.Decode[step.Exchange], m.Decode[step.Elementwise] = e(exchange), e(elementwise)
	m.Decode[step.Head], m.Decode[step.Attention] = e(head), e(decodeAttention)
	m.Prefill = m.Decode
	m.Prefill[step.Products] *= e(prefillProducts)
	m.Prefill[step.Experts] *= e(prefillExperts)
	m.Prefill[step.Exchange] *= e(prefillExchange)
	m.Prefill[step.Attention] = e(prefillAttention)
	m.PerStep, m.PerSequence, m.PerPrefillStep = e(perStep), e(perSequence), e(perPrefillStep)
	m.PerLayer, m.LaunchFloor = e(perLayer), e(launchFloor)
	m.APIFixed, m.APIPerToken, m.First = e(api), e(apiPerToken), e(first)
	return m
}
