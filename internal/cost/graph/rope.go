package graph

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// rotated is the part of a head that rotary tables are for.
func (s *Spec) rotated(a *model.Attention) float64 {
	if a.RopeStated && s.Policy.WholeRope || s.tracesCompression(a) {
		return float64(a.HeadDim)
	}
	return float64(a.RopeDim)
}

// rope emits the rotation of queries and keys.
func (w *walk) rope(k *kind, a *model.Attention) {
	r, d := w.g.spec.rotated(a), float64(a.HeadDim)
	if r == 0 {
		return
	}
	t, e, hk := w.tokens, w.width(), k.hk
	if a.SharedKV {
		hk = 0
	}
	switch p := &w.g.spec.Policy; {
	case !w.g.spec.Compile, r < d && p.TracedRope:
		w.tracedRope(t, k.hq, r)
		w.tracedRope(t, hk, r)
	default:
		n := t * (k.hq + hk) * r
		o := w.elementwise(op.Rope, e*(2*n+2*t*r))
		o.Vector = units.Ops(3 * n)
	}
	// Code that rotates a part joins an empty rest too, which a compiler drops.
	if r < d || !w.g.spec.Compile && float64(a.RopeDim) < d {
		w.joinRotated(k.hq, hk, d)
		w.layOut(k.hq, d)
		w.layOut(hk, d)
	}
}

// joinRotated joins the rotated and the passed part of queries and keys again,
// where that is an operator of its own.
func (w *walk) joinRotated(hq, hk, d float64) {
	if w.g.spec.Policy.JoinedRope {
		w.cat(w.tokens * hq * d)
		w.cat(w.tokens * hk * d)
	}
}

// layOut copies heads whose parts were joined head by head into rows of tokens; one
// head or one token lies there already.
func (w *walk) layOut(heads, d float64) {
	if w.g.spec.Policy.TracedRope && heads > 1 && w.tokens > 1 {
		w.elementwise(op.Clone, 2*w.width()*w.tokens*heads*d)
	}
}

// tracedRope rotates one tensor in five operators.
func (w *walk) tracedRope(t, heads, r float64) {
	if heads == 0 {
		return
	}
	n, e := t*heads*r, w.width()
	w.elementwise(op.Mul, e*(2*n+t*r))
	w.elementwise(op.Neg, e*n)
	w.elementwise(op.Cat, 2*e*n)
	w.elementwise(op.Mul, e*(2*n+t*r))
	w.elementwise(op.Add, 3*e*n)
}
