package measured

import "sync"

// memo keeps what is dear to look up: rows ask for the same few models, devices
// and engines again and again.
type memo[K comparable, V any] struct {
	mu    sync.Mutex
	known map[K]found[V]
}

type found[V any] struct {
	value V
	err   error
}

// get looks up a key once.
func (m *memo[K, V]) get(key K, look func() (V, error)) (V, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, ok := m.known[key]
	if !ok {
		f.value, f.err = look()
		if m.known == nil {
			m.known = map[K]found[V]{}
		}
		m.known[key] = f
	}
	return f.value, f.err
}
