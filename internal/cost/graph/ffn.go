package graph

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// layer emits one decoder layer.
func (w *walk) layer(k *kind) {
	if w.tracesStreams(&k.layer) {
		w.connectedLayer(k)
		return
	}
	a, f := k.layer.Attention.Kind, k.layer.FFN.Kind
	if a == model.Cross && w.images.Count == 0 {
		return // text passes it by
	}
	w.attention(k)
	if n := k.layer.LowRank; n > 0 {
		w.thin(float64(n))
	}
	if a != model.NoAttention && k.layer.Norms > 2 {
		w.norm(w.stream, w.h) // behind the mixer, before the residual sum
	}
	if f != model.NoFFN {
		s, sole := w.g.spec.Quant.Dense, f == model.Dense
		switch {
		case k.layer.Parallel: // the input was normed in front of the mixer
			if !w.g.spec.Compile {
				w.add(w.stream, w.h) // fused with the sum at the end otherwise
			}
		case a == model.NoAttention:
			w.inputNorm(s, sole)
		default:
			w.addNorm(s, sole)
		}
		w.feedForward(k)
		if k.layer.Norms > 2 {
			w.norm(w.stream, w.h)
		}
	}
	w.sumLayer()
	if n := k.layer.Input; n > 0 {
		w.thin(float64(n))
	}
	if n := k.layer.Streams; n > 1 {
		// Mixing n residual streams reads and writes them around each part.
		w.elementwise(op.Add, 4*w.width()*w.stream*w.h*float64(n))
	}
}

// thin emits two unquantized matrices down to a width and up again, what is done
// in between, a norm and the sum.
func (w *walk) thin(width float64) {
	plain := dtype.Unquantized(w.base)
	w.linear(plain, w.stream, w.h, width, 1)
	w.elementwise(op.Mul, 3*w.width()*w.stream*width)
	w.linear(plain, w.stream, width, w.h, 1)
	w.norm(w.stream, w.h)
	w.add(w.stream, w.h)
}

// feedForward emits the part behind the second norm.
func (w *walk) feedForward(k *kind) {
	f := &k.layer.FFN
	if f.Kind == model.MoE {
		w.moe(k)
		if f.Intermediate > 0 { // a dense part beside the experts
			w.quantize(w.g.spec.Quant.Dense, w.tokens, w.h)
			w.mlp(w.g.spec.Quant.Dense, w.tokens, w.h, k.inter, f)
			w.reduceTP(w.tokens)
			w.add(w.tokens, w.h)
		}
		return
	}
	w.fanIn(f.Ungated)
	w.mlp(w.g.spec.Quant.Dense, w.tokens, w.h, k.inter, f)
	w.reduceTP(w.tokens)
}

// fanIn quantizes the input of the dense part where the norm in front has not.
func (w *walk) fanIn(ungated bool) {
	n := 2
	if ungated {
		n = 1
	}
	w.fanOut(w.g.spec.Quant.Dense, w.tokens, w.h, n)
}

// clampedOps are the vector operations an element of an activation with limits.
const clampedOps = 11

// mlp emits gate and up, the activation, and down, for rows × hidden inputs
// that are quantized already.
func (w *walk) mlp(s dtype.Scheme, rows, hidden, inter float64, f *model.FFN) {
	e := w.width()
	cols := 2 * inter
	if f.Ungated {
		cols = inter
	}
	switch {
	case w.g.spec.Compile:
		w.linear(s, rows, hidden, cols, 2)
		w.bias(f.Bias, cols)
		o := w.elementwise(op.SwiGLU, e*rows*(cols+inter))
		if f.Clamped && w.g.spec.Policy.TracedStreams {
			o.Name, o.Vector = op.ClampedSwiGLU, units.Ops(clampedOps*rows*inter)
		}
	default:
		w.linear(s, rows, hidden, inter, 1)
		if !f.Ungated {
			w.linear(s, rows, hidden, inter, 1)
		}
		w.elementwise(op.SiLU, 2*e*rows*inter)
		if !f.Ungated {
			w.elementwise(op.Mul, 3*e*rows*inter)
		}
	}
	w.quantize(s, rows, inter)
	w.linear(s, rows, inter, hidden, 1)
	w.bias(f.Bias, hidden)
}
