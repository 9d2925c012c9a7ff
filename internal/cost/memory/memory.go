package memory

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
)

// Model answers questions about the memory of one Spec. It is immutable and
// safe for concurrent use; nothing here allocates after New.
type Model struct {
	spec    *graph.Spec
	weights units.Bytes
	// hiddenConstants are tensors outside the weights that live through a step.
	hiddenConstants units.Bytes
	layers          []share
	widest          float64 // activation columns, see activation.go
	perToken        float64
}

// Use is the memory of one device in one step.
type Use struct {
	Weights    units.Bytes
	KV         units.Bytes
	Activation units.Bytes
	Reserved   units.Bytes
	// Available is what is left of the device; negative means that it does not
	// fit.
	Available units.Bytes
}

// New prepares the memory model of a Spec.
func New(s *graph.Spec) *Model {
	m := &Model{spec: s}
	m.weights = fullestStage(s)
	m.layers = cacheShares(s)
	m.prepareActivation()
	return m
}

// Weights is the fullest device's share of the weights.
func (m *Model) Weights() units.Bytes { return m.weights }

// Use sums a step's memory on a device of the given size.
func (m *Model) Use(b graph.Batch, device, reserved units.Bytes) Use {
	u := Use{
		Weights: m.weights, KV: m.KV(b), Activation: m.Activation(b), Reserved: reserved,
	}
	u.Available = device - u.Weights - u.KV - u.Activation - reserved
	return u
}
