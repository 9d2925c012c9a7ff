package measured

import "sync"

// memo keeps expensive lookups: rows use the same few models, devices, engines and
// deployments again and again. It is safe for concurrent use; only callers that need the
// same key wait for each other.
type memo[K comparable, V any] struct{ known sync.Map }

// get looks for a key once.
func (m *memo[K, V]) get(key K, look func() (V, error)) (V, error) {
	found, ok := m.known.Load(key)
	if !ok {
		found, _ = m.known.LoadOrStore(key, sync.OnceValues(look))
	}
	return found.(func() (V, error))()
}
