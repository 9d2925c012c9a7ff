package operation

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
	Plan     *opsplan.Request     `json:"plan,omitempty"`
	Optimize *opsoptimize.Request `json:"optimize,omitempty"`
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
wrong, which defaults would be used and where each comes from, and the command to show the user before running. What is ready runs.`, validate)
	o.Light = true
	return o
}

func validate(_ context.Context, k *Kit, r ValidateRequest) (*Validation, error) {
	switch {
	case r.Plan != nil && r.Optimize == nil:
		return validatePlan(k, *r.Plan), nil
	case r.Optimize != nil && r.Plan == nil:
		return validateOptimize(k, *r.Optimize), nil
	}
	return nil, document.Wrong("give one of plan and optimize", "plan", "optimize")
}

func validatePlan(k *Kit, given opsplan.Request) *Validation {
	out := newValidation()
	for _, name := range given.Missing() {
		out.Missing = append(out.Missing, document.JSONName("plan", name))
	}
	full, about, err := opsplan.Check(k.World, given)
	out.problems(err, "plan")
	out.planAssumptions(k, &given, &full)
	for i, w := range about {
		if w.Source != "" && i < len(given.Workloads) && given.Workloads[i].Preset != "" {
			out.assume(fmt.Sprintf("workloads.%d lengths", i), fmt.Sprintf("%g in, %g out on average", w.Input, w.Output), w.Source)
		}
	}
	out.planQuestions(&given)
	return out.finish(func() string { return say(k.Commands.Plan, &full) })
}

// planQuestions are the choices that a plan leaves open.
func (v *Validation) planQuestions(r *opsplan.Request) {
	if u := r.Usual(); u != nil {
		v.ask("limits", "Which limits on TTFT and TPOT, in milliseconds? Or none (no_limits)?", u.InWords())
	}
	if r.Modes == nil && r.Devices != 1 {
		v.ask("modes", "Prefill and decode on the same workers (agg), on separate ones (disagg), or compare both?", "both are compared")
	}
	if f := &r.Formats; f.Checkpoint == "" && f.GEMM == "" && f.Linear == "" {
		v.ask("formats", "Which weight format: the checkpoint's own, or a conversion (checkpoint: fp8, fp4, int4)?", "the checkpoint's own")
	}
}

// planAssumptions lists the defaults of a plan.
func (v *Validation) planAssumptions(k *Kit, given, full *opsplan.Request) {
	if u := given.Usual(); u != nil {
		v.assume("limits", u.InWords(), u.Source)
	}
	if given.At() == 0 && full.Limits.Any() {
		v.assume("percentile", "mean", byDefault)
	}
	if given.Confidence == 0 {
		v.assume("confidence", fmt.Sprint(full.Confidence), byDefault)
	}
	if given.EnergyPrice == nil {
		v.assume("energy_price", fmt.Sprintf("%g USD per kilowatt-hour", opssimulate.DefaultEnergyPrice), byDefault)
	}
	if given.Modes == nil {
		v.assume("modes", "agg and disagg are compared", byDefault)
	}
	if given.MTP == 0 {
		v.assume("nextn", "no draft tokens", byDefault)
	}
	for _, name := range full.Systems {
		d, err := k.World.Device(name, "")
		if err != nil {
			continue // among the problems
		}
		v.systemAssumptions(given, d)
	}
	if f := given.Formats; f.Checkpoint == "" && f.GEMM == "" && f.Linear == "" {
		v.assume("formats", "the checkpoint's own", byDefault)
	}
	if !slices.ContainsFunc(given.Workloads, func(w session.Workload) bool { return w.Prefix > 0 || w.Preset != "" }) {
		v.assume("workloads.prefix", "no prefix cache hits", byDefault)
	}
}

// systemAssumptions lists the defaults that depend on a system.
func (v *Validation) systemAssumptions(given *opsplan.Request, d *device.Profile) {
	if given.Engines == nil {
		if engines := engine.RunsOn(d); engines != nil {
			v.assume("engines", strings.Join(engines, ", ")+" on "+d.Name, "engines that run on it")
		}
	}
	if _, ok := given.Prices[d.Name]; ok {
		return
	}
	if p := d.Price; p.USDPerHour > 0 {
		v.assume("prices."+d.Name, fmt.Sprintf("%g USD per GPU-hour", p.USDPerHour), p.Source)
	} else {
		v.assume("prices."+d.Name, "unknown: no costs", "the profile of the device has no price")
	}
}

func validateOptimize(k *Kit, given opsoptimize.Request) *Validation {
	out := newValidation()
	for name, missing := range map[string]bool{
		"model": given.Model == "", "output_length": given.Output == 0, "input_length": given.Input == 0 && given.Distribution == nil,
		"devices": given.Devices == nil && given.DeviceFile == "", "num_devices": given.NumDevices == 0 && !given.PDRatio,
	} {
		if missing {
			out.Missing = append(out.Missing, name)
		}
	}
	slices.Sort(out.Missing)
	full, err := opsoptimize.Check(k.World, given)
	out.problems(err, "optimize")
	out.optimizeAssumptions(&given, &full)
	out.optimizeQuestions(k, &given, &full)
	return out.finish(func() string {
		if full.Distribution != nil { // it would need a file
			return ""
		}
		return say(k.Commands.Optimize, &full)
	})
}

// optimizeQuestions are the choices that a search leaves open.
func (v *Validation) optimizeQuestions(k *Kit, given, full *opsoptimize.Request) {
	if !given.Limits.Any() {
		v.ask("limits", "Which limits on TTFT and TPOT, in milliseconds?", "none: the highest throughput, whatever the latency")
	}
	if !given.Disagg && !given.PDRatio {
		v.ask("mode", "Prefill and decode together (the default), each phase alone (disagg), or matched instances of both (pd_ratio)?", "together")
	}
	ascend := false
	for _, name := range full.Devices {
		d, err := k.World.Device(name, "")
		ascend = ascend || err == nil && d.FollowsAscend()
	}
	if ascend && given.Modelling.Fusion == "" {
		v.ask("modelling.fusion", "Does the engine compile the model into fused operators (compiled, as graph mode does), or run operator by operator (eager)? "+
			"Compiled predicts markedly more: 3210 instead of 2149 tokens/s for Qwen3-32B on 8 devices of the guide's example.", string(deployment.Eager))
	}
	if given.Formats.Linear == "" {
		v.ask("formats.linear", "Which quantization of linear layers?", "W8A8_DYNAMIC on Ascend devices, the checkpoint's own elsewhere")
	}
}

// optimizeAssumptions lists the defaults of a search.
func (v *Validation) optimizeAssumptions(given, full *opsoptimize.Request) {
	const simulated, guide = "default, where candidates are simulated", "default of the Ascend guide"
	s := &given.Space
	for _, x := range []struct {
		open                 bool
		field, value, source string
	}{
		{!given.Limits.Any(), "limits", "none: the highest throughput, whatever the latency", byDefault},
		{given.Engine.Name == "", "engine.name", full.Engine.Name, simulated},
		{given.Confidence == 0, "confidence", fmt.Sprint(full.Confidence), simulated},
		{given.Formats.Linear == "", "formats.linear", "W8A8_DYNAMIC on Ascend devices, the checkpoint's own elsewhere", guide},
		{given.Modelling.Fusion == "", "modelling.fusion", "compiled on GPUs, eager on Ascend devices", guide},
		{given.PrefixHitRate == 0, "prefix_cache_hit_rate", "0", byDefault},
		{s.TP == nil && s.EP == nil && s.MoEDP == nil, "space", "TP sizes, or the layouts that engines run where candidates are simulated", byDefault},
		{s.MTP != nil && given.AcceptanceRates == nil, "mtp_acceptance_rates", fmt.Sprint(full.AcceptanceRates), guide},
	} {
		if x.open {
			v.assume(x.field, x.value, x.source)
		}
	}
}

func newValidation() *Validation {
	return &Validation{Missing: []string{}, Problems: []document.Mistake{}, Ask: []Open{}, Assumptions: []Assumption{}}
}

func (v *Validation) assume(field, value, source string) {
	v.Assumptions = append(v.Assumptions, Assumption{field, value, source})
}

func (v *Validation) ask(field, question, otherwise string) {
	v.Ask = append(v.Ask, Open{field, question, otherwise})
}

// problems adds mistakes, except missing inputs, which are listed already.
func (v *Validation) problems(err error, operation string) {
	for _, m := range document.Mistakes(err, operation) {
		if !v.said(&m) {
			v.Problems = append(v.Problems, m)
		}
	}
}

// said reports whether a problem is only that something is missing.
func (v *Validation) said(p *document.Mistake) bool {
	if len(p.Fields) == 0 {
		return p.Detail == session.ErrNoModel.Error()
	}
	for _, f := range p.Fields {
		if !slices.Contains(v.Missing, f) {
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
