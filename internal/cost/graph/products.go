package graph

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// Products with weights, what narrows their inputs, and their scales.

// Linear emits rows × depth times depth × cols under a scheme. The input is
// already quantized where the scheme needs that. joined is the number of
// layers whose weights were joined into this product.
func (w *Walk) Linear(s dtype.Scheme, rows, depth, cols float64, joined int) {
	o := w.Next(op.GEMM, op.MatMul)
	o.Rows, o.Depth, o.Cols = rows, depth, cols
	o.Out = w.Base
	switch o.In, o.Weight = w.MatrixFormat(s), s.Weight; {
	case !s.Quantized():
		o.Weight = w.Base
		return
	case s.Weight == dtype.FP4:
		o.Name = op.FP4Linear
	case s.Weight == dtype.INT4:
		o.Name = op.QuantLinearInt4
	case s.Weight == dtype.FP8:
		o.Name = op.FP8Linear
	default:
		o.Name = op.QuantLinear
	}
	w.scales(o, s, 1, joined)
}

// Product emits the same of an input that is quantized first, where the scheme needs that.
func (w *Walk) Product(s dtype.Scheme, rows, depth, cols float64) {
	w.Quantize(s, rows, depth)
	w.Linear(s, rows, depth, cols, 1)
}

// scales adds the scales of a quantized product of so many weight matrices.
func (w *Walk) scales(o *op.Op, s dtype.Scheme, matrices float64, joined int) {
	if !w.offers(AtProduct) || !w.rewrite(Part{Place: AtProduct, Weight: s.Weight, Group: int32(s.Group), Joined: int32(joined)}) {
		o.Bytes = units.Bytes(matrices)*(s.WeightBytes(o.Cols, o.Depth)-s.Weight.Bytes(o.Cols*o.Depth)) + actScales(o, s)
	}
}

// actScales is the traffic of activation scales: one per group, or per row.
func actScales(o *op.Op, s dtype.Scheme) units.Bytes {
	if s.WeightOnly() {
		return 0
	}
	if s.Group > 0 && s.Scale != dtype.None {
		return s.Scale.Bytes(o.Rows * math.Ceil(o.Depth/float64(s.Group)))
	}
	return units.Bytes(ScaleBytes * o.Rows)
}

// MatrixFormat is the format the matrix unit works in under a scheme.
func (w *Walk) MatrixFormat(s dtype.Scheme) dtype.Format { return w.g.spec.matrixFormat(s) }

// NarrowBytes is the size of rows × cols activations under a scheme, with their
// scales.
func (w *Walk) NarrowBytes(s dtype.Scheme, rows, cols float64) float64 {
	if w.MatrixFormat(s) == dtype.FP4 {
		return rows*cols/2 + rows*math.Ceil(cols/float64(s.Group))
	}
	return rows*cols + ScaleBytes
}

// Quantize emits the narrowing of rows × cols activations in front of a
// product, where the scheme has one.
func (w *Walk) Quantize(s dtype.Scheme, rows, cols float64) {
	if !w.g.spec.quantizesInput(s) {
		return
	}
	name := op.DynamicQuantize
	if s.Static {
		name = op.Quantize
	}
	o := w.Elementwise(name, w.Width()*rows*cols+w.NarrowBytes(s, rows, cols))
	if w.MatrixFormat(s) == dtype.FP4 {
		o.Vector = units.Ops(2*rows*cols + rows*math.Ceil(cols/float64(s.Group)))
	}
}

// groupedProduct emits one product of rows over several matrices; fused is the width
// behind the activation fused into it, 0 for none.
func (w *Walk) groupedProduct(s dtype.Scheme, rows, matrices, depth, cols, fused float64) *op.Op {
	o := w.Next(op.GroupedGEMM, op.GroupedMatMul)
	o.Rows, o.Depth, o.Cols, o.OutCols = rows, depth, cols, fused
	o.Experts = matrices
	o.Out = w.Base
	o.In, o.Weight = w.MatrixFormat(s), s.Weight
	if !s.Quantized() {
		o.Weight = w.Base
	}
	o.Widens = w.g.spec.Widens(s)
	o.Name = groupedName(s, fused > 0)
	joined := 1
	if fused > 0 {
		o.Vector = units.Ops(7 * rows * fused)
		if cols > fused {
			joined = 2
		}
	}
	if s.Quantized() {
		w.scales(o, s, matrices, joined)
	}
	return o
}

// groupedName is the name of a grouped product, with an activation behind it or
// without.
func groupedName(s dtype.Scheme, fused bool) op.Name {
	switch {
	case !s.Quantized() && fused:
		return op.GroupedMatMulSwiGLU
	case !s.Quantized():
		return op.GroupedMatMul
	case fused:
		return op.GroupedMatMulQuantSwiGLU
	}
	return op.GroupedMatMulQuant
}

// MLP emits gate and up, the activation, and down, for rows × hidden inputs
// that are quantized already.
func (w *Walk) MLP(s dtype.Scheme, rows, hidden, inter float64, f *model.FFN) {
	e := w.Width()
	cols := 2 * inter
	if f.Ungated {
		cols = inter
	}
	switch {
	case w.g.spec.Compile:
		w.Linear(s, rows, hidden, cols, 2)
		w.Bias(f.Bias, cols)
		w.Elementwise(op.SwiGLU, e*rows*(cols+inter))
		if w.offers(AtActivated) {
			w.rewrite(Part{Place: AtActivated, FFN: f, Rows: rows, Cols: inter})
		}
	default:
		w.Linear(s, rows, hidden, inter, 1)
		if !f.Ungated {
			w.Linear(s, rows, hidden, inter, 1)
		}
		w.Elementwise(op.SiLU, 2*e*rows*inter)
		if !f.Ungated {
			w.Elementwise(op.Mul, 3*e*rows*inter)
		}
	}
	w.Product(s, rows, inter, hidden)
	w.Bias(f.Bias, hidden)
}

// Bias adds a bias vector to the product just emitted.
func (w *Walk) Bias(has bool, cols float64) {
	if !has {
		return
	}
	o := &w.Items[len(w.Items)-1].Op
	o.Bytes += units.Bytes(w.Width() * cols)
	if w.g.spec.addsBias(o.Weight) {
		o.Vector += units.Ops(o.Rows * cols)
	}
}

// Narrow emits one static quantization of n elements.
func (w *Walk) Narrow(n float64) {
	w.Elementwise(op.Quantize, (w.Width()+1)*n+ScaleBytes)
}
