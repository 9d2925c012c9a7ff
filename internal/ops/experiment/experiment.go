package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/describe/draft"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// ServingMode is how prefill and decode share devices.
type ServingMode string

// The modes.
const (
	Aggregated    ServingMode = "agg"
	Disaggregated ServingMode = "disagg"
)

// Words lists the modes.
func (ServingMode) Words() []string { return []string{string(Aggregated), string(Disaggregated)} }

// Experiment asks for the best deployments of one model in one mode on a number of
// devices.
type Experiment struct {
	Name string      `json:"name"`
	Mode ServingMode `json:"serving_mode"`

	Model  string `json:"model"`
	System string `json:"system"`
	// DecodeSystem is that of decode workers; "" = System.
	DecodeSystem string            `json:"decode_system,omitempty"`
	Devices      int               `json:"total_gpus"`
	Engine       deployment.Engine `json:"engine"`
	// Routing is how requests are spread over replicas, Host memory of the hosts for what prefix caches evict.
	Routing string               `json:"routing,omitempty"`
	Host    deployment.HostCache `json:"host_cache,omitzero"`
	// Process and Variation are how requests of a rate come.
	Process   traffic.Process `json:"arrival,omitempty"`
	Variation float64         `json:"arrival_variation,omitempty"`

	Input  int `json:"isl,omitempty"` // 0 = 4000
	Output int `json:"osl,omitempty"` // 0 = 1000
	// Prefix is the tokens that all prompts begin with and that are in the prefix cache.
	Prefix int `json:"prefix,omitempty"`
	// Workloads, if given, replace the lengths, which are then their means.
	Workloads []session.Workload `json:"workloads,omitempty"`

	// Limits: TTFT and TPOT, or the latency of a whole request instead.
	Limits workload.Limits `json:"limits,omitzero"`
	workload.Statistic

	// Confidence is the minimum probability of meeting the limits; 0 = 0.5.
	Confidence float64 `json:"confidence,omitempty"`

	// MTP tokens are drafted per step by Drafter; "" is the model's own MTP modules. Drafts, if given, are ways that are
	// searched instead.
	MTP             int            `json:"nextn,omitempty"`
	Drafter         draft.Method   `json:"drafter,omitempty"`
	Drafts          []search.Draft `json:"drafts,omitempty"`
	AcceptanceRates []float64      `json:"nextn_accept_rates,omitempty"`

	// Workers are those of an aggregated experiment, or for prefill; Decode those for
	// decode.
	Workers WorkerSpace  `json:"workers,omitzero"`
	Decode  WorkerSpace  `json:"decode_workers,omitzero"`
	Replica ReplicaSpace `json:"replica,omitzero"`
}

// WorkerSpace is the workers to try: every combination of the sizes that makes a legal
// layout. A nil list has the default sizes of the model and the system.
type WorkerSpace struct {
	Formats deployment.Formats `json:"formats,omitzero"`
	search.Sizes
	// MaxBatch is the largest batch of a data-parallel rank; 0 = as many prompts as make an efficient step for prefill, 1024
	// for others.
	MaxBatch int `json:"max_batch_size,omitempty"`
	// Scale multiplies the predicted throughput; 0 = 1.
	Scale float64 `json:"correction_scale,omitempty"`
}

// ReplicaSpace is how workers for prefill and decode are put together to the unit that
// is copied.
type ReplicaSpace struct {
	// Devices a replica may have; nil = any number.
	Devices []int `json:"num_gpu_per_replica,omitempty"`
	// MaxDevices, MaxPrefill and MaxDecode bound a replica's devices and workers.
	MaxDevices int `json:"max_gpu_per_replica,omitempty"` // 0 = no limit
	MaxPrefill int `json:"max_prefill_worker,omitempty"`  // 0 = 32
	MaxDecode  int `json:"max_decode_worker,omitempty"`   // 0 = 32
}

// Complete fills in what was left open.
func (e *Experiment) Complete() {
	e.Input, e.Output = cmp.Or(e.Input, defaultISL), cmp.Or(e.Output, defaultOSL)
	e.Mode = cmp.Or(e.Mode, Aggregated)
	e.Confidence = cmp.Or(e.Confidence, search.DefaultConfidence)
	e.Engine.Name = cmp.Or(e.Engine.Name, simulate.DefaultEngine)
	r := &e.Replica
	r.MaxPrefill, r.MaxDecode = cmp.Or(r.MaxPrefill, defaultWorkers), cmp.Or(r.MaxDecode, defaultWorkers)
	e.Decode.MaxBatch = cmp.Or(e.Decode.MaxBatch, search.DefaultBatch)
	if e.Mode == Aggregated {
		e.Workers.MaxBatch = cmp.Or(e.Workers.MaxBatch, search.DefaultBatch)
	}
	if e.DecodeSystem == e.System {
		e.DecodeSystem = ""
	}
}

// Check reports what is wrong with an experiment itself.
func (e *Experiment) Check() error {
	errs := []error{
		field.Between("total_gpus", e.Devices, 1, MaxDevices), field.Between("isl", e.Input, 1, session.MaxTokens), field.Between("osl", e.Output, 1, session.MaxTokens),
		field.Between("prefix", e.Prefix, 0, e.Input-1), field.Between("nextn", e.MTP, 0, deployment.MaxMTP), session.Confidence(e.Confidence), e.CheckStatistic(e.Limits), session.CheckLimits(e.Limits),
	}
	for _, n := range []int{e.Workers.MaxBatch, e.Decode.MaxBatch} {
		if n < 0 || n > MaxBatch {
			errs = append(errs, fmt.Errorf("a batch limit must be between 0 (the default) and %d, got %d", MaxBatch, n))
		}
	}
	errs = append(errs, field.OneOf("serving_mode", e.Mode, Aggregated, Disaggregated))
	const off = "false"
	if e.Prefix > 0 && e.prefixCaching() == off {
		errs = append(errs, field.Errorf("%s %d needs the prefix cache, which prefix_caching=false switches off", field.Name("prefix"), e.Prefix))
	}
	if e.Host.GiB > 0 && e.prefixCaching() == off {
		errs = append(errs, field.Errorf("%s needs the prefix cache, which prefix_caching=false switches off", field.Name("host_cache")))
	}
	if e.Mode == Disaggregated && e.Devices == 1 {
		errs = append(errs, field.Errorf("%s must be at least 2 for separate prefill and decode workers, got 1", field.Name("total_gpus")))
	}
	return errors.Join(errs...)
}

// lengths reads the workloads of an experiment, whose lengths are then their means. A
// single one whose requests are all alike is no more than those.
func lengths(w *session.Session, e *Experiment) (*session.Kinds, error) {
	if e.Workloads == nil {
		return nil, nil
	}
	e.Workloads = slices.Clone(e.Workloads)
	k, err := w.Kinds(e.Workloads)
	if err != nil {
		return nil, err
	}
	e.Input, e.Output, e.Prefix = k.Input, k.Output, k.Prefix
	if k.Plain(e.Workloads) {
		e.Workloads, k = nil, nil
	}
	return k, nil
}

// caches says that the prefix cache is wanted, and nobody said whether there is one.
func (e *Experiment) caches() bool {
	return e.prefixCaching() == "" && (e.Prefix > 0 || e.Host.GiB > 0 || slices.ContainsFunc(e.Workloads, func(w session.Workload) bool { return w.Session != nil }))
}

// drafts are the ways to draft tokens that are searched.
func (e *Experiment) drafts() []search.Draft {
	if e.Drafts != nil {
		return e.Drafts
	}
	return []search.Draft{{By: e.Drafter, Tokens: e.MTP}}
}

// prefixCaching is what the engine setting was given as, "" if it was not; the last counts.
func (e *Experiment) prefixCaching() string {
	out := ""
	for _, s := range e.Engine.Settings {
		if k, value, _ := strings.Cut(s, "="); strings.ReplaceAll(strings.TrimSpace(k), "-", "_") == "prefix_caching" {
			out = strings.TrimSpace(value)
		}
	}
	return out
}

// Asked is the deployment that all options of an experiment have in common.
func (e *Experiment) Asked() deployment.Deployment {
	d := deployment.Deployment{
		Model: e.Model, System: e.System, Engine: e.Engine, Formats: e.Workers.Formats, Routing: e.Routing, Host: e.Host,
		Modelling: deployment.Modelling{Policy: graph.Physical().Name},
	}
	if e.Mode == Aggregated {
		d.Pools = []deployment.Pool{{Role: deployment.Both}}
	} else {
		d.Pools = []deployment.Pool{{Role: deployment.Prefill}, {Role: deployment.Decode, System: e.DecodeSystem, Formats: e.Decode.Formats}}
	}
	if e.caches() {
		d.Pools[0].Settings = []string{"prefix_caching=true"}
	}
	return d
}

// Notes are those on a deployment of the experiment, without the one on a name whose
// formats the experiment replaces.
func (e *Experiment) Notes(s *session.Stage, all []string) []string {
	all = slices.Clone(all)
	if e.Workers.Formats == (deployment.Formats{}) {
		return all
	}
	taken := s.Model.Taken()
	return slices.DeleteFunc(all, func(n string) bool { return n == taken })
}
