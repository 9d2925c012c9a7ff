package session

import (
	"encoding/json"
	"sync"
)

// Memo caches results between requests: searches that differ in their limits or devices try
// the same deployments under the same loads. It is safe for concurrent use. It assumes that
// files do not change. The zero value caches no simulations.
type Memo struct {
	// Size is the minimum number of simulations kept; the least recently used are dropped.
	Size int

	mu    sync.Mutex
	kinds map[string]*halves
}

// halves are the results of one kind: a younger and an older half; the older one is dropped
// when the younger is full.
type halves struct{ now, then map[string]any }

// Recall returns the cached result for a key, or computes and caches it. At least the last
// most results of a kind are kept, at most twice as many; a nil Memo keeps none. Results are
// shared: copy before changing one.
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

// find returns a cached result and moves it to the younger half.
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

// keep caches a result.
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
