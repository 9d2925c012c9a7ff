package calibration

import (
	"math"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/serve/replica"
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
	kernels    // of all operators but attention of prompts, on top of theirs: what a memory keeps
	prompts    // of all operators of prompts, on top of theirs: likewise
	Parameters // how many there are
)

// names are the parameters' names in an overlay.
//
//nolint:gochecknoglobals // a constant table
var names = [Parameters]string{
	"products", "experts", "exchange", "elementwise", "decode_attention",
	"prefill_products", "prefill_experts", "prefill_attention",
	"per_step", "per_sequence", "per_prefill_step", "per_layer", "launch_floor", "first", "kernels", "prompts",
}

// Logs are the logarithms of the multipliers of all parameters; zeros change
// nothing.
type Logs [Parameters]float64

// Groups are the multipliers of groups of predictions, by the group's name. Those
// of all groups a prediction belongs to are multiplied.
type Groups map[string]*Logs

// Width is the standard deviation of a parameter's prior, in logarithms: kernels
// are known to a third, host times to a factor of two, all kernels of a deployment together to a
// fifth, those of its prompts beside them to a half.
func Width(parameter int) float64 {
	switch {
	case parameter == kernels:
		return 0.2
	case parameter == prompts:
		return 0.4
	case parameter >= perStep:
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

// UnseenGroups are the groups whose multipliers hold for models without rows: host times of NVIDIA's devices. On no axis that was
// left out (models, systems) is the mean error of TPOT larger than without a fit; with multipliers of operators, or on AMD's devices,
// it is, and those of an engine, a generation or a class of models, all within a twentieth of one, change no error.
func (s *Subject) UnseenGroups(parameter int) []Group {
	if parameter < perStep || Parts(parameter) != nil || s.vendor() == amd {
		return nil
	}
	return []Group{{s.vendor(), 1}}
}

// wide are the vendor's devices, an engine on them, the device generation, and the
// vendor's disaggregated deployments.
func (s *Subject) wide() []Group {
	vendor := s.vendor()
	out := []Group{{vendor, 1}, {vendor + separator + s.Engine, 0.7}, {s.Generation, 0.5}}
	if s.Disaggregated {
		out = append(out, Group{vendor + separator + disaggregated, 0.7})
	}
	return out
}

// Groups are the groups a subject belongs to for a parameter, from the widest to
// the narrowest: the wide ones; within its engine on its device generation operators or
// models of the same kind; and the engine's disaggregated deployments. They hold for
// NVIDIA's devices: of AMD's, whose constants were chosen on the same deployments, configurations held out
// are predicted better without (TPOT 8.4 against 9.5 %). Groups and shares were chosen by
// cross-validation over configurations and systems.
func (s *Subject) Groups(parameter int) []Group {
	if Parts(parameter) != nil || s.vendor() == amd {
		return nil
	}
	out := s.wide()
	if kind := s.kind(parameter); kind != "" {
		out = append(out, Group{s.Engine + separator + s.Generation + separator + kind, 0.7})
	}
	if s.Disaggregated {
		out = append(out, Group{s.vendor() + separator + s.Engine + separator + disaggregated, 0.7})
	}
	return out
}

// The vendors that groups distinguish; all but AMD's and Ascend's devices count as NVIDIA's,
// whose rows are the most.
const (
	amd    = "amd"
	ascend = "ascend"
	nvidia = "nvidia"
)

func (s *Subject) vendor() string {
	switch {
	case strings.HasPrefix(s.Generation, "cdna"):
		return amd
	case strings.HasPrefix(s.Generation, "ascend"):
		return ascend
	}
	return nvidia
}

// Parts are the parameters that a parameter of the memory moves together, all before it; none of others.
func Parts(parameter int) []int {
	switch parameter {
	case kernels:
		return []int{products, experts, exchange, elementwise, decodeAttention}
	case prompts:
		return []int{prefillProducts, prefillExperts, prefillAttention}
	}
	return nil
}

// MemoryParameters are those that a memory has values of.
func MemoryParameters() [2]int { return [2]int{kernels, prompts} }

// OwnCell is the group of a subject's cell, whose prior is as wide as the
// parameter's. There every operator has its own multiplier, and none is needed for all.
func (s *Subject) OwnCell(parameter int) []Group {
	if Parts(parameter) != nil {
		return nil
	}
	return []Group{{s.Cell(), 1}}
}

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

// Sum adds up the logarithms of a subject's groups and what the memory says of it.
func (o *Overlay) Sum(s Subject) Logs {
	groups, of := o.Groups, (*Subject).Groups
	if o.Unseen != nil && !o.Has(&s) {
		groups, of = o.Unseen, (*Subject).UnseenGroups
	}
	family := s
	family.Generation = s.family()
	var sum Logs
	for i := range sum {
		wider := of(&family, i)
		for k, g := range of(&s, i) {
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
	ofKernels, ofPrompts := o.Memory.Recall(&s)
	sum[kernels] += ofKernels
	sum[prompts] += ofPrompts
	return sum
}

// Has reports whether the overlay was fitted to rows of the subject's checkpoint under its
// engine on devices of its generation: those of another device of the generation
// predict nearly as well as its own. Of disaggregated deployments they do not.
func (o *Overlay) Has(s *Subject) bool {
	return !s.Disaggregated && s.among(o.Families[s.familyRow()]) || o.Saw(s)
}

// Multipliers are those of a prediction about a subject.
func (o *Overlay) Multipliers(s Subject) replica.Multipliers { return o.Sum(s).Multipliers() }

// Multipliers turns logarithms into multipliers of a replica's times.
func (z Logs) Multipliers() replica.Multipliers {
	m := replica.Ones()
	e := func(parameter int) float64 { return math.Exp(z[parameter]) }
	for _, all := range MemoryParameters() {
		for _, k := range Parts(all) {
			z[k] += z[all]
		}
	}
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
