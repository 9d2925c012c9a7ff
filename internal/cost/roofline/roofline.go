package roofline

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// Settings are the choices a roofline leaves open.
type Settings struct {
	// FreeUnsupported drops arithmetic in formats the device has no unit for.
	// Otherwise it runs on the next wider format the device does have.
	FreeUnsupported bool
}

// Model costs operators on one device. It is immutable and safe for concurrent
// use; Cost allocates nothing.
type Model struct {
	profile *device.Profile
	// Seconds per operation and per byte at the profile's efficiencies; a zero
	// means that the work is free.
	matrix [dtype.Formats]float64
	vector [dtype.Formats]float64
	memory float64
	levels []level

	matrixLaunch, vectorLaunch float64
}

// New prepares a roofline of a device.
func New(p *device.Profile, s Settings) *Model {
	m := &Model{profile: p}
	for f := dtype.F32; f < dtype.Formats; f++ {
		m.matrix[f] = perUnit(peak(&p.Matrix, f, s.FreeUnsupported), p.ComputeEfficiency)
		m.vector[f] = perUnit(peak(&p.Vector, f, s.FreeUnsupported), p.ComputeEfficiency)
	}
	m.memory = 1 / (float64(p.Bandwidth) * p.MemoryEfficiency)
	m.levels = levels(p)
	m.matrixLaunch, m.vectorLaunch = float64(p.Fixed.Matrix), float64(p.Fixed.Vector)
	return m
}

// Peak is the rate at which a device works in a format, widened where it has no
// unit for it.
func Peak(peaks *[dtype.Formats]units.OpsPerSecond, f dtype.Format) units.OpsPerSecond {
	return peak(peaks, f, false)
}

// peak finds the rate of a format; without a unit of its own, narrow formats
// are widened before use.
func peak(peaks *[dtype.Formats]units.OpsPerSecond, f dtype.Format, free bool) units.OpsPerSecond {
	if peaks[f] > 0 || free {
		return peaks[f]
	}
	// Widening order: 4-bit formats to 8-bit ones, those to 16 bits, those to 32.
	for _, wider := range widening(f) {
		if peaks[wider] > 0 {
			return peaks[wider]
		}
	}
	return 0
}

func widening(f dtype.Format) []dtype.Format {
	switch f {
	case dtype.FP4:
		return []dtype.Format{dtype.FP8, dtype.BF16, dtype.F16, dtype.F32}
	case dtype.INT4:
		return []dtype.Format{dtype.INT8, dtype.BF16, dtype.F16, dtype.F32}
	case dtype.FP8, dtype.INT8:
		return []dtype.Format{dtype.BF16, dtype.F16, dtype.F32}
	case dtype.BF16:
		return []dtype.Format{dtype.F16, dtype.F32}
	case dtype.F16:
		return []dtype.Format{dtype.BF16, dtype.F32}
	case dtype.F32, dtype.None, dtype.Formats:
	}
	return []dtype.Format{dtype.F32, dtype.BF16, dtype.F16}
}

func perUnit(rate units.OpsPerSecond, efficiency float64) float64 {
	if rate <= 0 {
		return 0
	}
	return 1 / (float64(rate) * efficiency)
}

// Cost estimates an operator.
func (m *Model) Cost(o *op.Op) cost.Estimate {
	if o.Kind == op.Collective || o.Kind == op.Transfer {
		return m.communicate(o)
	}
	w := o.Work()
	matrix := float64(w.Matrix) * m.matrix[w.MatrixIn]
	vector := float64(w.Vector)*m.vector[w.VectorIn] + float64(w.Vector32)*m.vector[dtype.F32]
	memory := float64(w.Bytes) * m.memory
	// Plain comparisons: the built-in max also orders NaN and signed zeros, which
	// doubles the time of this function.
	busy := matrix + vector
	if memory > busy {
		busy = memory
	}
	if busy == 0 {
		return cost.Estimate{}
	}
	fixed := m.vectorLaunch
	if matrix > 0 {
		fixed = m.matrixLaunch
	}
	fixed *= float64(1 + o.Launches)
	return cost.Estimate{
		Total: units.Seconds(busy + fixed), Matrix: units.Seconds(matrix), Vector: units.Seconds(vector),
		Memory: units.Seconds(memory), Fixed: units.Seconds(fixed),
	}
}
