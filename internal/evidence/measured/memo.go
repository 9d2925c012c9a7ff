package measured

import "sync"

// memo keeps expensive lookups: rows use the same few models, devices, engines and
// deployments again and again. It is safe for concurrent use; only callers that need the
// same key wait for each other.
type memo[K comparable, V any] struct {
	mu    sync.Mutex
	known map[K]*found[V]
}

type found[V any] struct {
	once  sync.Once
	value V
	err   error
}

// get looks for a key once.
func (m *memo[K, V]) get(key K, look func() (V, error)) (V, error) {
	m.mu.Lock()
	f, ok := m.known[key]
	if !ok {
		if m.known == nil {
			m.known = map[K]*found[V]{}
		}
		f = new(found[V])
		m.known[key] = f
	}
	m.mu.Unlock()
	f.once.Do(func() { f.value, f.err = look() })
	return f.value, f.err
}
