package calibration

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

const (
	// Enough is how many rows a group needs for its own residuals.
	Enough = 30
	// asMuch is how many rows of a group weigh as much as the wider group.
	asMuch = 60
)

// Expect is the errors to expect of a prediction: the residuals of the narrowest
// group with enough rows, each group shrunk towards the wider one, widened where
// nothing similar was measured, and centred on the prediction.
func (o *Overlay) Expect(s *Case) Expected {
	kind := o.kind(s)
	out := Expected{
		// Nothing known: a factor of two for TTFT, of 1.5 for TPOT and throughput.
		Each:  figures.Each[Error]{TTFT: Error{-math.Ln2, math.Ln2}, TPOT: Error{-0.4, 0.4}, Throughput: Error{-0.4, 0.4}},
		Basis: "no measured deployment: this calibration has no residuals",
	}
	path := s.Path(kind)
	groups := o.along(path)
	for i, r := range groups {
		share := float64(r.Rows) / float64(r.Rows+asMuch)
		if i == 0 { // a few rows are shrunk towards the errors of knowing nothing
			share = min(1, float64(r.Rows)/Enough)
		}
		out.draw(&r, share)
	}
	if n := len(groups); n > 0 {
		out.Basis = s.basis(&groups[n-1], kind, path[1:n])
	}
	if r, ok := o.Residuals[s.OwnResiduals()]; ok && s.Method == Simulated {
		out.draw(&r, float64(r.Rows)/float64(r.Rows+asMuch))
		out.Basis += fmt.Sprintf(", and %d more of this model, system and engine", r.Rows)
	}
	if s.Method == SingleStep {
		s.singleStep(&out)
	}
	if s.Method == Simulated {
		out.Basis += o.Memory.inWords(&s.Subject)
	}
	if s.Tables {
		out.Basis += "; predicted without kernel tables"
	}
	if s.Method == Formulas && s.Disaggregated {
		out.Basis += "; they validate the simulation, not these formulas"
	}
	if why := slices.Concat(o.transfer(s, &out), o.guess(s, &out), o.extrapolate(s, &out), s.drafts(&out), o.drift(s, &out), o.widenOutside(s, &out)); len(why) > 0 {
		out.Basis += widened + strings.Join(why, furthermore)
	}
	out.TTFT, out.TPOT, out.Throughput = out.TTFT.centred(), out.TPOT.centred(), out.Throughput.centred()
	return out
}

// along are the residuals on a path, from the widest group to the narrowest that has any.
func (o *Overlay) along(path []string) (out []Residuals) {
	for i := range path {
		r, ok := o.Residuals[strings.Join(path[:i+1], "/")]
		if !ok {
			break
		}
		out = append(out, r)
	}
	return out
}

// OwnResiduals names the residuals of the subject's cell, from a user's rows.
func (s *Subject) OwnResiduals() string { return string(KindOwn) + "/" + s.row() + separator + s.Model }

// basis describes the measurements an error comes from.
func (s *Case) basis(r *Residuals, k Kind, path []string) string {
	out := fmt.Sprintf("%d measured deployments", r.Rows)
	if k == KindDisaggregated || k == KindDisaggregatedSeen {
		out = fmt.Sprintf("%d measured disaggregated deployments", r.Rows)
	}
	if len(path) > 0 {
		out += " (" + s.inWords(path) + ")"
	}
	return out + ", " + k.how()
}

// singleStep narrows the errors of a single forward pass where such were
// measured: 108 of three dense models on one H200 (internal/evidence/NOTEBOOK.md). Decodes
// came out 8 % slower than predicted in the median, prefills 1 %; nine in ten
// errors were below 17 % and 12 %.
func (s *Case) singleStep(out *Expected) {
	if s.Tier == device.Calibrated && !s.Tables && s.Generation == "hopper" && s.Class == engine.Dense && s.Devices == 1 {
		const half, decodeMiddle = 0.09, 0.08
		e := Error{-half, half}
		if s.Decode {
			e = Error{decodeMiddle - half, decodeMiddle + half}
		}
		out.TTFT, out.TPOT, out.Throughput = e, e, e.Inverse()
		out.Basis = "108 forward passes of dense models measured on an H200"
		return
	}
	e := out.TTFT
	if s.Decode {
		e = out.TPOT
	}
	out.TTFT, out.TPOT, out.Throughput = e, e, e.Inverse()
	out.Basis += "; single forward passes of this kind were not measured"
}

// Standard deviations to add where operator times were not fitted to the device's
// own kernels. Between generations: Hopper's constants on a B200 move the
// predictions of 493 measured deployments by 0.07 (TTFT) and 0.05 (TPOT) from
// those with Blackwell's own; doubled, since one pair of generations says little
// about others. From peaks and default efficiencies: data-sheet times move the
// predictions of 1,200 by 0.19 to 0.25 and 0.13 to 0.15. Another vendor's
// libraries: a judgement, not a measurement; four in five would lie within a
// factor of 1.5.
const (
	betweenGenerations = 0.12
	fromDatasheet      = 0.25
	otherVendor        = 0.32
)

// unseenGeneration is why errors are wider on devices whose relatives were measured.
const unseenGeneration = "no deployment of this device generation was measured"

// transfer widens the errors of devices whose kernels were not measured, and says
// why. Where the engine was fitted to deployments on such devices, their errors hold that
// already.
func (o *Overlay) transfer(s *Case, out *Expected) (why []string) {
	if s.vendor() == amd && s.Tier == device.Transferred && o.fittedOn(s) {
		return nil
	}
	if o.compared(s) { // which widenOutside adds
		return nil
	}
	add := func(sigma float64, reason string) {
		out.widen(sigma, sigma, sigma)
		why = append(why, reason)
	}
	switch s.Tier {
	case device.Transferred:
		add(betweenGenerations, unseenGeneration)
	case device.Datasheet:
		add(fromDatasheet, "operator times come from the data sheet")
	case device.Calibrated, device.Measured:
	}
	switch s.Vendor {
	case device.NVIDIA:
	case device.AMD, device.Ascend, device.Test, device.Intel, device.Google, device.AWS, device.Apple, device.Other:
		add(otherVendor, o.unmeasured(s))
	}
	return slices.Compact(why)
}

// unmeasured says which devices of a vendor were not measured.
func (o *Overlay) unmeasured(s *Case) string {
	one, several := named(s.Vendor)
	reason := "no " + one + " was measured"
	if _, others := o.Residuals[string(KindSeen)+"/"+amd]; others && s.Vendor == device.AMD {
		reason = unseenGeneration
	}
	if s.Vendor == device.Ascend || s.Vendor == device.Test { // some were, outside the fit
		reason = "too few " + several + " were measured"
	}
	if s.TensorCast {
		reason += " and TensorCast publishes no error"
	}
	return reason
}

// fittedOn reports whether the fit used rows of the case's device generation.
func (o *Overlay) fittedOn(s *Case) bool {
	for row := range o.Families {
		if strings.HasSuffix(row, separator+s.family()) {
			return true
		}
	}
	return false
}

// unknown are the standard deviations to add for TTFT and TPOT where a row does not
// give a setting: how far leaving it out moves the predictions of 1,200 measured
// deployments (internal/evidence/NOTEBOOK.md).
func unknown(column string) (ttft, tpot float64) {
	switch column {
	case "length_ratio_low":
		return 0.25, 0.07
	case "kv_cache_dtype":
		return 0.08, 0.06
	case "token_budget":
		return 0.19, 0.05
	}
	return 0, 0
}

// guess widens the errors of rows that leave out what matters, and says why.
// Disaggregated rows never give it, and their residuals hold that error already, as those of sources outside the fit do.
func (o *Overlay) guess(s *Case, out *Expected) (why []string) {
	if _, outside := o.outside(s); s.Disaggregated || outside {
		return nil
	}
	for _, column := range s.Defaulted {
		if ttft, tpot := unknown(column); ttft > 0 {
			out.widen(ttft, tpot, tpot)
			why = append(why, column+" is not given")
		}
	}
	return why
}

// drafted is the standard deviation of TPOT and throughput added where tokens are drafted: 80 % of the 652 rows of InferenceX's
// database that draft lie inside then, 66 % without; no fit uses these rows.
const drafted = 0.12

// drafts widens the errors of deployments that draft tokens, and says why.
func (s *Case) drafts(out *Expected) (why []string) {
	if !s.Drafts || s.Method != Simulated {
		return nil
	}
	out.widen(0, drafted, drafted)
	return append(why, "draft acceptance varies")
}

// perDoubling is the standard deviation added for each doubling of concurrency,
// prompt length or devices beyond what was measured: a judgement, not a
// measurement.
const perDoubling = 0.1

// extrapolate widens the errors of loads beyond those measured, and says why.
func (o *Overlay) extrapolate(s *Case, out *Expected) (why []string) {
	beyond := func(x, most int, reason string) {
		if most <= 0 || x <= most {
			return
		}
		sigma := perDoubling * math.Log2(float64(x)/float64(most))
		out.widen(sigma, sigma, sigma)
		why = append(why, fmt.Sprintf(reason, most))
	}
	const devices = "no replica of more than %d devices was measured"
	if s.Method == SingleStep { // a step has no concurrency and no prompt length
		beyond(s.Devices, o.Reach.Devices, devices)
		return why
	}
	if s.Disaggregated { // the reach is that of aggregated rows
		return nil
	}
	beyond(s.Concurrency, o.Reach.Concurrency, "no concurrency above %d was measured")
	beyond(s.Input, o.Reach.Input, "no prompt above %d tokens was measured")
	beyond(s.Devices, o.Reach.Devices, devices)
	return why
}
