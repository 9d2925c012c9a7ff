package graph

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// rope emits the rotation of queries and keys.
func (w *Walk) rope(k *Kind, a *model.Attention) {
	r := float64(a.RopeDim)
	if w.rewrites(AtRope, k) || r == 0 {
		return
	}
	keys := k.Keys
	if a.SharedKV {
		keys = 0
	}
	if w.g.spec.Compile {
		w.FusedRope(k.Queries+keys, r)
		return
	}
	w.TracedRope(k.Queries, r)
	w.TracedRope(keys, r)
}

// FusedRope rotates r elements of each head of queries and keys in one operator.
func (w *Walk) FusedRope(heads, r float64) {
	n := w.Tokens * heads * r
	o := w.Elementwise(op.Rope, w.Width()*(2*n+2*w.Tokens*r))
	o.Vector = units.Ops(3 * n)
}

// TracedRope rotates one tensor in five operators.
func (w *Walk) TracedRope(heads, r float64) {
	if heads == 0 {
		return
	}
	t, e := w.Tokens, w.Width()
	n := t * heads * r
	w.Elementwise(op.Mul, e*(2*n+t*r))
	w.Elementwise(op.Neg, e*n)
	w.Elementwise(op.Cat, 2*e*n)
	w.Elementwise(op.Mul, e*(2*n+t*r))
	w.Elementwise(op.Add, 3*e*n)
}
