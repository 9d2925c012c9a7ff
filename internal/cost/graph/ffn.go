package graph

import (
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// layer emits one decoder layer.
func (w *Walk) layer(k *Kind) {
	if w.rewrites(AtWholeLayer, k) {
		return
	}
	a := k.Layer.Attention.Kind
	if a == model.Cross && w.images.Count == 0 {
		return // text passes it by
	}
	w.Attention(k)
	if n := k.Layer.LowRank; n > 0 {
		w.thin(float64(n))
	}
	if a != model.NoAttention && k.Layer.Norms > 2 {
		w.Norm(w.Stream, w.Hidden) // behind the mixer, before the residual sum
	}
	if k.Layer.FFN.Kind != model.NoFFN {
		w.normedFeedForward(k)
	}
	if !w.rewrites(AtLayerSum, nil) {
		w.Add(w.Stream, w.Hidden)
	}
	if n := k.Layer.Input; n > 0 {
		w.thin(float64(n))
	}
	if n := k.Layer.Streams; n > 1 {
		// Mixing n residual streams reads and writes them around each part.
		w.Elementwise(op.Add, 4*w.Width()*w.Stream*w.Hidden*float64(n))
	}
}

// normedFeedForward emits a feed-forward part with the norms around it.
func (w *Walk) normedFeedForward(k *Kind) {
	s, sole := w.g.spec.Quant.Dense, k.Layer.FFN.Kind == model.Dense
	switch {
	case k.Layer.Parallel: // the input was normed in front of the mixer
		if !w.g.spec.Compile {
			w.Add(w.Stream, w.Hidden) // fused with the sum at the end otherwise
		}
	case k.Layer.Attention.Kind == model.NoAttention:
		w.InputNorm(s, sole)
	default:
		w.addNorm(s, sole)
	}
	w.FeedForward(k)
	if k.Layer.Norms > 2 {
		w.Norm(w.Stream, w.Hidden)
	}
}

// thin emits two unquantized matrices down to a width and up again, what is done
// in between, a norm and the sum.
func (w *Walk) thin(width float64) {
	plain := dtype.Unquantized(w.Base)
	w.Linear(plain, w.Stream, w.Hidden, width, 1)
	w.Elementwise(op.Mul, 3*w.Width()*w.Stream*width)
	w.Linear(plain, w.Stream, width, w.Hidden, 1)
	w.Norm(w.Stream, w.Hidden)
	w.Add(w.Stream, w.Hidden)
}

// FeedForward emits the part behind the second norm.
func (w *Walk) FeedForward(k *Kind) {
	f := &k.Layer.FFN
	if f.Kind == model.MoE {
		w.moe(k)
		if f.Intermediate > 0 { // a dense part beside the experts
			w.Quantize(w.g.spec.Quant.Dense, w.Tokens, w.Hidden)
			w.MLP(w.g.spec.Quant.Dense, w.Tokens, w.Hidden, k.inter, f)
			w.ReduceTP(w.Tokens)
			w.Add(w.Tokens, w.Hidden)
		}
		return
	}
	w.fanIn(f.Ungated)
	w.MLP(w.g.spec.Quant.Dense, w.Tokens, w.Hidden, k.inter, f)
	w.ReduceTP(w.Tokens)
}

// fanIn quantizes the input of the dense part where the norm in front has not.
func (w *Walk) fanIn(ungated bool) {
	n := 2
	if ungated {
		n = 1
	}
	w.FanOut(w.g.spec.Quant.Dense, w.Tokens, w.Hidden, n)
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
