package graph

import (
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// normedFeedForward emits a feed-forward part with the norms around it.
func (w Layer) normedFeedForward() {
	s, sole := w.g.spec.Quant.Dense, w.k.Layer.FFN.Kind == model.Dense
	switch {
	case w.k.Layer.Parallel: // the input was normed in front of the mixer
		if !w.g.spec.Compile {
			w.Add(w.Stream, w.Hidden) // fused with the sum at the end otherwise
		}
	case w.k.Layer.Attention.Kind == model.NoAttention:
		w.InputNorm(s, sole)
	default:
		w.addNorm(s, sole)
	}
	w.FeedForward()
	if w.k.Layer.Norms > 2 {
		w.Norm(w.Stream, w.Hidden)
	}
}

// thin emits two unquantized matrices down to a width and up again, what is done
// in between, a norm and the sum.
func (w Layer) thin(width float64) {
	plain := dtype.Unquantized(w.Base)
	w.Linear(plain, w.Stream, w.Hidden, width, 1)
	w.Elementwise(op.Mul, 3*w.Width()*w.Stream*width)
	w.Linear(plain, w.Stream, width, w.Hidden, 1)
	w.Norm(w.Stream, w.Hidden)
	w.Add(w.Stream, w.Hidden)
}

// FeedForward emits the part behind the second norm.
func (w Layer) FeedForward() {
	f := &w.k.Layer.FFN
	if f.Kind == model.MoE {
		Mixture(w).emit(w.k)
		if f.Intermediate > 0 { // a dense part beside the experts
			w.Quantize(w.g.spec.Quant.Dense, w.Tokens, w.Hidden)
			w.MLP(w.g.spec.Quant.Dense, w.Tokens, w.Hidden, w.k.inter, f)
			w.ReduceTP(w.Tokens)
			w.Add(w.Tokens, w.Hidden)
		}
		return
	}
	w.fanIn(f.Ungated)
	w.MLP(w.g.spec.Quant.Dense, w.Tokens, w.Hidden, w.k.inter, f)
	w.ReduceTP(w.Tokens)
}

// fanIn quantizes the input of the dense part where the norm in front has not.
func (w Layer) fanIn(ungated bool) {
	n := 2
	if ungated {
		n = 1
	}
	w.FanOut(w.g.spec.Quant.Dense, w.Tokens, w.Hidden, n)
}
