package ops

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// Memo remembers simulations: searches that differ in their limits or their devices try
// the same deployments under the same loads. Several goroutines may use it. What was read
// from files is taken to stay as it was. The zero value remembers nothing.
type Memo struct {
	// Size is how many simulations are remembered at least; those not asked for in a
	// while are forgotten.
	Size int

	mu        sync.Mutex
	now, then map[string]*SimulateResponse // the younger and the older half
	stages    map[string]*stage            // by the names that they were found by
	workers   map[string]*prepared         // by the experiment, whatever its limits
}

// prepared is the workers of an experiment with their bounds.
type prepared struct {
	units           search.Units
	prefill, decode []parallel.Layout
	rejected        []string
}

// maxPrepared bounds the workers that are remembered: some ten kilobytes each.
const maxPrepared = 512

// forget drops the step models of workers, which are large; bounded workers need them no
// more.
func forget(workers []search.Worker) {
	for i := range workers {
		workers[i].Pool.Stepper = nil
	}
}

// prepared is the workers of an experiment, from memory or made. A nil Memo makes them.
func (m *Memo) prepared(x *experiment, find func() (*search.Units, error)) (*search.Units, error) {
	if m == nil || x.r.PerfData.Dir != "" {
		return find()
	}
	e := *x.e
	e.Name, e.Limits, e.Percentile, e.Confidence = "", workload.Limits{}, 0, 0
	key, err := json.Marshal([]any{e, x.r.Sources})
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	known := m.workers[string(key)]
	m.mu.Unlock()
	if known == nil {
		s, err := find()
		if err != nil {
			return nil, err
		}
		s.Prepare()
		forget(s.Prefill)
		forget(s.Decode)
		known = &prepared{s.Clone(), slices.Clip(x.prefill), slices.Clip(x.decode), slices.Clip(x.out.Rejected)}
		m.mu.Lock()
		if len(m.workers) >= maxPrepared || m.workers == nil {
			m.workers = map[string]*prepared{}
		}
		m.workers[string(key)] = known
		m.mu.Unlock()
	}
	x.prefill, x.decode, x.out.Rejected = known.prefill, known.decode, known.rejected
	s := known.units.Clone()
	return &s, nil
}

// maxStages bounds the stages that are remembered: a few hundred kilobytes each.
const maxStages = 64

// stage is what some names stand for. It is shared, but for what belongs to a request.
func (m *Memo) stage(d *deployment.Deployment, s *Sources, find func() (*stage, error)) (*stage, error) {
	names := []any{d.Model, d.AsFamily, d.System, d.Engine.Name, d.Engine.Version, s}
	for i := range d.Pools {
		names = append(names, d.Pools[i].System)
	}
	key, err := json.Marshal(names)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	known := m.stages[string(key)]
	m.mu.Unlock()
	if known == nil {
		if known, err = find(); err != nil {
			return known, err
		}
		m.mu.Lock()
		if len(m.stages) >= maxStages || m.stages == nil {
			m.stages = map[string]*stage{}
		}
		m.stages[string(key)] = known
		m.mu.Unlock()
	}
	out := *known
	return &out, nil
}

// find returns the simulation of a request, if it is known.
func (m *Memo) find(key string) *SimulateResponse {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.now[key]; r != nil {
		return r
	}
	r := m.then[key]
	if r != nil {
		m.put(key, r)
	}
	return r
}

// keep remembers a simulation.
func (m *Memo) keep(key string, r *SimulateResponse) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(key, r)
}

func (m *Memo) put(key string, r *SimulateResponse) {
	if len(m.now) >= m.Size || m.now == nil {
		m.now, m.then = map[string]*SimulateResponse{}, m.now
	}
	m.now[key] = r
}

// remembered is a simulation from memory, with the chance to meet the limits asked for,
// or a new one.
func (w *World) remembered(r *SimulateRequest, sources *Sources, simulate func() (*SimulateResponse, error)) (*SimulateResponse, error) {
	m := w.Memo
	if m == nil || m.Size < 1 {
		return simulate()
	}
	asked := *r
	asked.Limits, asked.Sources = workload.Limits{}, *sources
	key, err := json.Marshal(asked)
	if err != nil {
		return nil, err
	}
	known := m.find(string(key))
	if known == nil {
		if known, err = simulate(); err != nil {
			return nil, err
		}
		known.Result.Series, known.Result.Records = nil, nil
		m.keep(string(key), known)
	}
	out := *known
	out.Request = *r
	out.Chance = out.Expected.Chance(out.Result.TTFT.Mean, out.Result.TPOT.Mean, r.Limits)
	return &out, nil
}
