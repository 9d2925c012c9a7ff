package tensorcast

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// dispatch emits the exchange that brings tokens to the ranks of their experts, and
// returns the one that brings results back: a token goes once for each expert, both times
// wide.
func (w mixture) dispatch(k *graph.Kind, r *routed) (back graph.Shipment) {
	if !w.Spec().Policy.ExchangedPairs {
		return w.physical().Dispatch(k, &r.Routed)
	}
	e, h := w.Width(), k.Experts.Hidden
	back = graph.Shipment{Payload: e * h * max(r.Pairs-r.Mine, r.Received-r.Mine), Traffic: e * h * (r.Pairs + r.Received)}
	w.Collective(op.AllToAll, op.Exchange, w.Spec().Layout.EPGroup(), back.Payload, back.Traffic)
	w.loosen()
	return back
}

// fusesDispatch reports whether dispatch, experts and combination are one kernel, which is
// made of grouped products and needs them.
func (w mixture) fusesDispatch(r *routed) bool {
	return w.Spec().FusesDispatch() && (!w.does.has(pairwiseCombine) || r.divides(w.rowMultiple()) && !r.idle())
}

// dispatchCombine emits the fused kernel that exchanges tokens and runs the experts. Even
// splits of all pairs are exchanged, whatever the load of rank 0.
func (w mixture) dispatchCombine(k *graph.Kind, r *routed) {
	format := w.physical().DispatchFormat()
	if w.does.has(pairwiseCombine) {
		w.pairwiseCombine(k, r, format)
		return
	}
	ep, h := float64(w.Spec().Layout.EP), k.Experts.Hidden
	x := float64(format.Bytes(w.physical().Visits(k, &r.Routed) * h))
	if w.Spec().Policy.ExchangedPairs {
		x = float64(format.Bytes(r.Pairs*h)) * (ep - 1) / ep
	}
	experts := k.Experts.Local
	if !w.does.has(frontLoaded) {
		experts = r.Active
	}
	w.physical().DispatchCombine(k, &r.Routed, x, experts)
}

// pairwiseCombine is the kernel as TensorCast has it: products of the pairs this rank
// sends, spread evenly over its experts, outputs for each pair, and two even
// exchanges, all one operator.
func (w mixture) pairwiseCombine(k *graph.Kind, r *routed, format dtype.Format) {
	l, h, s := w.Spec().Layout, k.Experts.Hidden, w.Spec().Quant.Experts
	experts := r.Active
	rows := experts * max(1, math.Floor(r.Pairs/experts))
	weights := k.ExpertWeights()
	name := op.DispatchCombine
	o := w.Elementwise(name, w.Width()*(r.Rows+r.Pairs)*h+indexBytes*r.Pairs)
	o.Launches = -1
	o.In = format
	o.Matrix = units.Ops(2 * rows * weights)
	o.Vector = units.Ops(7 * rows * k.Experts.Inner)
	o.Bytes += s.Weight.Bytes(experts * weights)
	if s.Quantized() {
		o.Name = op.DispatchCombineQuant
		o.Bytes += units.Bytes(2 * scaleBytes * experts)
	}
	name = o.Name
	ep := float64(l.EP)
	x := float64(format.Bytes(max(1, math.Floor(r.Pairs/ep)) * (ep - 1) * h))
	for range 2 {
		w.Collective(op.AllToAll, name, l.EPGroup(), x, 2*float64(format.Bytes(r.Pairs*h)))
		w.Items[len(w.Items)-1].Continues = true
	}
}
