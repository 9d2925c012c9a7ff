package tensorcast

import (
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// mixer emits attention whose layer as a whole is TensorCast's own.
func (w cast) mixer(p graph.Part) bool {
	switch a := &p.Kind.Layer.Attention; {
	case w.Spec().TracesCompression(a):
		w.Norm(w.Stream, w.Hidden)
		compressed{w}.emit(p.Kind, a)
	case w.Spec().OpaqueDelta(a):
		w.Norm(w.Tokens, w.Hidden)
		delta{w}.linearAttention(a)
	default:
		return false
	}
	return true
}

// recall emits what of such attention looks at earlier steps.
func (w cast) recall(p graph.Part) bool {
	a := &p.Kind.Layer.Attention
	if !w.Spec().TracesCompression(a) {
		return false
	}
	compressed{w}.attend(p.Kind, a)
	return true
}

// norm emits a norm that scales by one plus its weight as the source writes it.
func (w cast) norm(p graph.Part) bool {
	w.TracedNorm(p.Rows, p.Cols, true)
	return true
}

// index reads the whole table that a compiled selection of rows is from.
func (w cast) index(p graph.Part) bool {
	w.Elementwise(op.Index, w.Width()*(p.Table+p.Rows)*p.Cols+indexBytes*p.Rows)
	return true
}

// grouped is grouped-query attention.
type grouped struct{ cast }

// projectQKV leaves MXFP4 queries apart: only products with scales of one shape are
// joined.
func (w grouped) projectQKV(p graph.Part) bool {
	s := w.Spec().Quant.Attention
	q, keys, values := p.Kind.QKV()
	if keys == 0 {
		return false
	}
	w.Linear(s, w.Tokens, w.Hidden, q, 1)
	w.Linear(s, w.Tokens, w.Hidden, keys+values, 2)
	return true
}

// sumSquares leaves a norm over all heads to each rank's own.
func (w grouped) sumSquares(graph.Part) bool { return true }

// outGate emits the gate on attention's output, first copied out of the joined product,
// where it lies between the queries of each head.
func (w grouped) outGate(p graph.Part) bool {
	k := p.Kind
	e, n := w.Width(), w.Tokens*k.Queries*float64(k.Layer.Attention.ValueDim)
	if k.Queries > 1 {
		w.Elementwise(op.Clone, 2*e*n)
	}
	w.Elementwise(op.Sigmoid, 2*e*n)
	w.Elementwise(op.Mul, 3*e*n)
	return true
}

// rope emits the rotation of queries and keys. A part of each head is rotated by
// elementwise operators, and joined with the rest by another.
func (w grouped) rope(p graph.Part) bool {
	k, a := p.Kind, &p.Kind.Layer.Attention
	r, d, keys := w.Spec().Rotated(a), float64(a.HeadDim), p.Kind.Keys
	if r == 0 {
		return true
	}
	if a.SharedKV {
		keys = 0
	}
	if !w.Spec().Compile || r < d && w.does.has(tracedRope) {
		w.TracedRope(k.Queries, r)
		w.TracedRope(keys, r)
	} else {
		w.FusedRope(k.Queries+keys, r)
	}
	// Code that rotates a part joins an empty rest too, which a compiler drops.
	if r < d || !w.Spec().Compile && float64(a.RopeDim) < d {
		if w.does.has(joinedRope) {
			w.Cat(w.Tokens * k.Queries * d)
			w.Cat(w.Tokens * keys * d)
		}
		w.layOut(k.Queries, d)
		w.layOut(keys, d)
	}
	return true
}

// layOut copies heads whose parts were joined head by head into rows of tokens; one
// head or one token lies there already.
func (w grouped) layOut(heads, d float64) {
	if w.does.has(tracedRope) && heads > 1 && w.Tokens > 1 {
		w.Elementwise(op.Clone, 2*w.Width()*w.Tokens*heads*d)
	}
}

// attended amends the attention just emitted.
func (w cast) attended(p graph.Part) bool {
	a := &p.Kind.Layer.Attention
	if a.Kind == model.MLA {
		latent{w}.attended(a, w.Emitted())
	} else if w.does.quantizesAttention(w.Spec()) {
		w.Emitted().In = dtype.INT8
	}
	return true
}
