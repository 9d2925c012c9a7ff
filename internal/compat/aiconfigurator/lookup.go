package aiconfigurator

import (
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// lookups remember what names stand for: the experiments of a file or a command mostly
// have the same.
type lookups struct {
	models  memory[string, *model.Model]
	devices memory[string, *device.Profile]
	engines memory[[2]string, *engine.Profile] // by name and version
}

func newLookups() *lookups {
	return &lookups{
		models:  memory[string, *model.Model]{find: model.Source{}.Open, found: map[string]found[*model.Model]{}},
		devices: memory[string, *device.Profile]{find: device.Lookup, found: map[string]found[*device.Profile]{}},
		engines: memory[[2]string, *engine.Profile]{
			find:  func(name [2]string) (*engine.Profile, error) { return engine.LookupVersion(name[0], name[1]) },
			found: map[[2]string]found[*engine.Profile]{},
		},
	}
}

// memory calls a function once for each of its arguments.
type memory[K comparable, V any] struct {
	find  func(K) (V, error)
	found map[K]found[V]
}

type found[V any] struct {
	value V
	err   error
}

func (m *memory[K, V]) get(key K) found[V] {
	f, ok := m.found[key]
	if !ok {
		f.value, f.err = m.find(key)
		m.found[key] = f
	}
	return f
}
