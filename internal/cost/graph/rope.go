package graph

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
)

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
