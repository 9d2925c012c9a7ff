package graph

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// norm emits an RMS norm over rows × cols.
func (w *walk) norm(rows, cols float64) {
	if w.g.spec.tracesNorms() {
		w.tracedNorm(rows, cols, true)
		return
	}
	w.plainNorm(rows, cols)
}

// plainNorm emits a norm that scales by its weight.
func (w *walk) plainNorm(rows, cols float64) {
	if !w.g.spec.Compile {
		w.tracedNorm(rows, cols, false)
		return
	}
	o := w.elementwise(op.RMSNorm, w.width()*(2*rows*cols+cols))
	o.Vector32 = units.Ops(5 * rows * cols)
}

// tracesNorms reports whether norms stay the elementwise operators they are traced
// as even when compiled.
func (s *Spec) tracesNorms() bool { return s.Policy.TracedNorms && s.Model.OffsetNorm }

// tracedNorm is the norm as PyTorch runs it without fusion: up to float32,
// square, mean, epsilon, reciprocal root, scale, down again, weight. One with an
// offset scales by one plus the weight, in float32; the sum is a constant to a
// compiler.
func (w *walk) tracedNorm(rows, cols float64, offset bool) {
	n, e := rows*cols, w.width()
	const f32 = 4
	w.convert((e + f32) * n)
	w.elementwise(op.Pow, 2*f32*n)
	w.elementwise(op.Mean, f32*(n+rows))
	w.elementwise(op.Add, 2*f32*rows)
	w.elementwise(op.Rsqrt, 2*f32*rows)
	w.elementwise(op.Mul, f32*(2*n+rows))
	if !offset {
		w.convert((e + f32) * n)
		w.elementwise(op.Mul, e*(2*n+cols))
		return
	}
	if !w.g.spec.Compile {
		w.convert((e + f32) * cols)
		w.elementwise(op.Add, 2*f32*cols)
	}
	w.elementwise(op.Mul, f32*(2*n+cols))
	w.convert((e + f32) * n)
}

// normQuantizes reports whether one operator makes a norm and narrows its output
// for the product behind it, which follows s.
func (w *walk) normQuantizes(s dtype.Scheme) bool {
	spec := &w.g.spec
	if !spec.Compile || !spec.quantizesInput(s) || spec.tracesNorms() {
		return false
	}
	return !spec.Policy.EpsilonBound || spec.Model.Epsilon == model.DefaultEpsilon
}

// inputNorm emits the norm in front of a part whose first product follows s.
// Compiled, the norm also quantizes; sole says that the product is the only
// consumer, without which the two are apart and others quantize.
func (w *walk) inputNorm(s dtype.Scheme, sole bool) {
	t, h := w.stream, w.h
	fused := sole && w.normQuantizes(s)
	if fused {
		w.elementwise(normName(op.RMSNormQuant, s), w.width()*(t*h+h)+w.narrowBytes(s, t, h))
	} else {
		w.norm(t, h)
	}
	w.gatherStream()
	w.quantizeNormed(s, sole && !fused)
}

// addNorm emits the residual sum and the norm behind it.
func (w *walk) addNorm(s dtype.Scheme, sole bool) {
	t, h, e := w.stream, w.h, w.width()
	fused := sole && w.normQuantizes(s)
	switch {
	case fused:
		w.loosen()
		w.elementwise(normName(op.AddRMSNormQuant, s), e*(2*t*h+h)+w.narrowBytes(s, t, h)+e*t*h)
	case !w.g.spec.Compile || w.g.spec.tracesNorms():
		w.add(t, h)
		w.norm(t, h)
	default:
		w.loosen()
		w.elementwise(op.AddRMSNorm, e*(2*t*h+h)+2*e*t*h)
	}
	w.gatherStream()
	w.quantizeNormed(s, sole && !fused)
}

// quantizeNormed quantizes what a norm yields where the norm itself did not. Eager,
// each product behind it does so.
func (w *walk) quantizeNormed(s dtype.Scheme, apart bool) {
	if apart && w.g.spec.Compile {
		w.quantize(s, w.tokens, w.h)
	}
}

// gatherStream joins the residual stream where sequence parallelism keeps it
// cut over TP between the parts of a layer.
func (w *walk) gatherStream() {
	if w.stream < w.tokens {
		w.allGather(w.g.spec.Layout.TPGroup(), w.stream, w.h)
	}
}

// normName is the static variant's name where activation scales are fixed.
func normName(n op.Name, s dtype.Scheme) op.Name {
	if !s.Static {
		return n
	}
	if n == op.RMSNormQuant {
		return op.RMSNormStaticQuant
	}
	return op.AddRMSNormStaticQuant
}

// fanOut quantizes the input of n parallel products. Compiled, the norm in
// front has done it already; eager, each product does it again.
func (w *walk) fanOut(s dtype.Scheme, rows, cols float64, n int) {
	if w.g.spec.Compile {
		return
	}
	for range n {
		w.quantize(s, rows, cols)
	}
}
