package graph

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// Norm emits an RMS norm over rows × cols.
func (w *Walk) Norm(rows, cols float64) {
	if !(w.offers(AtNorm) && w.rewrite(Part{Place: AtNorm, Rows: rows, Cols: cols})) {
		w.plainNorm(rows, cols)
	}
}

// plainNorm emits a norm that scales by its weight.
func (w *Walk) plainNorm(rows, cols float64) {
	if !w.g.spec.Compile {
		w.TracedNorm(rows, cols, false)
		return
	}
	o := w.Elementwise(op.RMSNorm, w.Width()*(2*rows*cols+cols))
	o.Vector32 = units.Ops(5 * rows * cols)
}

// TracedNorm is the norm as PyTorch runs it without fusion: up to float32,
// square, mean, epsilon, reciprocal root, scale, down again, weight. One with an
// offset scales by one plus the weight, in float32; the sum is a constant to a
// compiler.
func (w *Walk) TracedNorm(rows, cols float64, offset bool) {
	n, e := rows*cols, w.Width()
	const f32 = 4
	w.Convert((e + f32) * n)
	w.Elementwise(op.Pow, 2*f32*n)
	w.Elementwise(op.Mean, f32*(n+rows))
	w.Elementwise(op.Add, 2*f32*rows)
	w.Elementwise(op.Rsqrt, 2*f32*rows)
	w.Elementwise(op.Mul, f32*(2*n+rows))
	if !offset {
		w.Convert((e + f32) * n)
		w.Elementwise(op.Mul, e*(2*n+cols))
		return
	}
	if !w.g.spec.Compile {
		w.Convert((e + f32) * cols)
		w.Elementwise(op.Add, 2*f32*cols)
	}
	w.Elementwise(op.Mul, f32*(2*n+cols))
	w.Convert((e + f32) * n)
}

// InputNorm emits the norm in front of a part whose first product follows s.
// Compiled, the norm also quantizes; sole says that the product is the only
// consumer, without which the two are apart and others quantize.
func (w *Walk) InputNorm(s dtype.Scheme, sole bool) {
	t, h := w.Stream, w.Hidden
	fused := sole && w.g.spec.NormQuantizes(s)
	if fused {
		w.Elementwise(QuantizingNorm(op.RMSNormQuant, s), w.Width()*(t*h+h)+w.NarrowBytes(s, t, h))
	} else {
		w.Norm(t, h)
	}
	w.GatherStream()
	w.quantizeNormed(s, sole && !fused)
}

// addNorm emits the residual sum and the norm behind it.
func (w *Walk) addNorm(s dtype.Scheme, sole bool) {
	t, h, e := w.Stream, w.Hidden, w.Width()
	fused := sole && w.g.spec.NormQuantizes(s)
	switch {
	case fused:
		w.Elementwise(QuantizingNorm(op.AddRMSNormQuant, s), e*(2*t*h+h)+w.NarrowBytes(s, t, h)+e*t*h)
	case !w.g.spec.fusesNorms():
		w.Add(t, h)
		w.Norm(t, h)
	default:
		w.Elementwise(op.AddRMSNorm, e*(2*t*h+h)+2*e*t*h)
	}
	w.GatherStream()
	w.quantizeNormed(s, sole && !fused)
}

// quantizeNormed quantizes what a norm yields where the norm itself did not. Eager,
// each product behind it does so.
func (w *Walk) quantizeNormed(s dtype.Scheme, apart bool) {
	if apart && w.g.spec.Compile {
		w.Quantize(s, w.Tokens, w.Hidden)
	}
}

// GatherStream joins the residual stream where sequence parallelism keeps it
// cut over TP between the parts of a layer.
func (w *Walk) GatherStream() {
	if w.Stream < w.Tokens {
		w.AllGather(w.g.spec.Layout.TPGroup(), w.Stream, w.Hidden)
	}
}

// QuantizingNorm is the static variant's name where activation scales are fixed.
func QuantizingNorm(n op.Name, s dtype.Scheme) op.Name {
	if !s.Static {
		return n
	}
	if n == op.RMSNormQuant {
		return op.RMSNormStaticQuant
	}
	return op.AddRMSNormStaticQuant
}

// FanOut quantizes the input of n parallel products. Compiled, the norm in
// front has done it already; eager, each product does it again.
func (w *Walk) FanOut(s dtype.Scheme, rows, cols float64, n int) {
	if w.g.spec.Compile {
		return
	}
	for range n {
		w.Quantize(s, rows, cols)
	}
}
