package graph

import (
	"plimsoll/internal/dtype"
	"plimsoll/internal/op"
	"plimsoll/internal/units"
)

// norm emits an RMS norm over rows × cols.
func (w *walk) norm(rows, cols float64) {
	if !w.g.spec.Compile {
		w.eagerNorm(rows, cols)
		return
	}
	o := w.elementwise(op.RMSNorm, w.width()*(2*rows*cols+cols))
	o.Vector32 = units.Ops(5 * rows * cols)
}

// eagerNorm is the norm as PyTorch runs it without fusion: up to float32,
// square, mean, epsilon, reciprocal root, scale, down again, weight.
func (w *walk) eagerNorm(rows, cols float64) {
	n, e := rows*cols, w.width()
	const f32 = 4
	w.elementwise(op.ToCopy, (e+f32)*n)
	w.elementwise(op.Pow, 2*f32*n)
	w.elementwise(op.Mean, f32*(n+rows))
	w.elementwise(op.Add, 2*f32*rows)
	w.elementwise(op.Rsqrt, 2*f32*rows)
	w.elementwise(op.Mul, f32*(2*n+rows))
	w.elementwise(op.ToCopy, (e+f32)*n)
	w.elementwise(op.Mul, e*(2*n+cols))
}

// inputNorm emits the norm in front of a part whose first product follows s.
// Compiled, the norm also quantizes; sole says that the product is the only
// consumer, without which the two cannot be fused.
func (w *walk) inputNorm(s dtype.Scheme, sole bool) {
	t, h := w.stream, w.h
	if !w.g.spec.Compile || !sole || !w.g.spec.quantizesInput(s) {
		w.norm(t, h)
	} else {
		w.elementwise(normName(op.RMSNormQuant, s), w.width()*(t*h+h)+w.narrowBytes(s, t, h))
	}
	w.gatherStream()
}

// addNorm emits the residual sum and the norm behind it.
func (w *walk) addNorm(s dtype.Scheme, sole bool) {
	t, h, e := w.stream, w.h, w.width()
	switch {
	case !w.g.spec.Compile:
		w.add(t, h)
		w.norm(t, h)
	case !sole || !w.g.spec.quantizesInput(s):
		w.elementwise(op.AddRMSNorm, e*(2*t*h+h)+2*e*t*h)
	default:
		w.elementwise(normName(op.AddRMSNormQuant, s), e*(2*t*h+h)+w.narrowBytes(s, t, h)+e*t*h)
	}
	w.gatherStream()
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
