package session

import (
	"encoding/json"
	"sync"
)

// Memo remembers answers from one request to the next: searches that differ in their
// limits or their devices try the same deployments under the same loads. Several
// goroutines may use it. What was read from files is taken to stay as it was. The zero
// value remembers no simulations.
type Memo struct {
	// Size is how many simulations are remembered at least; those not asked for in a
	// while are forgotten.
	Size int

	mu    sync.Mutex
	kinds map[string]*halves
}

// halves are the answers of one kind: the younger half and the older one, which is
// forgotten when the younger is full.
type halves struct{ now, then map[string]any }

// Recall returns what was found for a key before, or finds and keeps it. At least the
// last most answers of a kind are kept, and at most twice as many; a nil Memo keeps none.
// An answer is shared: who changes it copies it first.
func Recall[T any](m *Memo, kind string, most int, key any, find func() (T, error)) (T, error) {
	if m == nil || most < 1 {
		return find()
	}
	name, err := json.Marshal(key)
	if err != nil {
		var none T
		return none, err
	}
	if known, ok := m.find(kind, string(name), most); ok {
		return known.(T), nil
	}
	out, err := find()
	if err == nil {
		m.keep(kind, string(name), out, most)
	}
	return out, err
}

// find returns an answer, if it is known, and makes it one of the younger.
func (m *Memo) find(kind, key string, most int) (any, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.kinds[kind]
	if h == nil {
		return nil, false
	}
	if known, ok := h.now[key]; ok {
		return known, true
	}
	known, ok := h.then[key]
	if ok {
		h.put(key, known, most)
	}
	return known, ok
}

// keep remembers an answer.
func (m *Memo) keep(kind, key string, answer any, most int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kinds == nil {
		m.kinds = map[string]*halves{}
	}
	if m.kinds[kind] == nil {
		m.kinds[kind] = &halves{}
	}
	m.kinds[kind].put(key, answer, most)
}

func (h *halves) put(key string, answer any, most int) {
	if len(h.now) >= most || h.now == nil {
		h.now, h.then = map[string]any{}, h.now
	}
	h.now[key] = answer
}
