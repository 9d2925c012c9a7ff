package tensorcast

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// streams is layers with parallel residual streams.
type streams struct{ cast }

// layer emits a layer with parallel residual streams: both parts read a mixture
// of the streams, and their output is mixed back in.
func (w streams) layer(p graph.Part) bool {
	k := p.Kind
	if !w.Spec().TracesStreams(&k.Layer) {
		return false
	}
	n := float64(k.Layer.Streams)
	w.mixIn(n)
	w.Layer(k).Attention()
	w.mixOut(n)
	w.mixIn(n)
	w.InputNorm(w.Spec().Quant.Dense, k.Layer.FFN.Kind == model.Dense)
	w.Layer(k).FeedForward()
	w.mixOut(n)
	return true
}

// mixIn emits the mixture of n streams a part reads: their inverse root mean square, a
// product in float32 for the weights, which are balanced in rounds, and the sum.
func (w streams) mixIn(n float64) {
	t, h, e := w.Stream, w.Hidden, w.Width()
	all, mix := t*n*h, n*(n+2)
	w.Convert((e + f32) * all)
	w.Elementwise(op.StreamRMS, e*all+f32*t+2*f32*all).Vector32 = units.Ops(6 * all)
	o := w.Next(op.GEMM, op.MatMul)
	o.Rows, o.Depth, o.Cols = t, n*h, mix
	o.In, o.Weight, o.Out = dtype.F32, dtype.F32, dtype.F32
	w.Elementwise(op.Mul, f32*t*(2*mix+1))
	o = w.Elementwise(op.StreamMix, f32*(t*mix+3+mix+t*n+t*n*n)+e*(all+t*h)+2*f32*t*h)
	rounds := float64(w.Spec().Model.Sinkhorn - 1)
	o.Vector32 = units.Ops(t*(3*n+2*n*n+5*n*n+2*n+rounds*(6*n*n+2*n)) + 2*all)
	o.Vector = units.Ops(t * h)
}

// mixOut emits the mixture of a part's output back into n streams.
func (w streams) mixOut(n float64) {
	t, h, e := w.Stream, w.Hidden, w.Width()
	all := t * n * h
	o := w.Elementwise(op.StreamPost, e*(t*h+2*all)+f32*t*(n+n*n)+2*f32*all)
	o.Vector32 = units.Ops(2*n*all + 2*all)
	o.Vector = units.Ops(all)
}

// number is the number of residual streams that are traced, 1 for none.
func (w streams) number() float64 {
	l := &w.Spec().Model.Kinds[0]
	if !w.Spec().TracesStreams(l) {
		return 1
	}
	return float64(l.Streams)
}

// split copies the embedding into every stream.
func (w streams) split(graph.Part) bool {
	if n := w.number(); n > 1 {
		w.Elementwise(op.Repeat, w.Width()*w.Stream*w.Hidden*(1+n))
	}
	return true
}

// join emits the mixture of the streams that the output head reads.
func (w streams) join(graph.Part) bool {
	n := w.number()
	if n <= 1 {
		return true
	}
	t, h, e := w.Stream, w.Hidden, w.Width()
	all := t * n * h
	o := w.Elementwise(op.StreamHead, e*(all+t*h)+f32*(n*n*h+1+n)+2*f32*t*h)
	o.In = dtype.F32
	o.Matrix = units.Ops(2 * n * all)
	o.Vector32 = units.Ops(7*all + 8*t*n)
	return true
}

// clampedOps are the vector operations an element of an activation with limits.
const clampedOps = 11

// activated names an activation with limits, and counts its work.
func (w cast) activated(p graph.Part) bool {
	if p.FFN.Clamped {
		o := w.Emitted()
		o.Name, o.Vector = op.ClampedSwiGLU, units.Ops(clampedOps*p.Rows*p.Cols)
	}
	return true
}
