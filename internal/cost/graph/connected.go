package graph

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// tracesStreams reports whether a layer's parallel residual streams are mixed by the
// operators they are written as.
func (w *walk) tracesStreams(l *model.Layer) bool {
	return w.g.spec.Policy.TracedStreams && l.Streams > 1 && !l.AltUp
}

// connectedLayer emits a layer with parallel residual streams as TensorCast traces
// it: both parts read a mixture of the streams, and their output is mixed back in.
func (w *walk) connectedLayer(k *kind) {
	n := float64(k.layer.Streams)
	w.mixIn(n)
	w.attention(k)
	w.mixOut(n)
	w.mixIn(n)
	w.inputNorm(w.g.spec.Quant.Dense, k.layer.FFN.Kind == model.Dense)
	w.feedForward(k)
	w.mixOut(n)
}

// mixIn emits the mixture of n streams a part reads: their inverse root mean square, a
// product in float32 for the weights, which are balanced in rounds, and the sum.
func (w *walk) mixIn(n float64) {
	const f32 = 4
	t, h, e := w.stream, w.h, w.width()
	all, mix := t*n*h, n*(n+2)
	w.convert((e + f32) * all)
	w.elementwise(op.StreamRMS, e*all+f32*t+2*f32*all).Vector32 = units.Ops(6 * all)
	o := w.next(op.GEMM, op.MatMul)
	o.Rows, o.Depth, o.Cols = t, n*h, mix
	o.In, o.Weight, o.Out = dtype.F32, dtype.F32, dtype.F32
	w.elementwise(op.Mul, f32*t*(2*mix+1))
	o = w.elementwise(op.StreamMix, f32*(t*mix+3+mix+t*n+t*n*n)+e*(all+t*h)+2*f32*t*h)
	rounds := float64(w.g.spec.Model.Sinkhorn - 1)
	o.Vector32 = units.Ops(t*(3*n+2*n*n+5*n*n+2*n+rounds*(6*n*n+2*n)) + 2*all)
	o.Vector = units.Ops(t * h)
}

// mixOut emits the mixture of a part's output back into n streams.
func (w *walk) mixOut(n float64) {
	const f32 = 4
	t, h, e := w.stream, w.h, w.width()
	all := t * n * h
	o := w.elementwise(op.StreamPost, e*(t*h+2*all)+f32*t*(n+n*n)+2*f32*all)
	o.Vector32 = units.Ops(2*n*all + 2*all)
	o.Vector = units.Ops(all)
}

// streams is the number of residual streams that are traced, 1 for none.
func (w *walk) streams() float64 {
	l := &w.g.spec.Model.Kinds[0]
	if !w.tracesStreams(l) {
		return 1
	}
	return float64(l.Streams)
}

// splitStreams copies the embedding into every stream.
func (w *walk) splitStreams() {
	if n := w.streams(); n > 1 {
		w.elementwise(op.Repeat, w.width()*w.stream*w.h*(1+n))
	}
}

// joinStreams emits the mixture of the streams that the output head reads.
func (w *walk) joinStreams() {
	n := w.streams()
	if n <= 1 {
		return
	}
	const f32 = 4
	t, h, e := w.stream, w.h, w.width()
	all := t * n * h
	o := w.elementwise(op.StreamHead, e*(all+t*h)+f32*(n*n*h+1+n)+2*f32*t*h)
	o.In = dtype.F32
	o.Matrix = units.Ops(2 * n * all)
	o.Vector32 = units.Ops(7*all + 8*t*n)
}
