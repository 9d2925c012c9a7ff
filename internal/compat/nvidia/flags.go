package nvidia

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// Flags are the flags of the command "default". Zero fields are not set; errors use the names
// of the tool's flags, with underscores.
type Flags struct {
	Model, System, DecodeSystem string
	TotalGPUs                   int
	// Backend is an engine, or "auto" for each of the three that the tool knows.
	Backend, BackendVersion string
	// ServingMode is agg, disagg, or auto for both, which is the default.
	ServingMode string

	Input, Output, Prefix int
	TTFT, TPOT            float64 // milliseconds; infinite = no limit
	RequestLatency        float64 // milliseconds
	Percentile            float64
	Confidence            float64

	// NextN is the tokens drafted in a step; nil is the generation's default, and
	// [AutoNextN] the number that the model has modules for.
	NextN *int
	// NextNAccepted is the mean number of accepted draft tokens.
	NextNAccepted *float64

	EnableWideEP bool
	// Modes are the precision, which the tool takes in "estimate" and in files only.
	Modes Modes

	FreeGPUMemoryFraction float64
	MaxSeqLen             int
	EnableChunkedPrefill  bool
	// Settings are of the engine, each as "key=value", beyond these.
	Settings []string

	// Underscores says that flags were spelled with them, as only the old generation did.
	Underscores bool
}

// AutoNextN stands for as many drafted tokens as the model has modules for.
const AutoNextN = -1

// Plan is the experiments of a command.
type Plan struct {
	Experiments []experiment.Experiment
	Generation  Generation
	// Effective is the workload and the limits in one line, with the assumptions.
	Effective string
	Notes     []string
}

// Generation is the dialect the flags are in.
func (f *Flags) Generation() Generation {
	if f.Underscores || isOldName(f.Model) {
		return Old
	}
	return New
}

// Plan makes the experiments of the command: aggregated and disaggregated, for each
// engine. It reports all mistakes.
func (f *Flags) Plan() (*Plan, error) {
	p := &Plan{Generation: f.Generation()}
	errs := f.check()
	asked, err := f.Modes.read()
	if err != nil {
		errs = append(errs, err)
	}
	backends, modes := f.backends(), f.modes(p)
	for _, mode := range modes {
		for _, backend := range backends {
			b := f.block(mode, backend)
			b.workers[0].precision, b.workers[1].precision = asked, asked
			if len(backends) > 1 {
				b.name += "_" + backend
			}
			fin := &finisher{block: b, notes: p.Notes, complain: func(key, format string, args ...any) {
				errs = addOnce(errs, field.Errorf("%s: "+format, append([]any{flagFor(key)}, args...)...))
			}}
			p.Experiments = append(p.Experiments, fin.finish())
			p.Notes = fin.notes
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	p.Effective = f.effective(&p.Experiments[0])
	return p, nil
}

// PlanUnits makes the experiments of the command "recommend", which does not set the number
// of devices. Units have any number of them, as in every search for the fewest: the tool's sizes
// fill a cluster that is given.
func (f *Flags) PlanUnits() (*Plan, error) {
	asked := *f
	asked.TotalGPUs = mostOfUnit
	p, err := asked.Plan()
	if err != nil {
		return nil, err
	}
	for i := range p.Experiments {
		p.Experiments[i].Replica.Devices = nil
	}
	return p, nil
}

// mostOfUnit is the maximum number of devices of a unit.
const mostOfUnit = 64

// flagFor is the field that a flag has for a key of files.
func flagFor(key string) field.Name {
	switch key {
	case "system_name", "decode_system_name", "backend_name":
		return field.Name(strings.TrimSuffix(key, "_name"))
	}
	return field.Name(key)
}

// addOnce adds an error unless one with its text is there: experiments of a command
// share their mistakes.
func addOnce(errs []error, err error) []error {
	if slices.ContainsFunc(errs, func(e error) bool { return e.Error() == err.Error() }) {
		return errs
	}
	return append(errs, err)
}

// backends are the engines to compare.
func (f *Flags) backends() []string {
	switch f.Backend {
	case "auto":
		return []string{"trtllm", "sglang", "vllm"}
	case "":
		return []string{defaultBackend}
	}
	return []string{f.Backend}
}

// modes are the serving modes to compare. One device cannot be disaggregated.
func (f *Flags) modes(p *Plan) []experiment.ServingMode {
	switch f.ServingMode {
	case string(experiment.Aggregated), string(experiment.Disaggregated):
		return []experiment.ServingMode{experiment.ServingMode(f.ServingMode)}
	}
	if f.TotalGPUs == 1 {
		p.Notes = append(p.Notes, "disagg is skipped: it needs at least 2 GPUs")
		return []experiment.ServingMode{experiment.Aggregated}
	}
	return []experiment.ServingMode{experiment.Aggregated, experiment.Disaggregated}
}

// check reports values that are out of bounds by themselves.
func (f *Flags) check() []error {
	var errs []error
	bad := func(wrong bool, key field.Name, format string, args ...any) {
		if wrong {
			errs = append(errs, field.Errorf("%s "+format, append([]any{key}, args...)...))
		}
	}
	bad(f.Model == "", "model_path", "is missing")
	bad(f.System == "", "system", "is missing")
	bad(f.TotalGPUs == 0, "total_gpus", "is missing")
	if err := field.OneOf("serving_mode", cmp.Or(f.ServingMode, "auto"), "auto", agg, disagg); err != nil {
		errs = append(errs, err)
	}
	bad(f.Backend == "auto" && f.BackendVersion != "", "backend_version", "%s is for one engine, but backend auto compares several", f.BackendVersion)
	for _, x := range []struct {
		key       field.Name
		value     int
		low, high int
	}{
		{"total_gpus", f.TotalGPUs, 1, maxDevices},
		{"isl", f.Input, 1, maxTokens},
		{"osl", f.Output, 1, maxTokens},
		{"prefix", f.Prefix, 1, maxTokens},
		{"max_seq_len", f.MaxSeqLen, 1, maxTokens},
	} {
		bad(x.value != 0 && (x.value < x.low || x.value > x.high), x.key, "must be between %d and %d, got %d", x.low, x.high, x.value)
	}
	for _, x := range []struct {
		key   field.Name
		value float64
	}{{"ttft", f.TTFT}, {"tpot", f.TPOT}, {"request_latency", f.RequestLatency}} {
		bad(math.IsNaN(x.value) || x.value < 0, x.key, "must be a positive number of milliseconds, got %g", x.value)
	}
	bad(f.FreeGPUMemoryFraction != 0 && !(f.FreeGPUMemoryFraction > 0 && f.FreeGPUMemoryFraction <= 1), "free_gpu_memory_fraction",
		"must be above 0 and up to 1, got %g", f.FreeGPUMemoryFraction)
	bad(f.NextN != nil && (*f.NextN < AutoNextN || *f.NextN > deployment.MaxMTP), "nextn", "must be auto or between 0 and %d", deployment.MaxMTP)
	bad(f.NextNAccepted != nil && !(*f.NextNAccepted >= 0), "nextn_accepted", "must be between 0 and nextn")
	return errs
}

// block is one experiment of the command.
func (f *Flags) block(mode experiment.ServingMode, backend string) *block {
	b := &block{name: string(mode), generation: f.Generation(), mode: mode, Flags: *f}
	b.Backend, b.Settings = backend, append(engineSettings(f.FreeGPUMemoryFraction, f.MaxSeqLen, f.EnableChunkedPrefill), f.Settings...)
	b.workers[0].wide, b.workers[1].wide = f.EnableWideEP, f.EnableWideEP
	if f.NextN != nil && *f.NextN == AutoNextN {
		b.NextN = new(0)
		if m, err := (model.Source{}).Open(f.Model); err == nil {
			*b.NextN = m.MTP.Layers
		}
	}
	return b
}

// effective names the workload and the limits, and which of them were assumed.
func (f *Flags) effective(e *experiment.Experiment) string {
	var all, assumed []string
	add := func(key, value string, given bool) {
		all = append(all, key+"="+value)
		if !given {
			assumed = append(assumed, key)
		}
	}
	ms := func(key string, x, given float64) {
		if x > 0 {
			add(key, fmt.Sprintf("%g ms", x), given > 0)
		}
	}
	add("isl", strconv.Itoa(e.Input), f.Input > 0)
	add("osl", strconv.Itoa(e.Output), f.Output > 0)
	if e.Prefix > 0 {
		add("prefix", strconv.Itoa(e.Prefix), true)
	}
	ms("ttft", e.Limits.TTFT.TypedMs(), f.TTFT)
	ms("tpot", e.Limits.TPOT.TypedMs(), f.TPOT)
	ms("request_latency", e.Limits.Latency.TypedMs(), f.RequestLatency)
	if e.MTP > 0 {
		add("nextn", strconv.Itoa(e.MTP), f.NextN != nil)
	}
	if f.Backend != "auto" {
		add("backend", strings.TrimSpace(e.Engine.Name+" "+e.Engine.Version), f.Backend != "")
	}
	line := "Effective parameters: " + strings.Join(all, ", ")
	if assumed == nil {
		return line
	}
	return line + fmt.Sprintf(" (assumed, with the defaults of the %s generation: %s)", f.Generation(), strings.Join(assumed, ", "))
}
