package graph

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// Shipment is the bytes of an exchange: what crosses the link, and what is read and
// written around it.
type Shipment struct{ Payload, Traffic float64 }

// Dispatch emits the exchange that brings tokens to the ranks of their experts, and
// returns the one that brings results back. A token goes once to each rank that has
// any of its experts, in the format they compute in, and comes back once from each,
// their results added up (as DeepEP and TensorRT-LLM's kernels do).
func (w Mixture) Dispatch(k *Kind, r *Routed) (back Shipment) {
	spec, h := &w.g.spec, k.Experts.Hidden
	group, s := spec.Layout.EPGroup(), spec.Quant.Experts
	if spec.Layout.EP == 1 {
		return back
	}
	sent := w.Visits(k, r) * h
	format := w.MatrixFormat(s)
	if r.Narrow = format != w.Base && spec.Compile; r.Narrow {
		w.Quantize(s, r.Rows, h)
	} else {
		format = w.Base
	}
	out := float64(format.Bytes(sent))
	w.Collective(op.AllToAll, op.Exchange, group, out, 2*out)
	wide := float64(w.Base.Bytes(sent))
	return Shipment{wide, 2 * wide}
}

// FusesDispatch reports whether dispatch, experts and combination are one kernel.
func (s *Spec) FusesDispatch() bool { return s.DispatchCombine && s.Compile && s.Layout.EP > 1 }

// DispatchFormat is the format of tokens in the fused kernel.
func (w Mixture) DispatchFormat() dtype.Format {
	if s := w.g.spec.Quant.Experts; s.Quantized() {
		return w.MatrixFormat(s)
	}
	return w.Base
}

// DispatchCombine emits the fused kernel that exchanges tokens and runs the
// experts behind one another: two exchanges of so many bytes in the weights' format, the
// products together, one pass over inputs, the weights of so many experts and outputs.
func (w Mixture) DispatchCombine(k *Kind, r *Routed, exchanged, experts float64) {
	l, h, s, format := &w.g.spec.Layout, k.Experts.Hidden, w.g.spec.Quant.Experts, w.DispatchFormat()
	w.Collective(op.AllToAll, op.Exchange, l.EPGroup(), exchanged, 2*exchanged)
	o := w.Next(op.Elementwise, op.DispatchCombine)
	o.Launches = -1 // no launch of its own
	o.In = format
	weights := k.ExpertWeights()
	o.Matrix = units.Ops(2 * r.Received * weights)
	o.Bytes = units.Bytes(w.Width()*2*r.Rows*h+IndexBytes*r.Pairs) + s.Weight.Bytes(experts*weights)
	w.AllReduce(w.g.spec.ExpertTP(), r.Received, h)
	w.Collective(op.AllToAll, op.Exchange, l.EPGroup(), exchanged, 2*exchanged)
}

// ExpertWeights is the number of weights of one expert on a rank.
func (k *Kind) ExpertWeights() float64 {
	if k.Layer.FFN.Ungated {
		return 2 * k.Experts.Hidden * k.Experts.Inner
	}
	return 3 * k.Experts.Hidden * k.Experts.Inner
}
