package calibrate

import (
	"math"
	"strings"

	"plimsoll/internal/engine"
	"plimsoll/internal/replica"
	"plimsoll/internal/step"
)

// The parameters of a tuning, as logarithms of multipliers.
const (
	zProducts = iota
	zExperts
	zExchange
	zElementwise
	zHead
	zDecodeAttention
	zPrefillProducts // beyond zProducts
	zPrefillExperts  // beyond zExperts
	zPrefillExchange // beyond zExchange
	zPrefillAttention
	zPerStep
	zPerSequence
	zPerPrefillStep
	zPerLayer
	zLaunchFloor
	zAPI
	zAPIPerToken
	zFirst
	parameters
)

// names are the parameters' names in an overlay.
//
//nolint:gochecknoglobals // a constant table
var names = [parameters]string{
	"products", "experts", "exchange", "elementwise", "head", "decode_attention",
	"prefill_products", "prefill_experts", "prefill_exchange", "prefill_attention",
	"per_step", "per_sequence", "per_prefill_step", "per_layer", "launch_floor", "api", "api_per_token", "first",
}

// width is how far a parameter is believed to lie from its prior, in logarithms:
// kernels are known to a third, host times to a factor of two.
func width(i int) float64 {
	if i >= zPerStep {
		return 0.7
	}
	return 0.35
}

// offsets are what one group of predictions adds to the parameters.
type offsets = [parameters]float64

// Params are the parameters: each group of predictions that has something in
// common has offsets of its own, and a prediction takes the sum of its groups'.
type Params struct {
	groups map[string]*offsets
	// unseen, if any, are drawn harder to the prior and hold for all but cells:
	// what is particular to the rows of a fit does not carry over to other models
	// and systems.
	unseen map[string]*offsets
	cells  map[string]bool
}

// group is one group a prediction belongs to, and how far it is believed to
// differ from the wider one it is part of, as a share of a parameter's width.
type group struct {
	name  string
	share float64
}

// groups are the groups whose offsets of a parameter a subject takes, from the
// widest to the narrowest: all predictions, its engine's, its engine's on the
// generation of devices; in each of these, those of the same kind; and all with
// prompts and generation apart, and those of its engine. The shares were chosen by cross-validation, by configuration and by cell.
func (s *Subject) groups(parameter int) []group {
	out := []group{{everything, 0.6}, {s.Engine, 0.7}, {s.Engine + separator + s.Generation, 0.5}}
	if kind := s.kind(parameter); kind != "" {
		for _, wide := range out {
			out = append(out, group{wide.name + separator + kind, 0.5})
		}
	}
	if s.Apart {
		out = append(out, group{Disaggregated, 0.7}, group{s.Engine + separator + Disaggregated, 0.7})
	}
	return out
}

// everything is the group of all predictions.
const everything = "all"

// kind is what an operator or a host time differs by: its number format, the
// kind of attention and its cache, or the class of model.
func (s *Subject) kind(parameter int) string {
	switch parameter {
	case zProducts, zPrefillProducts:
		return s.Products
	case zExperts, zPrefillExperts:
		return s.Experts
	case zDecodeAttention, zPrefillAttention:
		if s.Class == engine.Latent {
			return "latent " + s.KV
		}
		return "attention " + s.KV
	case zPerLayer, zLaunchFloor:
		return string(s.Class)
	}
	return ""
}

// cellShare is how far a cell is believed to differ from what its groups say.
const cellShare = 1

// sum adds up what a subject's groups say.
func (p *Params) sum(s Subject) offsets {
	groups := p.groups
	if p.unseen != nil && !p.cells[s.place()] {
		groups = p.unseen
	}
	if _, ok := groups[s.Engine+separator+s.Generation]; !ok {
		// A variant of a generation takes what was fitted to the generation.
		s.Generation, _, _ = strings.Cut(s.Generation, "-")
	}
	var z offsets
	for i := range z {
		for _, g := range s.groups(i) {
			if o, ok := groups[g.name]; ok {
				z[i] += o[i]
			}
		}
	}
	if o, ok := p.groups[s.Cell()]; ok {
		for i := range z {
			z[i] += o[i]
		}
	}
	return z
}

// Tuning is the tuning of a subject.
func (p *Params) Tuning(s Subject) replica.Tuning { return tuning(p.sum(s)) }

// tuning turns logarithms into multipliers.
func tuning(z offsets) replica.Tuning {
	t := replica.Untuned()
	e := func(i int) float64 { return math.Exp(z[i]) }
	t.Decode[step.Products], t.Decode[step.Experts] = e(zProducts), e(zExperts)
	t.Decode[step.Exchange], t.Decode[step.Elementwise] = e(zExchange), e(zElementwise)
	t.Decode[step.Head], t.Decode[step.Attention] = e(zHead), e(zDecodeAttention)
	t.Prefill = t.Decode
	t.Prefill[step.Products] *= e(zPrefillProducts)
	t.Prefill[step.Experts] *= e(zPrefillExperts)
	t.Prefill[step.Exchange] *= e(zPrefillExchange)
	t.Prefill[step.Attention] = e(zPrefillAttention)
	t.PerStep, t.PerSequence, t.PerPrefillStep = e(zPerStep), e(zPerSequence), e(zPerPrefillStep)
	t.PerLayer, t.LaunchFloor = e(zPerLayer), e(zLaunchFloor)
	t.APIFixed, t.APIPerToken, t.First = e(zAPI), e(zAPIPerToken), e(zFirst)
	return t
}
