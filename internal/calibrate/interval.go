package calibrate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/device"
	"plimsoll/internal/engine"
	"plimsoll/internal/units"
)

// Case is what a prediction is about and how it was made, as far as that decides
// how far it may be off.
type Case struct {
	Subject     // without an engine where none was simulated
	Method      Method
	Tier        device.Tier // of the operators' prices where tables cover none
	Tables      bool        // some are priced by tables of kernels
	Vendor      device.Vendor
	Devices     int      // of a replica
	Concurrency int      // of a replica; the requests of a single pass
	Input       int      // prompt length in tokens
	KVPeak      float64  // share of the cache in use where it was fullest
	Decode      bool     // of a single pass
	Steady      bool     // of the formulas: the vendor's later accounting
	TensorCast  bool     // repeats the assumptions of Ascend's model
	Untold      []string // columns of a measured row that took defaults
}

// Method is how a prediction was made.
type Method uint8

// The methods.
const (
	Simulated Method = iota // requests through an engine
	Formulas                // throughput-optimizer's closed formulas
	Pass                    // a single forward pass
)

// On sets the devices and requests of a deployment with data-parallel ranks.
// Without experts the ranks share nothing: each is a replica.
func (s *Case) On(devices, concurrency, ranks int, experts bool) {
	if !experts && ranks > 1 {
		devices, concurrency = devices/ranks, (concurrency+ranks-1)/ranks
	}
	s.Devices, s.Concurrency = devices, concurrency
}

// Error is where measurements lie around a prediction: the 10 % and 90 %
// quantiles of ln(measured/predicted).
type Error struct{ Low, High float64 }

// normal80 is the half-width of an 80 % interval in standard deviations.
const normal80 = 1.2815515655

// Interval is the 80 % interval around a predicted quantity.
func (e Error) Interval(predicted float64) (low, high float64) {
	return predicted * math.Exp(e.Low), predicted * math.Exp(e.High)
}

// Times is the same for a time.
func (e Error) Times(predicted units.Seconds) (low, high units.Seconds) {
	l, h := e.Interval(float64(predicted))
	return units.Seconds(l), units.Seconds(h)
}

// Within is the probability that the measurement is at most a limit: that of a
// lognormal distribution with these quantiles. No limit is always kept.
func (e Error) Within(predicted, limit units.Seconds) float64 {
	if limit <= 0 || math.IsInf(float64(limit), 1) || predicted <= 0 {
		return 1
	}
	sigma := (e.High - e.Low) / 2 / normal80
	z := math.Log(float64(limit/predicted)) - (e.Low+e.High)/2
	if sigma <= 0 {
		if z < 0 {
			return 0
		}
		return 1
	}
	return math.Erfc(-z/sigma/math.Sqrt2) / 2
}

// Inverse is the error of what goes with the inverse: a rate's for a time.
func (e Error) Inverse() Error { return Error{-e.High, -e.Low} }

// widen adds an independent error of a standard deviation.
func (e Error) widen(sigma float64) Error {
	middle, half := (e.Low+e.High)/2, (e.High-e.Low)/2
	half = math.Hypot(half, normal80*sigma)
	return Error{middle - half, middle + half}
}

// toward moves an error a share of the way to another one.
func (e Error) toward(o Error, share float64) Error {
	return Error{e.Low + share*(o.Low-e.Low), e.High + share*(o.High-e.High)}
}

// Expected is the errors to expect of a prediction.
type Expected struct {
	TTFT, TPOT, Throughput Error
	// Basis says where they come from.
	Basis string
}

// Chance is the probability that means of TTFT and TPOT keep their limits; zero
// is no limit. The two errors are taken as independent: their rank
// correlation over 1,200 measured deployments is 0.1 to 0.2.
func (s *Expected) Chance(ttft, tpot, ttftLimit, tpotLimit units.Seconds) float64 {
	return s.TTFT.Within(ttft, ttftLimit) * s.TPOT.Within(tpot, tpotLimit)
}

// draw moves the errors a share of the way to residuals.
func (s *Expected) draw(r *Residuals, share float64) {
	s.TTFT, s.TPOT = s.TTFT.toward(r.TTFT, share), s.TPOT.toward(r.TPOT, share)
	s.Throughput = s.Throughput.toward(r.Throughput, share)
}

func (s *Expected) widen(ttft, tpot, throughput float64) {
	s.TTFT, s.TPOT, s.Throughput = s.TTFT.widen(ttft), s.TPOT.widen(tpot), s.Throughput.widen(throughput)
}

// The kinds of residuals an overlay holds, each divided further.
const (
	// Disaggregated are those with prefill and decode apart.
	Disaggregated = "disagg"

	seenKind     = "seen"     // of fits that had seen other configurations of the cell
	ownKind      = "own"      // of a user's own rows, by cell
	unseenKind   = "unseen"   // of fits without the model on that system under that engine
	untunedKind  = "untuned"  // without any fit of an engine
	formulasKind = "formulas" // by throughput-optimizer's formulas
	steadyKind   = "steady"   // the same, later accounting
)

// about says in words what predictions of a kind are.
func about(kind string) string {
	return map[string]string{
		seenKind:      "predicted without their configuration",
		unseenKind:    "predicted without their model on the system under the engine",
		Disaggregated: "disaggregated, predicted without their model on the system under the engine",
		untunedKind:   "predicted without a fit of the engine",
		formulasKind:  "predicted by these formulas",
		steadyKind:    "predicted by these formulas",
	}[kind]
}

// kind is the residuals a case belongs to.
func (o *Overlay) kind(s *Case) string {
	_, fitted := o.Cells[s.Engine]
	switch {
	case s.Apart:
		return Disaggregated
	case s.Method == Formulas && s.Steady:
		return steadyKind
	case s.Method == Formulas:
		return formulasKind
	case s.Method == Pass || !fitted:
		return untunedKind
	case o.seen(&s.Subject):
		return seenKind
	}
	return unseenKind
}

// seen reports whether the fit had rows of the model on the system under the
// engine.
func (o *Overlay) seen(s *Subject) bool {
	_, own := o.Offsets[s.Cell()]
	return own || slices.Contains(o.Cells[s.fleet()][s.System], s.Model)
}

// path is the kinds of a case from the widest to the narrowest: each divides
// the one before by what moves the errors most.
func (s *Case) path(kind string) []string {
	switch kind {
	case Disaggregated:
		return []string{kind, s.Engine}
	case formulasKind, steadyKind:
		return []string{kind, s.load()}
	case untunedKind:
		return []string{kind, s.pressure(), s.load()}
	case unseenKind: // a class has too few cells to speak for others
		return []string{kind, s.pressure(), s.load(), s.Engine}
	}
	return []string{kind, s.pressure(), string(s.Class), s.load(), s.Engine}
}

// fullCache is the share of the cache from which requests may have waited for
// room.
const fullCache = 0.8

func (s *Case) pressure() string {
	if s.KVPeak > fullCache {
		return "cache-full"
	}
	return "cache-free"
}

// load is the band of a concurrency.
func (s *Case) load() string {
	switch {
	case s.Concurrency <= 8:
		return "to-8"
	case s.Concurrency <= 64:
		return "to-64"
	}
	return "above-64"
}

const (
	// enough is how many rows a kind needs to have residuals of its own.
	enough = 30
	// asMuch is how many rows weigh as much as the wider kind around them.
	asMuch = 60
)

// Expect is the errors to expect of a prediction: the residuals of the narrowest
// kind that has enough, each kind drawn to the wider one around it, and wider
// where nothing like it was measured.
func (o *Overlay) Expect(s *Case) Expected {
	kind := o.kind(s)
	out := Expected{
		// Nothing known: a factor of two, half as much again for a token.
		TTFT: Error{-math.Ln2, math.Ln2}, TPOT: Error{-0.4, 0.4}, Throughput: Error{-0.4, 0.4},
		Basis: "no measured deployments: the calibration holds no residuals",
	}
	path := s.path(kind)
	for i := range path {
		r, ok := o.Residuals[strings.Join(path[:i+1], "/")]
		if !ok {
			break
		}
		share := float64(r.Rows) / float64(r.Rows+asMuch)
		if i == 0 { // a handful of rows is drawn to knowing nothing
			share = min(1, float64(r.Rows)/enough)
		}
		out.draw(&r, share)
		out.Basis = fmt.Sprintf("%d measured deployments, %s", r.Rows, about(kind))
		if i > 0 {
			out.Basis += " (" + strings.Join(path[1:i+1], ", ") + ")"
		}
	}
	if r, ok := o.Residuals[own(&s.Subject)]; ok && s.Method == Simulated {
		out.draw(&r, float64(r.Rows)/float64(r.Rows+asMuch))
		out.Basis += fmt.Sprintf("; and %d of this model on the system under the engine", r.Rows)
	}
	if s.Method == Pass {
		s.pass(&out)
	}
	if s.Tables {
		out.Basis += "; those were priced without tables of kernels"
	}
	if s.Method == Formulas && s.Apart {
		out.Basis += "; those were simulated: no such deployment was compared with these formulas"
	}
	s.transfer(&out)
	s.guess(&out)
	o.extrapolate(s, &out)
	return out
}

// pass narrows the errors of a single forward pass where passes themselves were
// measured: 108 of three dense models on one H200 (docs/accuracy.md). Decodes
// came out 8 % slower than predicted in the median, prefills 1 %; nine in ten
// errors were below 17 % and 12 %.
func (s *Case) pass(out *Expected) {
	if s.Tier == device.Calibrated && !s.Tables && s.Generation == "hopper" && s.Class == engine.Dense && s.Devices == 1 {
		const half, decodeMiddle = 0.09, 0.08
		e := Error{-half, half}
		if s.Decode {
			e = Error{decodeMiddle - half, decodeMiddle + half}
		}
		out.TTFT, out.TPOT, out.Throughput = e, e, e.Inverse()
		out.Basis = "108 passes of dense models measured on one H200"
		return
	}
	e := out.TTFT
	if s.Decode {
		e = out.TPOT
	}
	out.TTFT, out.TPOT, out.Throughput = e, e, e.Inverse()
	out.Basis += "; no single pass of this kind was measured"
}

// Standard deviations to add where prices do not come from the device's own
// kernels. Between generations: Hopper's constants on a B200 move the predictions
// of 493 measured deployments by 0.07 (TTFT) and 0.05 (TPOT) from those with
// Blackwell's own; doubled, since two neighbours say little about others. From
// peaks and default efficiencies: prices of the data sheet move those of 1,200 by
// 0.19 to 0.25 and 0.13 to 0.15. Another vendor's libraries: a judgement, not a
// measurement; four in five would lie within a factor of 1.5.
const (
	betweenGenerations = 0.12
	fromDatasheet      = 0.25
	otherVendor        = 0.32
)

// transfer widens the errors of devices whose kernels nobody measured.
func (s *Case) transfer(out *Expected) {
	add := func(sigma float64, why string) {
		out.widen(sigma, sigma, sigma)
		out.Basis += "; wider: " + why
	}
	switch s.Tier {
	case device.Transferred:
		add(betweenGenerations, "prices no deployment on such a device has checked")
	case device.Datasheet:
		add(fromDatasheet, "prices from the data sheet alone")
	case device.Calibrated, device.Measured:
	}
	switch s.Vendor {
	case device.NVIDIA:
	case device.Ascend, device.Test:
		why := "no Ascend device was measured"
		if s.TensorCast {
			why += ", and TensorCast publishes no error"
		}
		add(otherVendor, why)
	case device.AMD, device.Intel, device.Other:
		add(otherVendor, "no device of this vendor was measured")
	}
}

// untold are the standard deviations to add for TTFT and TPOT where a row does not
// tell a setting: how far leaving it out moves the predictions of 1,200 measured
// deployments (docs/accuracy.md).
func untold(column string) (ttft, tpot float64) {
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

// guess widens the errors of rows that do not tell what matters. Those of
// disaggregated deployments are of rows that tell no more.
func (s *Case) guess(out *Expected) {
	if s.Apart {
		return
	}
	for _, column := range s.Untold {
		if ttft, tpot := untold(column); ttft > 0 {
			out.widen(ttft, tpot, tpot)
			out.Basis += "; wider: " + column + " is not told"
		}
	}
}

// perDoubling is the standard deviation added for each doubling of concurrency,
// prompt length or devices beyond what was measured: a judgement, not a
// measurement.
const perDoubling = 0.1

// extrapolate widens the errors of loads beyond those measured.
func (o *Overlay) extrapolate(s *Case, out *Expected) {
	beyond := func(x, most int, what string) {
		if most <= 0 || x <= most {
			return
		}
		sigma := perDoubling * math.Log2(float64(x)/float64(most))
		out.widen(sigma, sigma, sigma)
		out.Basis += fmt.Sprintf("; wider: %s above the %d measured", what, most)
	}
	if s.Method == Pass { // its sizes are a step's, not a load's
		beyond(s.Devices, o.Reach.Devices, "devices")
		return
	}
	if s.Apart { // the reach is that of aggregated rows
		return
	}
	beyond(s.Concurrency, o.Reach.Concurrency, "concurrency")
	beyond(s.Input, o.Reach.Input, "prompts")
	beyond(s.Devices, o.Reach.Devices, "devices")
}
