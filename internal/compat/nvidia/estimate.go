package nvidia

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/nearest"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/ops/estimate"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
)

// EstimateFlags are the flags of the command "estimate": one deployment. Zero fields are not
// set.
type EstimateFlags struct {
	Flags

	// Mode is agg, disagg, static, static_ctx or static_gen; "" = agg.
	Mode string
	// Workers are those of all modes but disagg, which has the other two.
	Workers, Prefill, Decode WorkerFlags
	// ContextTokens is the most tokens computed in a step.
	ContextTokens int
	Concurrency   int
}

// WorkerFlags are the sizes of the workers of a role.
type WorkerFlags struct{ TP, PP, DP, MoETP, EP, Batch, Count int }

// The defaults of "estimate", which are not those of the other commands.
const (
	estimateLength = 1024
	estimateBatch  = 128
)

// Modes of "estimate".
const (
	agg       = string(experiment.Aggregated)
	disagg    = string(experiment.Disaggregated)
	static    = string(estimate.Whole)
	staticCtx = string(estimate.PromptsOnly)
	staticGen = string(estimate.GeneratesOnly)
)

// EstimateModes are the modes of "estimate".
func EstimateModes() []string { return []string{agg, disagg, static, staticCtx, staticGen} }

// Request is the deployment of the flags, with notes on assumptions. It reports all
// mistakes.
func (f EstimateFlags) Request() (estimate.Request, []string, error) {
	f.Mode = cmp.Or(f.Mode, agg)
	errs := f.checkModes()
	f.defaults()
	w, p := &f.Workers, &f.Prefill
	if f.Mode == disagg {
		w = &f.Decode
	}
	f.TotalGPUs = w.devices()
	if f.Mode == disagg {
		f.TotalGPUs += p.devices()
	}
	if len(errs) > 0 {
		f.TotalGPUs = 2 // unknown
	}
	plan, err := f.Plan()
	if err = errors.Join(append(errs, err)...); err != nil {
		return estimate.Request{}, nil, err
	}
	out := estimate.Request{Experiment: plan.Experiments[0], Workers: w.workers(), Concurrency: f.Concurrency}
	switch f.Mode {
	case disagg:
		out.Prefill = p.workers()
	case static, staticCtx, staticGen:
		out.Static = estimate.Static(f.Mode)
	}
	return out, slices.DeleteFunc(plan.Notes, func(n string) bool { return n == "" }), nil
}

// defaults fills in what the command leaves to the tool, and serving mode and settings
// in the words of the search.
func (f *EstimateFlags) defaults() {
	f.Input, f.Output = cmp.Or(f.Input, estimateLength), cmp.Or(f.Output, estimateLength)
	// Nothing is searched: limits that were not given are none.
	f.TTFT, f.TPOT = cmp.Or(f.TTFT, math.Inf(1)), cmp.Or(f.TPOT, math.Inf(1))
	f.ServingMode = agg
	if f.Mode == disagg {
		f.ServingMode = disagg
	}
	f.Workers.Batch = cmp.Or(f.Workers.Batch, estimateBatch)
	for _, w := range []*WorkerFlags{&f.Workers, &f.Prefill, &f.Decode} {
		w.TP, w.PP, w.DP, w.Count = cmp.Or(w.TP, 1), cmp.Or(w.PP, 1), cmp.Or(w.DP, 1), cmp.Or(w.Count, 1)
	}
	if f.ContextTokens > 0 {
		f.Settings = append(slices.Clone(f.Settings), "token_budget="+strconv.Itoa(f.ContextTokens))
	}
}

// devices are those of all workers of a role.
func (w *WorkerFlags) devices() int { return w.TP * w.PP * w.DP * w.Count }

// workers is a role as a deployment has it.
func (w *WorkerFlags) workers() estimate.Workers {
	l := parallel.Layout{Devices: w.TP * w.PP * w.DP, TP: w.TP, PP: w.PP, DP: w.DP, MoETP: w.MoETP, EP: w.EP, MoEDP: 1, DCP: 1}
	if l.EP == 0 && l.MoETP > 0 { // the other of the two follows
		l.EP = max(1, w.TP*w.DP/l.MoETP)
	}
	return estimate.Workers{Count: w.Count, Layout: l, Batch: w.Batch}
}

// checkModes reports flags that conflict with the mode or with each other.
func (f *EstimateFlags) checkModes() []error {
	var errs []error
	bad := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, field.Errorf(format, args...))
		}
	}
	bad(!slices.Contains(EstimateModes(), f.Mode), "%s must be one of %s, got %q%s", field.Name("estimate_mode"),
		strings.Join(EstimateModes(), ", "), f.Mode, nearest.Hint(f.Mode, EstimateModes()))
	roles := []struct {
		prefix string
		w      *WorkerFlags
		used   bool
	}{{"", &f.Workers, f.Mode != disagg}, {"prefill_", &f.Prefill, f.Mode == disagg}, {"decode_", &f.Decode, f.Mode == disagg}}
	for _, r := range roles {
		for _, x := range r.w.sizes(r.prefix) {
			bad(x.is < 0 || x.is > maxDevices, "%s must be between 1 and %d, got %d", x.name, maxDevices, x.is)
			bad(!r.used && x.is != 0, "%s does not go with %s %s", x.name, field.Name("estimate_mode"), f.Mode)
		}
		bad(r.used && r.prefix != "" && r.w.Batch == 0, "%s is missing: %s disagg needs it", field.Name(r.prefix+"batch_size"), field.Name("estimate_mode"))
		bad(r.used && r.prefix != "" && r.w.Count == 0, "%s is missing: %s disagg needs it", field.Name(r.prefix+"workers"), field.Name("estimate_mode"))
		if r.used {
			errs = append(errs, r.w.width(r.prefix))
		}
	}
	bad(f.Concurrency < 0, "%s must be at least 1, got %d", field.Name("concurrency"), f.Concurrency)
	bad(f.ContextTokens < 0, "%s must be at least 1, got %d", field.Name("ctx_tokens"), f.ContextTokens)
	bad(f.Concurrency > 0 && strings.HasPrefix(f.Mode, static), "%s does not go with %s %s, which serves one full batch",
		field.Name("concurrency"), field.Name("estimate_mode"), f.Mode)
	bad(f.Backend == "auto", "%s auto stands for several engines: estimate takes one", field.Name("backend"))
	return slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}

// size is a number with the flag that gave it.
type size struct {
	name field.Name
	is   int
}

// sizes are the numbers of a role.
func (w *WorkerFlags) sizes(prefix string) []size {
	var out []size
	for _, x := range []size{
		{"tp_size", w.TP}, {"pp_size", w.PP}, {"dp_size", w.DP}, {"moe_tp_size", w.MoETP}, {"ep_size", w.EP}, {"batch_size", w.Batch}, {"workers", w.Count},
	} {
		out = append(out, size{field.Name(prefix) + x.name, x.is})
	}
	return out
}

// width reports experts that are spread over another number of devices than attention.
func (w *WorkerFlags) width(prefix string) error {
	attention, experts := max(1, w.TP)*max(1, w.DP), w.MoETP*w.EP
	name := func(x field.Name) field.Name { return field.Name(prefix) + x }
	one := cmp.Or(w.MoETP, w.EP)
	switch {
	case w.MoETP < 0 || w.EP < 0 || experts > 0 && experts == attention:
		return nil
	case experts > 0:
		return field.Errorf("%s × %s is %d, and %s × %s is %d: experts are spread over the devices of attention",
			name("moe_tp_size"), name("ep_size"), experts, name("tp_size"), name("dp_size"), attention)
	case one > 0 && attention%one != 0:
		return field.Errorf("%s and %s must divide %s × %s, which is %d", name("moe_tp_size"), name("ep_size"), name("tp_size"), name("dp_size"), attention)
	}
	return nil
}

// Counts are the flags whose zero would look like not set.
func (f *EstimateFlags) Counts() []field.Name {
	out := []field.Name{"isl", "osl", "concurrency", "ctx_tokens"}
	for _, prefix := range []string{"", "prefill_", "decode_"} {
		for _, x := range f.Workers.sizes(prefix) {
			out = append(out, x.name)
		}
	}
	return out
}
