package operation

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	opsoptimize "github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	opsplan "github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	opssimulate "github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// ValidateRequest is a request to check. Exactly one field is set.
type ValidateRequest struct {
	_ struct{} `anyOf:"plan,optimize"`

	// Plan is the arguments of plan, as far as they are known.
	Plan json.RawMessage `json:"plan,omitempty"`
	// Optimize is the arguments of optimize, as far as they are known.
	Optimize json.RawMessage `json:"optimize,omitempty"`
}

// Validation lists missing inputs, mistakes and defaults of a request. Nothing was run.
type Validation struct {
	Ready bool `json:"ready"` // nothing is missing and nothing is wrong: it runs
	// Missing are the inputs to ask for.
	Missing  []string           `json:"missing"`
	Problems []document.Mistake `json:"problems"`
	// Ask are choices that decide the answer and have a default. Ask for them too, unless the user left them to you.
	Ask []Open `json:"ask"`
	// Assumptions are the defaults that would be used. Show them before running.
	Assumptions []Assumption `json:"assumptions"`
	// Command is the command to run, "" while something is missing or wrong, and where flags cannot say what the request has.
	Command string `json:"command"`
}

// Open is a choice that was left open.
type Open struct {
	Field    string `json:"field"`
	Question string `json:"question"`
	Default  string `json:"default"` // what applies otherwise
}

// Assumption is a value that was not given.
type Assumption struct {
	Field string `json:"field"`
	Value string `json:"value"`
	// Source is where the value comes from: "default", the profile of a device, a
	// preset's publication.
	Source string `json:"source"`
}

const byDefault = "default"

func validateOperation() Operation {
	o := define("validate", "Validate a request", `Check a plan or optimize request without running it: what is missing or worth asking (ask the user for just that), what is
wrong, which defaults would be used and where each comes from, and the command to show the user before running. What is ready runs.`, validate, nil)
	o.Light = true
	return o
}

func validate(_ context.Context, env *Env, r ValidateRequest) (*Validation, error) {
	switch {
	case r.Plan != nil && r.Optimize == nil:
		return validatePlan(env, r.Plan), nil
	case r.Optimize != nil && r.Plan == nil:
		return validateOptimize(env, r.Optimize), nil
	}
	return nil, document.Wrong("give one of plan and optimize", "plan", "optimize")
}

// read reads a request as far as it can be read, with what is wrong with its form among the problems.
func (v *Validation) read(data []byte, into any, operation string) {
	rules := Rules()
	rules.Part = true
	err := field.DecodeRequest(data, into, rules)
	if err != nil {
		_ = json.Unmarshal(data, into) // the rest
	} else {
		err = overLimits(reflect.ValueOf(into).Elem(), "")
	}
	v.Problems = append(v.Problems, document.Mistakes(err, operation)...)
}

func validatePlan(env *Env, data []byte) *Validation {
	out := newValidation()
	var given opsplan.Request
	out.read(data, &given, "plan")
	for _, name := range given.Missing() {
		out.Missing = append(out.Missing, document.JSONName("plan", name))
	}
	full, about, err := opsplan.Check(env.Session, given)
	out.problems(err, "plan")
	out.planAssumptions(env, &given, &full)
	for i, w := range about {
		if w.Source != "" && i < len(given.Workloads) && given.Workloads[i].Preset != "" {
			out.assume(true, fmt.Sprintf("workloads.%d lengths", i), fmt.Sprintf("%g in, %g out on average", w.Input, w.Output), w.Source)
		}
	}
	out.planQuestions(&given)
	return out.finish(full.CommandLine)
}

// planQuestions are the choices that a plan leaves open.
func (v *Validation) planQuestions(r *opsplan.Request) {
	if u := r.Usual(); u != nil {
		v.ask(true, "limits", "Which limits on TTFT and TPOT, in milliseconds? Or none (no_limits)?", u.InWords())
	}
	v.ask(r.Modes == nil && r.Devices != 1, "modes", "Prefill and decode on the same workers (agg), on separate ones (disagg), or compare both?", "both are compared")
	v.ask(ownFormats(r), "formats", "Which weight format: the checkpoint's own, or a conversion (checkpoint: fp8, fp4, int4)?", "the checkpoint's own")
}

// ownFormats says that weights stay in the checkpoint's formats.
func ownFormats(r *opsplan.Request) bool {
	return r.Formats.Checkpoint == "" && r.Formats.GEMM == "" && r.Formats.Linear == ""
}

// planAssumptions lists the defaults of a plan.
func (v *Validation) planAssumptions(env *Env, given, full *opsplan.Request) {
	if u := given.Usual(); u != nil {
		v.assume(true, "limits", u.InWords(), u.Source)
	}
	v.assume(given.At() == 0 && full.Limits.Any(), "percentile", "mean", byDefault)
	v.assume(given.Confidence == 0, "confidence", fmt.Sprint(full.Confidence), byDefault)
	v.assume(given.EnergyPrice == nil, "energy_price", fmt.Sprintf("%g USD per kilowatt-hour", opssimulate.DefaultEnergyPrice), byDefault)
	v.assume(given.Modes == nil, "modes", "agg and disagg are compared", byDefault)
	v.assume(given.MTP == 0, "nextn", "no draft tokens", byDefault)
	for _, name := range full.Systems {
		d, err := env.Session.Device(name, "")
		if err != nil {
			continue // among the problems
		}
		v.systemAssumptions(given, d)
	}
	v.assume(ownFormats(given), "formats", "the checkpoint's own", byDefault)
	cached := slices.ContainsFunc(given.Workloads, func(w session.Workload) bool { return w.Prefix > 0 || w.Preset != "" })
	v.assume(!cached, "workloads.prefix", "no prefix cache hits", byDefault)
}

// systemAssumptions lists the defaults that depend on a system.
func (v *Validation) systemAssumptions(given *opsplan.Request, d *device.Profile) {
	engines := engine.RunsOn(d)
	v.assume(given.Engines == nil && engines != nil, "engines", strings.Join(engines, ", ")+" on "+d.Name, "engines that run on it")
	_, priced := given.PriceOf(d.Name)
	v.assume(!priced && d.Price.USDPerHour > 0, "prices."+d.Name, fmt.Sprintf("%g USD per GPU-hour", d.Price.USDPerHour), d.Price.Source)
	v.assume(!priced && d.Price.USDPerHour <= 0, "prices."+d.Name, "unknown: no costs", "the profile of the device has no price")
}

func validateOptimize(env *Env, data []byte) *Validation {
	out := newValidation()
	var given opsoptimize.Request
	out.read(data, &given, "optimize")
	for name, missing := range map[string]bool{
		"model": given.Model == "", "output_length": given.Output == 0, "input_length": given.Input == 0 && given.Distribution == nil,
		"devices": given.Devices == nil && given.DeviceFile == "", "num_devices": given.NumDevices == 0 && !given.PDRatio,
	} {
		if missing {
			out.Missing = append(out.Missing, name)
		}
	}
	slices.Sort(out.Missing)
	full, err := opsoptimize.Check(env.Session, given)
	out.problems(err, "optimize")
	out.optimizeAssumptions(&given, &full)
	out.optimizeQuestions(env, &given, &full)
	return out.finish(full.CommandLine)
}

// optimizeQuestions are the choices that a search leaves open.
func (v *Validation) optimizeQuestions(env *Env, given, full *opsoptimize.Request) {
	v.ask(!given.Limits.Any(), "limits", "Which limits on TTFT and TPOT, in milliseconds?", "none: the highest throughput, whatever the latency")
	v.ask(!given.Disagg && !given.PDRatio, "mode", "Prefill and decode together (the default), each phase alone (disagg), or matched instances of both (pd_ratio)?", "together")
	ascend := false
	for _, name := range full.Devices {
		d, err := env.Session.Device(name, "")
		ascend = ascend || err == nil && d.FollowsAscend()
	}
	v.ask(ascend && given.Modelling.Fusion == "", "modelling.fusion", "Does the engine compile the model into fused operators (compiled, as graph mode does), or run operator by operator (eager)? "+
		"Compiled predicts markedly more: 3210 instead of 2149 tokens/s for Qwen3-32B on 8 devices of the guide's example.", string(deployment.Eager))
	v.ask(given.Formats.Linear == "", "formats.linear", "Which quantization of linear layers?", "W8A8_DYNAMIC on Ascend devices, the checkpoint's own elsewhere")
}

// optimizeAssumptions lists the defaults of a search.
func (v *Validation) optimizeAssumptions(given, full *opsoptimize.Request) {
	const simulated, guide = "default, where candidates are simulated", "default of the Ascend guide"
	s := &given.Space
	v.assume(!given.Limits.Any(), "limits", "none: the highest throughput, whatever the latency", byDefault)
	v.assume(given.Engine.Name == "", "engine.name", full.Engine.Name, simulated)
	v.assume(given.Confidence == 0, "confidence", fmt.Sprint(full.Confidence), simulated)
	v.assume(given.Formats.Linear == "", "formats.linear", "W8A8_DYNAMIC on Ascend devices, the checkpoint's own elsewhere", guide)
	v.assume(given.Modelling.Fusion == "", "modelling.fusion", "compiled on GPUs, eager on Ascend devices", guide)
	v.assume(given.PrefixHitRate == 0, "prefix_cache_hit_rate", "0", byDefault)
	v.assume(s.TP == nil && s.EP == nil && s.MoEDP == nil, "space", "TP sizes, or the layouts that engines run where candidates are simulated", byDefault)
	v.assume(s.MTP != nil && given.AcceptanceRates == nil, "mtp_acceptance_rates", fmt.Sprint(full.AcceptanceRates), guide)
}

func newValidation() *Validation {
	return &Validation{Missing: []string{}, Problems: []document.Mistake{}, Ask: []Open{}, Assumptions: []Assumption{}}
}

// assume adds an assumption, if a field is open.
func (v *Validation) assume(open bool, field, value, source string) {
	if open {
		v.Assumptions = append(v.Assumptions, Assumption{field, value, source})
	}
}

// ask adds a question, if a field is open.
func (v *Validation) ask(open bool, field, question, otherwise string) {
	if open {
		v.Ask = append(v.Ask, Open{field, question, otherwise})
	}
}

// problems adds mistakes, except missing inputs, which are listed already.
func (v *Validation) problems(err error, operation string) {
	var more []document.Mistake
	for _, m := range document.Mistakes(err, operation) {
		if !v.said(&m) {
			more = append(more, m)
		}
	}
	v.Problems = append(v.Problems, more...)
}

// said reports whether a problem is only that something is missing, or is about fields with other problems.
func (v *Validation) said(p *document.Mistake) bool {
	if len(p.Fields) == 0 {
		return p.Detail == session.ErrNoModel.Error()
	}
	known := slices.Clone(v.Missing)
	for i := range v.Problems {
		known = append(known, v.Problems[i].Fields...)
	}
	for _, f := range p.Fields {
		if !slices.Contains(known, f) {
			return false
		}
	}
	return true
}

// finish adds the command, if the request is ready.
func (v *Validation) finish(command func() string) *Validation {
	v.Ready = len(v.Missing) == 0 && len(v.Problems) == 0
	if v.Ready {
		v.Command = command()
	}
	return v
}
