package wizard

import (
	"cmp"
	"math"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	opssession "github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// Optimize is the throughput-optimizer request of the answers. Irrelevant and missing answers are left out.
func (k *Known) Optimize() optimize.Request {
	a := k.relevant()
	r := optimize.Request{
		Model: a.value(Model), Devices: a.words(Devices), NumDevices: a.count(NumDevices),
		Input: a.count(Input), Output: a.count(Output),
		Disagg: a.isPhases(), PDRatio: a.isRatio(),
		PrefillDevices: a.count(PrefillDevices), DecodeDevices: a.count(DecodeDevices),
		Limits:        workload.Limits{TTFT: a.ms(TTFT), TPOT: a.ms(TPOT)},
		PrefixHitRate: a.number(HitRate),
		ImageHeight:   a.count(ImageHeight), ImageWidth: a.count(ImageWidth),
		Formats: k.formats(), AcceptanceRates: a.numbers(MTPRates),
	}
	if a.is(Experts, TPOnly, AllExperts) {
		r.Space.TP = []int{}
	}
	if a.is(Experts, AllExperts) {
		r.Space.EP, r.Space.MoEDP = []int{}, []int{}
	}
	if n := a.count(MTPTokens); n > 0 {
		r.Space.MTP = []int{n}
	}
	switch {
	case a.is(Compile, Yes):
		r.Modelling.Fusion = deployment.Compiled
	case a.is(Compile, No):
		r.Modelling.Fusion = deployment.Eager
	}
	return r
}

// Plan is the plan request of the answers.
func (k *Known) Plan() plan.Request {
	a := k.relevant()
	var r plan.Request
	if k.Base != nil {
		r = *k.Base
	}
	r.Model, r.Systems, r.Devices, r.Rate, r.Daily = a.value(Model), a.words(Devices), a.count(NumDevices), 0, nil
	switch load := a.load(); len(load) {
	case 0:
	case 1:
		r.Rate = load[0]
	default:
		r.Daily = load
	}
	if r.DeviceFile != "" {
		r.Systems = nil
	}
	one := opssession.Workload{Input: a.count(Input), Output: a.count(Output), Prefix: a.count(PrefixTokens)}
	if p := a.preset(); p != nil {
		one = opssession.Workload{Preset: p.Name}
	}
	if k.Base != nil && len(k.Base.Workloads) == 1 {
		one.LengthLow = k.Base.Workloads[0].LengthLow
	}
	r.Workloads = []opssession.Workload{one}
	r.Limits.TTFT, r.Limits.TPOT = units.Millisecond*units.Seconds(a.number(TTFT)), units.Millisecond*units.Seconds(a.number(TPOT))
	r.MTP, r.AcceptanceRates = a.count(MTPTokens), a.numbers(MTPRates)
	if q := a.value(Quantization); q == Recommended || q == Custom {
		r.Formats = k.formats()
		r.Formats.MXFP4Group = cmp.Or(r.Formats.MXFP4Group, graph.DefaultMXFP4Group)
	}
	return r
}

// relevant are the answers to relevant questions.
func (k *Known) relevant() Answers {
	out := Answers{}
	for _, q := range Questions() {
		if x, ok := k.Answers[q.ID]; ok && q.relevant(k) {
			out[q.ID] = x
		}
	}
	return out
}

// formats are the number formats of the answers.
func (k *Known) formats() deployment.Formats {
	a := k.relevant()
	switch a.value(Quantization) {
	case Recommended:
		return deployment.Formats{Linear: dtype.W8A8Dynamic, Attention: dtype.Disabled}
	case Checkpoint:
		return deployment.Formats{Linear: dtype.Auto, Attention: dtype.Auto}
	case Custom:
		return deployment.Formats{
			Linear: dtype.Action(a.value(Linear)), Attention: dtype.Action(a.value(Attention)), MXFP4Group: a.count(MXFP4Group),
		}
	}
	return deployment.Formats{}
}

// count is a whole number, 0 for none.
func (a Answers) count(id ID) int {
	n, _ := strconv.Atoi(a.value(id))
	return n
}

// number is a number, 0 for none.
func (a Answers) number(id ID) float64 {
	x, _ := strconv.ParseFloat(a.value(id), 64)
	return x
}

// numbers are those of a list, nil for none.
func (a Answers) numbers(id ID) []float64 {
	var out []float64
	for _, w := range a.words(id) {
		x, _ := strconv.ParseFloat(w, 64)
		out = append(out, x)
	}
	return out
}

// ms is a limit.
func (a Answers) ms(id ID) units.Seconds {
	x := a.number(id)
	if math.IsInf(x, 1) {
		return units.Seconds(x)
	}
	return units.Seconds(x / 1e3)
}

// checked is the request of the answers with valid values for missing ones, so that errors concern answers only.
func (k *Known) checked() optimize.Request {
	r := k.Optimize()
	for _, n := range []*int{&r.NumDevices, &r.Input, &r.Output} {
		*n = max(*n, 1)
	}
	if r.PDRatio {
		r.PrefillDevices, r.DecodeDevices = max(r.PrefillDevices, 1), max(r.DecodeDevices, 1)
	}
	if r.ImageHeight > 0 {
		r.ImageWidth = max(r.ImageWidth, 1)
	}
	if r.Disagg && !r.Limits.Any() {
		r.Limits.TTFT = units.Seconds(math.Inf(1))
	}
	if r.AcceptanceRates == nil && r.Space.MTP != nil {
		r.AcceptanceRates = make([]float64, max(0, r.Space.MTP[0]))
	}
	r.Space = search.Space{MTP: r.Space.MTP} // sizes follow from the number of devices
	return r
}
