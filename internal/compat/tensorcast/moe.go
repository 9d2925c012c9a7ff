package tensorcast

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// routed is how a rank's tokens meet the experts. Local experts are in two classes of
// equal load.
type routed struct {
	graph.Routed
	many, few         float64 // experts in each class
	manyRows, fewRows float64 // rows of each expert in it
}

// mixture is a mixture of experts: who gets which tokens, the experts, and the sum of their outputs.
type mixture struct{ cast }

// physical is the operators as kernels have them.
func (w mixture) physical() graph.Mixture { return graph.Mixture{Walk: w.Walk} }

// emit is the whole of a mixture of experts, from the norm's output to the hidden states
// before the residual sum.
func (w mixture) emit(p graph.Part) bool {
	k, m := p.Kind, w.meet()
	w.AllGather(m.Gather, w.Tokens, w.Hidden)
	if router(w).scoresFirst(&k.Layer.FFN) && m.Slice.Size > 1 {
		router(w).choose(k, w.Tokens, m.Rows, m.Padded) // before the tokens are divided
		w.padTokens(&m)
	} else {
		w.padTokens(&m)
		router(w).choose(k, m.Rows, m.Rows, m.Rows)
	}
	if !w.Spec().SharedExpertTP {
		rows := m.Rows
		if !w.does.has(unevenTokens) {
			rows = min(rows, w.Tokens)
		}
		w.physical().SharedExperts(k, rows)
	}
	w.Branch = 2
	w.routedExperts(k, m.Rows)
	w.AllGather(m.Slice, m.Rows, w.Hidden)
	w.Branch = 0
	if w.Spec().SharedExpertTP {
		w.physical().SharedExperts(k, w.Tokens)
	}
	return true
}

// meet finds how tokens come to the experts, by EP and DP alone.
func (w mixture) meet() graph.Meeting {
	if !w.does.has(unevenTokens) {
		return w.physical().Meet()
	}
	var m graph.Meeting
	l := &w.Spec().Layout
	if l.EP > 1 && l.DP != l.EP {
		m.Slice = l.TPGroup()
	}
	if l.EP == 1 {
		m.Gather = l.DPGroup()
	}
	return m.Divide(w.Tokens)
}

// padTokens emits the filling up of the tokens to equal shares.
func (w mixture) padTokens(m *graph.Meeting) {
	if m.Padded > w.Tokens && w.does.has(paddedTokens) {
		w.Elementwise(op.Pad, w.Width()*(w.Tokens+m.Padded)*w.Hidden)
	}
}

// route deals rows tokens to the experts, starting with the first.
func (w mixture) route(k *graph.Kind, rows float64) routed {
	f := &k.Layer.FFN
	ep := float64(w.Spec().Layout.EP)
	if !w.does.has(frontLoaded) {
		r := routed{Routed: w.physical().Dealt(k, rows, ep)}
		r.many, r.manyRows = r.Active, r.Received/r.Active
		return r
	}
	e, local := float64(f.Experts), k.Experts.Local
	var r routed
	r.Rows, r.Pairs = rows, rows*float64(f.TopK)
	base := math.Floor(r.Pairs / e)
	extra := r.Pairs - base*e
	r.many = min(local, extra)
	r.few = local - r.many
	r.manyRows, r.fewRows = (base+1)*ep, base*ep
	r.Received = r.many*r.manyRows + r.few*r.fewRows
	r.Mine = r.Received / ep
	r.Active = r.many
	if r.fewRows > 0 {
		r.Active += r.few
	}
	return r
}

// routedExperts emits dispatch, the experts and the combination.
func (w mixture) routedExperts(k *graph.Kind, rows float64) {
	l, e := &w.Spec().Layout, w.Width()
	f, h := &k.Layer.FFN, k.Experts.Hidden
	if f.Latent > 0 {
		w.Linear(dtype.Unquantized(w.Base), rows, w.Hidden, h, 1)
	}
	r := w.route(k, rows)
	fused := w.fusesDispatch(&r)
	if fused {
		w.dispatchCombine(k, &r)
	} else {
		w.Elementwise(op.InitRouting, e*(r.Rows+r.Pairs)*h+indexBytes*r.Pairs)
		back := w.dispatch(k, &r)
		w.experts(k, &r)
		w.Collective(op.AllToAll, op.Exchange, l.EPGroup(), back.Payload, back.Traffic)
	}
	w.combine(k, &r, fused)
	if f.Latent > 0 {
		w.Linear(dtype.Unquantized(w.Base), rows, h, w.Hidden, 1)
	}
}

// sharedGate emits the gate on the shared experts' output. Quantized, a compiler joins it
// to their first product.
func (w mixture) sharedGate(p graph.Part) bool {
	s := w.Spec().Quant.Shared
	if !w.does.has(quantizedGates) {
		s = dtype.Unquantized(w.Base)
	}
	if w.does.has(quantizedGates) && w.Spec().Compile && s.Weight != dtype.FP4 {
		w.Items[p.First].Op.Cols++
	} else {
		w.FanOut(s, p.Rows, w.Hidden, 1)
		w.Linear(s, p.Rows, w.Hidden, 1, 1)
	}
	if w.does.has(tracedGates) {
		w.Elementwise(op.Sigmoid, 2*w.Width()*p.Rows)
	}
	w.Elementwise(op.Mul, w.Width()*(2*p.Rows*w.Hidden+p.Rows))
	return true
}

// sharedSum adds the shared experts' output to the routed ones', before that is
// narrowed where it is wide.
func (w mixture) sharedSum(p graph.Part) bool {
	if !router(w).wideCombine(p.FFN) || w.Spec().SharedExpertTP {
		return false
	}
	w.Elementwise(op.Add, (2*f32+w.Width())*p.Rows*w.Hidden)
	return true
}
