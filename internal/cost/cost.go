package cost

import (
	"fmt"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
)

// Estimate is the time of one operator and its parts. Total is not the sum of
// the parts: arithmetic and memory traffic overlap.
type Estimate struct {
	Total  units.Seconds `json:"-"`
	Matrix units.Seconds `json:"cube_s"`   // matrix unit
	Vector units.Seconds `json:"vector_s"` // vector unit
	Memory units.Seconds `json:"memory_s"` // traffic to device memory
	Comm   units.Seconds `json:"comm_s"`   // links to other devices
	Fixed  units.Seconds `json:"fixed_s"`  // launches
	// Measured is the part from kernel tables.
	Measured units.Seconds `json:"measured_s"`
}

// Plus is the estimate of two kernels that run one after the other.
func (e Estimate) Plus(x Estimate) Estimate {
	return Estimate{
		Total: e.Total + x.Total, Matrix: e.Matrix + x.Matrix, Vector: e.Vector + x.Vector, Memory: e.Memory + x.Memory,
		Comm: e.Comm + x.Comm, Fixed: e.Fixed + x.Fixed, Measured: e.Measured + x.Measured,
	}
}

// Coster estimates operators on one device.
type Coster interface {
	Cost(o *op.Op) Estimate
}

// Bound names what an operator waits for.
type Bound uint8

// The bounds.
const (
	Free Bound = iota // costs nothing
	Memory
	Communication
	Compute
)

// String returns the bound's name as shown in tables and JSON.
func (b Bound) String() string {
	return [...]string{"free", "memory", "communication", "compute"}[b]
}

// MarshalText writes the name.
func (b Bound) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (b *Bound) UnmarshalText(text []byte) error {
	for x := Free; x <= Compute; x++ {
		if x.String() == string(text) {
			*b = x
			return nil
		}
	}
	return fmt.Errorf("unknown bound %q", text)
}

// Bound returns the largest of memory, communication and arithmetic, launches
// aside.
func (e Estimate) Bound() Bound {
	compute := e.Matrix + e.Vector
	switch {
	case e.Total == 0:
		return Free
	case e.Comm >= e.Memory && e.Comm >= compute && e.Comm > 0:
		return Communication
	case e.Memory >= compute:
		return Memory
	default:
		return Compute
	}
}
