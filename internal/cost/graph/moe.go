package graph

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// routed is how a rank's tokens meet the experts in one step.
type routed struct {
	rows  float64 // tokens this rank routes
	pairs float64 // token-expert pairs it sends
	mine  float64 // of those, for its own experts
	recv  float64 // pairs its experts receive from the whole group

	// Local experts in two classes of equal load.
	many, few         float64 // experts in each class
	manyRows, fewRows float64 // rows of each expert in it
	narrow            bool    // rows arrive in the experts' format
	deal              op.Deal // if they were chosen at random
}

// active is the number of local experts with any row.
func (r *routed) active() float64 {
	n := r.many
	if r.fewRows > 0 {
		n += r.few
	}
	return n
}

// moe emits a mixture of experts, from the norm's output to the hidden states
// before the residual sum.
func (w *walk) moe(k *kind) {
	if w.g.spec.addsUp() {
		w.addedExperts(k)
		return
	}
	m := w.meet()
	w.allGather(m.gather, w.tokens, w.h)
	if w.scoresFirst(&k.layer.FFN) && m.slice.Size > 1 {
		w.router(k, w.tokens, m.rows, m.padded) // before the tokens are divided
		w.padTokens(&m)
	} else {
		w.padTokens(&m)
		w.router(k, m.rows, m.rows, m.rows)
	}
	if !w.g.spec.SharedExpertTP {
		rows := m.rows
		if !w.g.spec.Policy.UnevenTokens {
			rows = min(rows, w.tokens) // a rank's own tokens, not those it fetched
		}
		w.sharedExperts(k, rows)
	}
	w.br = 2
	w.routedExperts(k, m.rows)
	w.allGather(m.slice, m.rows, w.h)
	w.br = 0
	if w.g.spec.SharedExpertTP {
		w.sharedExperts(k, w.tokens)
	}
}

// addedExperts emits a mixture whose ranks hold the same tokens: each runs its
// experts, or slices of them, on the tokens that chose them and adds up their
// results and its part of the shared experts'; then the parts are summed.
func (w *walk) addedExperts(k *kind) {
	f, e := &k.layer.FFN, w.width()
	w.router(k, w.tokens, w.tokens, w.tokens)
	fused := w.g.spec.fusesShared(f)
	if !fused {
		w.sharedExperts(k, w.tokens)
	}
	w.br = 2
	h := k.moe.hidden
	if f.Latent > 0 {
		w.linear(dtype.Unquantized(w.base), w.tokens, w.h, h, 1)
	}
	r := w.dealt(k, w.tokens, 1)
	if fused { // every token chooses it too
		r.recv, r.many = r.recv+w.tokens, r.many+1
		r.manyRows = r.recv / r.many
	}
	w.elementwise(op.InitRouting, e*(r.rows+r.recv)*h+indexBytes*r.recv)
	if w.g.spec.Compile {
		w.groupedExperts(k, &r)
	} else {
		w.separateExperts(k, r.many, r.manyRows, 0, false)
	}
	w.elementwise(op.Unpermute, e*(r.recv+r.rows)*h+(e+indexBytes)*r.recv)
	if f.Latent > 0 {
		w.linear(dtype.Unquantized(w.base), w.tokens, h, w.h, 1)
	}
	w.allReduce(w.g.spec.Layout.TPGroup(), w.tokens, w.h)
	w.br = 0
}

// fusesShared reports whether the shared expert is computed among the others, which must be alike and on every rank.
func (s *Spec) fusesShared(f *model.FFN) bool {
	return s.FusesShared && s.Compile && s.Layout.EP == 1 && f.SharedIntermediate == f.ExpertIntermediate && !f.SharedGate && f.Latent == 0 &&
		s.Quant.Shared == s.Quant.Experts
}

// padTokens emits the filling up of the tokens to equal shares, where that is an
// operator of its own.
func (w *walk) padTokens(m *meeting) {
	if m.padded > w.tokens && w.g.spec.Policy.PaddedTokens {
		w.elementwise(op.Pad, w.width()*(w.tokens+m.padded)*w.h)
	}
}

// convert emits a change of format; eager and compiled traces name it apart.
func (w *walk) convert(bytes float64) {
	name := op.Convert
	if !w.g.spec.Compile {
		name = op.ToCopy
	}
	w.elementwise(name, bytes)
}

// route deals rows tokens to the experts.
func (w *walk) route(k *kind, rows float64) routed {
	f := &k.layer.FFN
	ep := float64(w.g.spec.Layout.EP)
	e, local := float64(f.Experts), k.moe.local
	if !w.g.spec.Policy.FrontLoaded {
		return w.dealt(k, rows, ep)
	}
	r := routed{rows: rows, pairs: rows * float64(f.TopK)}
	base := math.Floor(r.pairs / e)
	extra := r.pairs - base*e
	r.many = min(local, extra)
	r.few = local - r.many
	r.manyRows, r.fewRows = (base+1)*ep, base*ep
	r.recv = r.many*r.manyRows + r.few*r.fewRows
	r.mine = r.recv / ep
	return r
}

// dealt lets rows tokens of each of a number of ranks choose experts at random: this
// is the rank whose experts are chosen most.
func (w *walk) dealt(k *kind, rows, ranks float64) routed {
	r := routed{rows: rows, pairs: rows * float64(k.layer.FFN.TopK), deal: k.moe.deal}
	r.mine = k.moe.dealt.Even(rows)
	r.recv, r.many = k.moe.dealt.Busiest(rows * ranks)
	r.manyRows = r.recv / r.many
	return r
}

// routedExperts emits dispatch, the experts and the combination.
func (w *walk) routedExperts(k *kind, rows float64) {
	l, e := &w.g.spec.Layout, w.width()
	f := &k.layer.FFN
	h := k.moe.hidden
	if f.Latent > 0 {
		w.linear(dtype.Unquantized(w.base), rows, w.h, h, 1)
	}
	r := w.route(k, rows)
	fused := w.fusesDispatch(&r)
	if fused {
		w.dispatchCombine(k, &r)
	} else {
		w.elementwise(op.InitRouting, e*(r.rows+r.pairs)*h+indexBytes*r.pairs)
		back := w.dispatch(k, &r)
		w.experts(k, &r)
		w.collective(op.AllToAll, op.Exchange, l.EPGroup(), back.payload, back.traffic)
	}
	w.combine(k, &r, fused)
	if f.Latent > 0 {
		w.linear(dtype.Unquantized(w.base), rows, h, w.h, 1)
	}
}

// shipment is the bytes of an exchange: what crosses the link, and what is read and
// written around it.
type shipment struct{ payload, traffic float64 }

// dispatch emits the exchange that brings tokens to the ranks of their experts, and
// returns the one that brings results back. A token goes once to each rank that has
// any of its experts, in the format they compute in, and comes back once from each,
// their results added up (as DeepEP and TensorRT-LLM's kernels do); TensorCast sends
// it once for each expert, both times wide.
func (w *walk) dispatch(k *kind, r *routed) (back shipment) {
	spec, h := &w.g.spec, k.moe.hidden
	group, s := spec.Layout.EPGroup(), spec.Quant.Experts
	if spec.Policy.ExchangedPairs {
		e := w.width()
		back = shipment{e * h * max(r.pairs-r.mine, r.recv-r.mine), e * h * (r.pairs + r.recv)}
		w.collective(op.AllToAll, op.Exchange, group, back.payload, back.traffic)
		w.loosen()
		return back
	}
	if spec.Layout.EP == 1 {
		return back
	}
	sent := w.visits(k, r) * h
	format := w.matrixFormat(s)
	if r.narrow = format != w.base && spec.Compile; r.narrow {
		w.quantize(s, r.rows, h)
	} else {
		format = w.base
	}
	out := float64(format.Bytes(sent))
	w.collective(op.AllToAll, op.Exchange, group, out, 2*out)
	wide := float64(w.base.Bytes(sent))
	return shipment{wide, 2 * wide}
}

// visits is how often tokens go to another rank, each at most once to every one: a
// rank is passed by when none of a token's experts is there.
func (w *walk) visits(k *kind, r *routed) float64 {
	f := &k.layer.FFN
	there := -math.Expm1(float64(f.TopK) * math.Log1p(-k.moe.local/float64(f.Experts)))
	return r.rows * float64(w.g.spec.Layout.EP-1) * there
}

// experts emits the products of the local experts, grouped where possible.
func (w *walk) experts(k *kind, r *routed) {
	spec, l, h := &w.g.spec, &w.g.spec.Layout, k.moe.hidden
	fragile := spec.Policy.FragileGrouping
	gathered := fragile && l.EP > 1 && l.MoETP > 1 && l.MoETP != l.TP
	multiple := spec.rowMultiple()
	switch {
	case !spec.Compile && l.EP > 1:
		w.eagerRegroup(k, r)
	case l.EP > 1 && r.idle():
		w.cat(r.recv * h)
	}
	if spec.Compile && !gathered && r.divides(multiple) {
		w.groupedExperts(k, r)
		w.allReduce(spec.ExpertTP(), r.summed(spec), h)
		w.loosen()
	} else {
		w.separateExperts(k, r.many, r.manyRows, multiple, gathered)
		w.separateExperts(k, r.few, r.fewRows, multiple, gathered)
	}
	if spec.Policy.FragmentedRouter {
		w.cat(r.recv * h)
	}
}

// rowMultiple is what TensorCast fills each expert's rows up to a multiple of;
// 0 is no such need. Rows dealt at random are averages, whose divisibility says
// nothing.
func (s *Spec) rowMultiple() float64 {
	switch {
	case !s.Policy.FragileGrouping || !s.Policy.FrontLoaded:
		return 0
	case s.Layout.EP == 1:
		return float64(s.ExpertTP().Size)
	}
	return float64(s.Layout.TP)
}

// idle reports whether some local expert has no row.
func (r *routed) idle() bool { return r.few > 0 && r.fewRows == 0 }

// divides reports whether every active expert's rows are a multiple of n.
func (r *routed) divides(n float64) bool {
	ok := func(experts, rows float64) bool { return n == 0 || experts == 0 || math.Mod(rows, n) == 0 }
	return ok(r.many, r.manyRows) && ok(r.few, r.fewRows)
}

// eagerRegroup joins each expert's rows from all ranks, then all experts'.
func (w *walk) eagerRegroup(k *kind, r *routed) {
	h, n := k.moe.hidden, w.n
	for _, c := range [2]struct{ experts, rows float64 }{{r.many, r.manyRows}, {r.few, r.fewRows}} {
		if c.experts == 0 || c.rows == 0 {
			continue
		}
		w.n = n * c.experts
		w.cat(c.rows * h)
	}
	w.n = n
	w.cat(r.recv * h)
}

// summed is the rows that slices of experts are summed for: pairs as they are,
// or, where nothing is sent back to other ranks, combined tokens.
func (r *routed) summed(s *Spec) float64 {
	if s.Policy.ExchangedPairs || s.Layout.EP > 1 {
		return r.recv
	}
	return r.rows
}

// groupedExperts emits both products of all active experts as two kernels.
func (w *walk) groupedExperts(k *kind, r *routed) {
	s, h := w.g.spec.Quant.Experts, k.moe.hidden
	inter := k.moe.inter
	if !r.narrow {
		w.quantize(s, r.recv, h)
	}
	up := 2 * inter
	if k.layer.FFN.Ungated {
		up = inter
	}
	w.grouped(s, r.recv, r.active(), h, up, inter).Deal = r.deal
	if s.Weight == dtype.FP4 && w.g.spec.Policy.NarrowingExperts {
		w.narrowOutput(s)
	} else {
		w.quantize(s, r.recv, inter)
	}
	w.grouped(s, r.recv, r.active(), inter, h, 0).Deal = r.deal
}

// narrowOutput quantizes what the product just emitted yields, in it.
func (w *walk) narrowOutput(s dtype.Scheme) {
	o := &w.items[len(w.items)-1].Op
	scales := o.Rows * math.Ceil(o.OutCols/float64(s.Group))
	o.Name, o.Out = op.GroupedMatMulFP4SwiGLUQuant, s.Weight
	o.Bytes += units.Bytes(scales)
	o.Vector += units.Ops(2*o.Rows*o.OutCols + scales)
}

// grouped emits one product of rows over several matrices; fused is the width
// behind the activation fused into it, 0 for none.
func (w *walk) grouped(s dtype.Scheme, rows, matrices, depth, cols, fused float64) *op.Op {
	o := w.next(op.GroupedGEMM, op.GroupedMatMul)
	o.Rows, o.Depth, o.Cols, o.OutCols = rows, depth, cols, fused
	o.Experts = matrices
	o.Out = w.base
	w.quantizedProduct(o, s, o.Experts)
	if s.Weight == dtype.FP4 && s.Group > 0 && w.g.spec.Policy.QuantizedActivations {
		// Every expert's entry carries the scales of all rows, and a product joined
		// of two those of one.
		joined := 1.0
		if fused > 0 && cols > fused {
			joined = 2
		}
		o.Bytes = units.Bytes(matrices * (rows + cols/joined) * math.Ceil(depth/float64(s.Group)))
	}
	o.Name = w.groupedName(s, fused > 0)
	if fused > 0 {
		o.Vector += units.Ops(7 * rows * fused)
	}
	return o
}

// groupedName is the name of a grouped product, with an activation behind it or
// without.
func (w *walk) groupedName(s dtype.Scheme, fused bool) op.Name {
	switch {
	case !s.Quantized() && fused:
		return op.GroupedMatMulSwiGLU
	case !s.Quantized():
		return op.GroupedMatMul
	case s.Weight == dtype.FP4 && !fused && w.g.spec.Policy.NarrowingExperts:
		return op.GroupedMatMulFP4
	case fused:
		return op.GroupedMatMulQuantSwiGLU
	}
	return op.GroupedMatMulQuant
}

// separateExperts emits n experts of rows tokens each, one after another, the
// rows filled up to a multiple.
func (w *walk) separateExperts(k *kind, n, rows, multiple float64, gathered bool) {
	if n == 0 || rows == 0 {
		return
	}
	s, h, inter := w.g.spec.Quant.Experts, k.moe.hidden, k.moe.inter
	f := &k.layer.FFN
	outer := w.n
	w.n = outer * n
	padded := rows
	if multiple > 0 {
		padded = math.Ceil(rows/multiple) * multiple
	}
	if padded > rows {
		w.elementwise(op.Pad, w.width()*(rows+padded)*h)
	}
	if gathered {
		w.gatheredExpert(k, padded)
	} else {
		w.quantize(s, padded, h)
		if !w.g.spec.Compile && !f.Ungated {
			w.quantize(s, padded, h)
		}
		w.mlp(s, padded, h, inter, f)
		if !w.g.spec.addsUp() { // else all parts are summed at once, in the end
			w.reduceProduct(w.g.spec.ExpertTP(), padded, h)
		}
	}
	w.n = outer
}

// gatheredExpert emits one expert whose slices live in another group than its
// tokens: each product gathers its input rows, its output columns, and deals
// the rows back. Compiled, gate and up have their input and their product together.
func (w *walk) gatheredExpert(k *kind, rows float64) {
	l := &w.g.spec.Layout
	s, h, inter := w.g.spec.Quant.Experts, k.moe.hidden, k.moe.inter
	full := float64(k.layer.FFN.ExpertIntermediate)
	tp, slices := l.TPGroup(), l.MoETPGroup()
	part := rows / w.g.tp
	wide := part * float64(l.MoETP)
	joined := 1
	if w.g.spec.Compile {
		joined = 2
	}
	for range 2 / joined { // gate and up
		w.allGather(slices, part, h)
		w.quantize(s, wide, h)
		w.linear(s, wide, h, float64(joined)*inter, joined)
		for range joined {
			w.allGather(slices, wide, inter)
			w.allGather(tp, part, full)
		}
	}
	w.activateWhole(rows * full)
	w.allGather(slices, part, full)
	w.cutColumns(wide * inter)
	w.quantize(s, wide, inter)
	w.linear(s, wide, inter, h, 1)
	w.allReduce(slices, wide, h)
	w.allGather(tp, part, h)
}

// activateWhole emits the activation of n elements of gate and up.
func (w *walk) activateWhole(n float64) {
	e := w.width()
	if w.g.spec.Compile {
		w.elementwise(op.SwiGLU, 3*e*n)
		return
	}
	w.elementwise(op.SiLU, 2*e*n)
	w.elementwise(op.Mul, 3*e*n)
}

// cutColumns emits the copy of a rank's n elements out of whole rows, into zeros,
// which a compiler folds.
func (w *walk) cutColumns(n float64) {
	if !w.g.spec.Compile {
		w.elementwise(op.Zeros, w.width()*n)
	}
	w.elementwise(op.CopyOp, 3*w.width()*n)
}

// sharedExperts emits the experts every token visits.
func (w *walk) sharedExperts(k *kind, rows float64) {
	if k.moe.shared == 0 {
		return
	}
	s, f := w.g.spec.Quant.Shared, &k.layer.FFN
	w.br = 1
	w.quantize(s, rows, w.h)
	if !w.g.spec.Compile && !f.Ungated {
		w.quantize(s, rows, w.h)
	}
	product := len(w.items)
	w.mlp(s, rows, w.h, k.moe.shared, f)
	if f.SharedGate {
		w.sharedGate(s, rows, product)
	}
	if k.moe.shared < float64(f.SharedIntermediate) && !w.g.spec.addsUp() {
		w.allReduce(w.g.spec.Layout.TPGroup(), rows, w.h)
	}
	w.addShared(f, rows)
	w.br = 0
}

// sharedGate emits the gate on the shared experts' output, which engines leave
// unquantized. Where it is not, a compiler joins it to their first product.
func (w *walk) sharedGate(s dtype.Scheme, rows float64, product int) {
	spec := &w.g.spec
	if !spec.Policy.QuantizedGates {
		s = dtype.Unquantized(w.base)
	}
	if spec.Policy.QuantizedGates && spec.Compile && s.Weight != dtype.FP4 {
		w.items[product].Op.Cols++
	} else {
		w.fanOut(s, rows, w.h, 1)
		w.linear(s, rows, w.h, 1, 1)
	}
	if w.g.spec.Policy.TracedGates {
		w.elementwise(op.Sigmoid, 2*w.width()*rows)
	}
	w.elementwise(op.Mul, w.width()*(2*rows*w.h+rows))
}
