package calibration

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/version"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/power"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// Subject is what a prediction is about, as far as a calibration distinguishes.
type Subject struct {
	Engine, Generation string
	System, Model      string
	Class              engine.Class
	// Products, Experts and KV are the number formats of the dense products, of
	// the experts ("" without any) and of the cache.
	Products, Experts, KV string
	// Weights is the number format of most weights: those of the experts, if any.
	Weights string
	// Disaggregated says that prefill and decode run on separate workers.
	Disaggregated bool
	// Drafts says that tokens are drafted.
	Drafts bool
	// Size is the class of the number of parameters.
	Size string
	// Layout is how a replica is cut.
	Layout string
	// Release is the engine's version, in three numbers, or the name of a build that is no
	// release; "" for the newest that is known.
	Release string
	// Rig is whose machine it was; "" for the user's and for those of the fit's laboratories, whose recipes are known.
	Rig string
}

// SubjectOf describes a deployment.
func SubjectOf(s *graph.Spec, engineName string, d *device.Profile) Subject {
	out := Subject{
		Engine: engineName, Generation: d.Generation, System: d.Name, Model: s.Model.ID,
		Class: engine.Classify(s.Model), Size: size(s.Model.Parameters().Total()), Products: s.Quant.Attention.Name(), KV: s.Quant.KV.String(), Drafts: s.MTP > 0,
	}
	l := &s.Layout
	out.Layout = fmt.Sprintf("TP %d DP %d", l.TP, l.DP)
	if l.EP > 1 {
		out.Layout += " EP"
	}
	most := s.Quant.Attention
	if s.Model.HasExperts() {
		most = s.Quant.Experts
		out.Experts = most.Name()
	}
	out.Weights = s.Quant.Base.String()
	if most.Quantized() {
		out.Weights = most.Weight.String()
	}
	return out
}

// separator stands between the words of a group's name.
const separator = " · "

// disaggregated is the word for deployments with separate prefill and decode
// workers in the names of groups, cells and residuals.
const disaggregated = "disagg"

// Cell names the model on the system under the engine.
func (s *Subject) Cell() string {
	return strings.Join([]string{s.Engine, s.System, s.Model}, separator)
}

// row is the key of the subject's line among an overlay's cells: engine and
// system, with a mark between them for disaggregated deployments.
func (s *Subject) row() string {
	if s.Disaggregated {
		return strings.Join([]string{s.Engine, disaggregated, s.System}, separator)
	}
	return s.Engine + separator + s.System
}

// checkpoint names the model with the number format of its weights. Rows with other weights
// say little: on AMD's devices and of disaggregated deployments less than no fit.
func (s *Subject) checkpoint() string {
	if s.Weights == "" {
		return s.Model
	}
	return s.Model + withWeights + s.Weights + ")"
}

// among reports whether a list has the checkpoint. A model without weights stands for all of its
// checkpoints.
func (s *Subject) among(list []string) bool {
	return slices.Contains(list, s.checkpoint()) || slices.Contains(list, s.Model)
}

// withWeights begins the number format in a checkpoint's name.
const withWeights = " ("

// modelOf is the model of a checkpoint.
func modelOf(checkpoint string) string {
	if at := strings.LastIndex(checkpoint, withWeights); at >= 0 {
		return checkpoint[:at]
	}
	return checkpoint
}

// family is the device generation without its variants.
func (s *Subject) family() string {
	name, _, _ := strings.Cut(s.Generation, "-")
	return name
}

// Kin names the model under the engine on all devices of a generation and its variants.
func (s *Subject) Kin() string {
	return strings.Join([]string{s.Engine, s.family(), s.Model}, separator)
}

// familyRow is the key of the subject's line among an overlay's families.
func (s *Subject) familyRow() string {
	if s.Disaggregated {
		return strings.Join([]string{s.Engine, disaggregated, s.family()}, separator)
	}
	return s.Engine + separator + s.family()
}

// size is the class of a number of parameters.
func size(parameters float64) string {
	const billion = 1e9
	switch {
	case parameters < 15*billion:
		return "below 15 B"
	case parameters < 80*billion:
		return "15 to 80 B"
	case parameters < 300*billion:
		return "80 to 300 B"
	}
	return "300 B and more"
}

// SubjectOfServed describes a pool with an engine.
func SubjectOfServed(p *deployment.Served) Subject {
	out := SubjectOf(&p.Spec, p.Engine.Name, p.Device)
	out.Release = version.Release(p.Release)
	return out
}

// SubjectOfDeployment describes a resolved deployment with an engine by the pool
// that generates.
func SubjectOfDeployment(d *deployment.Resolved) Subject {
	out := SubjectOfServed(d.Generates())
	out.Disaggregated = d.Disaggregated()
	return out
}

// PowerKind names what decides which kernels run, and so what they draw: the engine, the
// device generation, the class of model, the number format of most weights, and whether
// prefill and decode are apart.
func (s *Subject) PowerKind() string {
	words := []string{s.Engine, s.Generation, string(s.Class), s.Weights}
	if s.Disaggregated {
		words = append(words, disaggregated)
	}
	return strings.Join(words, separator)
}

// PowerFactor is what the kernels of the subject draw above idle, over what is usual.
func (s *Subject) PowerFactor() float64 {
	f, _ := power.Shipped().Factor(s.PowerKind())
	return f
}

// unmeasuredPower is the standard deviation that is added where no row is from the
// device's generation: a judgement, about what generations with rows differ in.
const unmeasuredPower = 0.25

// ExpectJoules is the error to expect of joules per output token, as the tier of the
// device's power constants has it.
func ExpectJoules(s *Subject, tier device.Tier) Error {
	f := power.Shipped()
	_, known := f.Factor(s.PowerKind())
	switch {
	case known:
		return Error{f.Known[0], f.Known[1]}
	case tier == device.Calibrated:
		return Error{f.Unseen[0], f.Unseen[1]}
	}
	return Error{f.Unseen[0], f.Unseen[1]}.widen(unmeasuredPower)
}
