package power

import (
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// Kind is a kind of work that takes energy.
type Kind uint8

// The kinds.
const (
	Memory Kind = iota // bytes to and from device memory
	Wide               // matrix operations in 16 bits and more
	FP8                // in 8 bits
	FP4                // in 4 bits
	Link               // bytes sent to other devices
	Kinds
)

// Activity is an amount of work of each kind: bytes or operations.
type Activity [Kinds]float64

// Add adds n times another amount.
func (a *Activity) Add(x *Activity, n float64) {
	for k := range a {
		a[k] += n * x[k]
	}
}

// Of is the work of one operator on one device.
func Of(o *op.Op) Activity {
	var a Activity
	w := o.Work()
	a[Memory] = float64(w.Bytes)
	a[kindOf(w.MatrixIn)] += float64(w.Matrix)
	if o.Kind == op.Collective || o.Kind == op.Transfer {
		a[Link] = float64(o.Payload) * o.Comm.Wire(float64(o.Group.Size))
	}
	return a
}

// kindOf is the kind of matrix operations in a format.
func kindOf(f dtype.Format) Kind {
	switch f {
	case dtype.FP8, dtype.INT8:
		return FP8
	case dtype.FP4, dtype.INT4:
		return FP4
	case dtype.None, dtype.F32, dtype.BF16, dtype.F16, dtype.Formats:
	}
	return Wide
}
