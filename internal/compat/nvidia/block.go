package nvidia

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// block is an experiment from a file or flags, before defaults. Zero fields are not set.
type block struct {
	name       string
	generation Generation
	yaml       bool
	mode       experiment.ServingMode

	Flags

	// rates are the acceptance rates given that all earlier tokens were accepted; kept are unconditional.
	rates, kept []float64

	workers [2]worker // aggregated or for prefill; for decode
	replica replica
}

// worker is the settings of the workers of a role.
type worker struct {
	experiment.WorkerSpace // without formats

	precision precision
	wide      bool // wide expert parallelism
}

// replica is the settings of replicas.
type replica struct {
	experiment.ReplicaSpace

	sizes   bool // Devices is set, if only to "any"
	largest bool // MaxDevices is set
}

// finisher turns a block into an experiment.
type finisher struct {
	*block

	// complain reports a mistake of a key.
	complain func(key, format string, args ...any)
	notes    []string

	facts   *model.Model // nil where the model is not in the catalog
	systems [2]*device.Profile
}

// role is the prefix of keys about a worker.
func (b *block) role(i int) string {
	switch {
	case b.mode == experiment.Aggregated:
		return "agg_"
	case i == 0:
		return "prefill_"
	}
	return "decode_"
}

// roles is how many roles workers have.
func (b *block) roles() int {
	if b.mode == experiment.Aggregated {
		return 1
	}
	return 2
}

// note adds a note that other experiments may share, once.
func (f *finisher) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); text != "" && !slices.Contains(f.notes, text) {
		f.notes = append(f.notes, text)
	}
}

// own adds a note about this experiment.
func (f *finisher) own(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if f.yaml {
		text = f.name + ": " + text
	}
	f.note("%s", text)
}

// finish fills in defaults and checks combinations of keys. The experiment is valid only if
// no mistake was reported.
func (f *finisher) finish() experiment.Experiment {
	f.facts = listed(f.Model)
	e := experiment.Experiment{
		Name: f.name, Mode: f.mode, Model: f.Model, Devices: f.TotalGPUs, Engine: f.engine(),
		Prefix: f.Prefix, Statistic: workload.Statistic{Percentile: f.Percentile}, Confidence: f.Confidence,
	}
	e.System, e.DecodeSystem = f.places()
	v := Defaults(f.generation, f.yaml)
	e.Input, e.Output = cmp.Or(f.Input, v.Input), cmp.Or(f.Output, v.Output)
	if e.Prefix >= e.Input {
		f.complain("prefix", "must be less than isl %d, got %d", e.Input, e.Prefix)
	}
	e.Limits = f.limits(v)
	e.MTP, e.AcceptanceRates = f.drafts()
	f.precisions()
	e.Workers = f.space(0)
	if f.mode == experiment.Disaggregated {
		if f.TotalGPUs == 1 {
			f.complain("total_gpus", "must be at least 2 for disagg, got 1")
		}
		e.Decode, e.Replica = f.space(1), f.replicas()
	}
	return e
}

// engine checks the engine and its version.
func (f *finisher) engine() deployment.Engine {
	out := deployment.Engine{Name: cmp.Or(f.Backend, defaultBackend), Version: f.BackendVersion, Settings: f.Settings}
	newest, err := engine.LookupVersion(out.Name, "")
	if err != nil {
		f.complain("backend_name", "%v", err)
		return out
	}
	out.Name = newest.Name
	p, err := engine.LookupVersion(out.Name, out.Version)
	if err != nil {
		f.complain("backend_version", "%v", err)
		return out
	}
	if _, err := p.With(out.Settings...); err != nil {
		f.complain("engine_settings", "%v", err)
	}
	return out
}

// places finds the devices; that of decode workers is "" if it is the same.
func (f *finisher) places() (system, decode string) {
	for i, s := range []struct{ key, name string }{{"system_name", f.System}, {"decode_system_name", f.DecodeSystem}} {
		if s.name == "" {
			continue
		}
		d, err := device.Lookup(s.name)
		if err != nil {
			f.complain(s.key, "%v", err)
			continue
		}
		f.systems[i] = d
	}
	if f.systems[0] == nil {
		return "", ""
	}
	if f.mode == experiment.Aggregated || f.systems[1] == nil || f.systems[1].Name == f.systems[0].Name {
		f.systems[1] = f.systems[0]
		return f.systems[0].Name, ""
	}
	return f.systems[0].Name, f.systems[1].Name
}

// limits are the given limits, else the defaults. A limit on request latency replaces both
// defaults.
func (f *finisher) limits(v Values) workload.Limits {
	ttft, tpot := f.TTFT, f.TPOT
	switch {
	case f.RequestLatency == 0:
		ttft, tpot = cmp.Or(ttft, v.TTFT), cmp.Or(tpot, v.TPOT)
	case ttft > 0 || tpot > 0:
		f.own("request_latency applies in addition to ttft and tpot; omit those to use it alone")
	}
	seconds := func(ms float64) units.Seconds {
		if math.IsInf(ms, 1) {
			return 0
		}
		return units.Seconds(ms / 1e3)
	}
	return workload.Limits{TTFT: seconds(ttft), TPOT: seconds(tpot), Latency: seconds(f.RequestLatency)}
}

// drafts are the draft tokens of a step and their acceptance rates.
func (f *finisher) drafts() (n int, kept []float64) {
	n = draftedByDefault(f.Model, f.facts)
	if f.NextN != nil {
		n = *f.NextN
	} else if n > 0 {
		f.note("%s drafts %d token per step (nextn), AIConfigurator's default for this name", f.Model, n)
	}
	if n == 0 {
		return 0, nil
	}
	switch {
	case f.NextNAccepted != nil && (f.rates != nil || f.kept != nil):
		f.complain("nextn_accepted", "conflicts with the acceptance rates: give one of them")
	case f.NextNAccepted != nil && *f.NextNAccepted > float64(n):
		f.complain("nextn_accepted", "must be between 0 and nextn %d, got %g", n, *f.NextNAccepted)
	case f.NextNAccepted != nil: // only the sum counts
		return n, slices.Repeat([]float64{*f.NextNAccepted / float64(n)}, n)
	case f.kept != nil:
		return n, f.first(n, "nextn_kept_rates", f.kept)
	case f.rates != nil:
		return n, products(f.first(n, "nextn_accept_rates", f.rates))
	case f.generation == New:
		f.complain("nextn", "%d needs nextn_accepted, the mean number of draft tokens accepted per step", n)
	default:
		f.note("nextn_accept_rates are assumed to be %v", acceptedByDefault())
		return n, products(f.first(n, "nextn", acceptedByDefault()))
	}
	return 0, nil
}

// first are the rates of the first n drafts.
func (f *finisher) first(n int, key string, rates []float64) []float64 {
	if len(rates) < n {
		f.complain(key, "nextn %d needs as many acceptance rates, got %d", n, len(rates))
		return nil
	}
	return slices.Clone(rates[:n])
}

// products turns conditional acceptance rates into unconditional ones.
func products(rates []float64) []float64 {
	p := 1.0
	for i, r := range rates {
		p *= r
		rates[i] = p
	}
	return rates
}

// precisions fills in formats: the given ones, else the rule for old names, else the
// checkpoint's own.
func (f *finisher) precisions() {
	for i := range f.roles() {
		w, d := &f.workers[i], f.systems[i]
		f.note("%s", cacheNote(f.facts, cmp.Or(w.precision.kv, byDevice(f.Model, f.facts, d).kv)))
		rule := byDevice(f.Model, f.facts, d)
		if rule != (precision{}) && w.precision.over(rule) != w.precision {
			f.note("%s on %s means %s, as AIConfigurator chose them", f.Model, d.Name, rule)
		}
		f.workers[i].precision = w.precision.over(precision{gemm: rule.gemm, moe: rule.moe})
		if w.precision.kv == "" {
			f.workers[i].precision.kv = f.cache(rule.kv, i)
		}
	}
	p, d := f.workers[0].precision.kv, f.workers[1].precision.kv
	if f.mode == experiment.Disaggregated && p != d {
		f.complain("decode_kvcache_quant_mode", "prefill and decode workers exchange KV caches and need the same format, got %s and %s",
			cmp.Or(p, checkpoint), cmp.Or(d, checkpoint))
	}
}

// cache is the default format of a cache: that of the other role if it is set, else the wider
// of those that the rule has for both.
func (f *finisher) cache(rule string, i int) string {
	if f.mode == experiment.Aggregated {
		return rule
	}
	if other := f.workers[1-i].precision.kv; other != "" {
		return other
	}
	if other := f.systems[1-i]; rule == "fp8" && byDevice(f.Model, f.facts, other).kv == "bf16" {
		f.own("the KV cache is in bf16 for both roles, since %s has no arithmetic in fp8", other.Name)
		return "bf16"
	}
	return rule
}

// space is the workers to try in a role.
func (f *finisher) space(i int) experiment.WorkerSpace {
	w := &f.workers[i]
	out := w.WorkerSpace
	out.Formats = w.precision.formats()
	if !w.wide {
		return out
	}
	if f.facts != nil && !f.facts.HasExperts() {
		f.own("%s has no experts: wide expert parallelism has no effect", f.Model)
		return out
	}
	widest := map[string][2]int{"agg_": {32, 32}, "prefill_": {16, 4}, "decode_": {64, 64}}[f.role(i)]
	for _, l := range []struct {
		list *[]int
		most int
	}{{&out.Devices, widest[0]}, {&out.EP, widest[0]}, {&out.DP, widest[1]}} {
		if *l.list == nil {
			*l.list = search.Powers(l.most)
		}
	}
	return out
}

// replicas are the replicas to try.
func (f *finisher) replicas() experiment.ReplicaSpace {
	r := f.replica.ReplicaSpace
	wide := f.workers[0].wide || f.workers[1].wide
	if !f.replica.largest {
		r.MaxDevices = maxReplica
		if wide {
			r.MaxDevices = maxWideReplica
		}
	}
	// Without a limit, and for wide expert parallelism, any number of devices is allowed.
	if !f.replica.sizes && !wide && r.MaxDevices > 0 {
		r.Devices = replicaSizes(f.TotalGPUs, r.MaxDevices)
	}
	if r.Devices != nil && f.TotalGPUs > 0 && slices.Min(r.Devices) > f.TotalGPUs {
		f.complain("num_gpu_per_replica", "has no size within total_gpus %d, got %s", f.TotalGPUs, strings.ReplaceAll(fmt.Sprint(r.Devices), " ", ", "))
	}
	return r
}
