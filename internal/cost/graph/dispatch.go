package graph

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// fusesDispatch reports whether dispatch, experts and combination are one kernel.
// TensorCast makes it of grouped products, so it needs them.
func (w *walk) fusesDispatch(r *routed) bool {
	s := &w.g.spec
	if !s.DispatchCombine || !s.Compile || s.Layout.EP <= 1 {
		return false
	}
	return !s.Policy.PairwiseCombine || r.divides(s.rowMultiple()) && !r.idle()
}

// dispatchCombine emits the fused kernel that exchanges tokens and runs the
// experts behind one another: the exchanges in the weights' format, the
// products together, one pass over inputs, weights and outputs.
func (w *walk) dispatchCombine(k *kind, r *routed) {
	l, h, s := &w.g.spec.Layout, k.moe.hidden, w.g.spec.Quant.Experts
	format := w.base
	if s.Quantized() {
		format = w.matrixFormat(s)
	}
	if w.g.spec.Policy.PairwiseCombine {
		w.pairwiseCombine(k, r, format)
		return
	}
	x := float64(format.Bytes(w.visits(k, r) * h))
	if w.g.spec.Policy.ExchangedPairs { // even splits, whatever the load of rank 0
		x = float64(format.Bytes(r.pairs*h)) * float64(l.EP-1) / float64(l.EP)
	}
	w.collective(op.AllToAll, op.Exchange, l.EPGroup(), x, 2*x)
	o := w.next(op.Elementwise, op.DispatchCombine)
	o.Launches = -1 // no launch of its own
	o.In = format
	experts := k.moe.local
	if !w.g.spec.Policy.FrontLoaded {
		experts = r.active()
	}
	weights := k.expertWeights()
	o.Matrix = units.Ops(2 * r.recv * weights)
	o.Bytes = units.Bytes(w.width()*2*r.rows*h+indexBytes*r.pairs) + s.Weight.Bytes(experts*weights)
	w.allReduce(w.g.spec.ExpertTP(), r.recv, h)
	w.collective(op.AllToAll, op.Exchange, l.EPGroup(), x, 2*x)
}

// expertWeights is the number of weights of one expert on a rank.
func (k *kind) expertWeights() float64 {
	if k.layer.FFN.Ungated {
		return 2 * k.moe.hidden * k.moe.inter
	}
	return 3 * k.moe.hidden * k.moe.inter
}

// pairwiseCombine is the kernel as TensorCast has it: products of the pairs this rank
// sends, spread evenly over its experts, outputs for each pair, and two even
// exchanges, all one operator.
func (w *walk) pairwiseCombine(k *kind, r *routed, format dtype.Format) {
	l, h, s := &w.g.spec.Layout, k.moe.hidden, w.g.spec.Quant.Experts
	experts := r.active()
	rows := experts * max(1, math.Floor(r.pairs/experts))
	weights := k.expertWeights()
	name := op.DispatchCombine
	o := w.elementwise(name, w.width()*(r.rows+r.pairs)*h+indexBytes*r.pairs)
	o.Launches = -1
	o.In = format
	o.Matrix = units.Ops(2 * rows * weights)
	o.Vector = units.Ops(7 * rows * k.moe.inter)
	o.Bytes += s.Weight.Bytes(experts * weights)
	if s.Quantized() {
		o.Name = op.DispatchCombineQuant
		o.Bytes += units.Bytes(2 * scaleBytes * experts)
	}
	name = o.Name
	ep := float64(l.EP)
	x := float64(format.Bytes(max(1, math.Floor(r.pairs/ep)) * (ep - 1) * h))
	for range 2 {
		w.collective(op.AllToAll, name, l.EPGroup(), x, 2*float64(format.Bytes(r.pairs*h)))
		w.items[len(w.items)-1].Continues = true
	}
}
