package app

import (
	"encoding/json"
	"sync"

	"plimsoll/internal/deployment"
	"plimsoll/internal/workload"
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
}

// maxStages bounds the stages that are remembered: a few hundred kilobytes each.
const maxStages = 256

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
