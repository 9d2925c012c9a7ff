package tensorcast

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
)

// experts emits the products of the local experts, grouped where possible.
func (w mixture) experts(k *graph.Kind, r *routed) {
	spec, l, h := w.Spec(), &w.Spec().Layout, k.Experts.Hidden
	gathered := spec.Policy.FragileGrouping && l.EP > 1 && l.MoETP > 1 && l.MoETP != l.TP
	multiple := w.rowMultiple()
	switch {
	case !spec.Compile && l.EP > 1:
		w.eagerRegroup(k, r)
	case l.EP > 1 && r.idle():
		w.Cat(r.Received * h)
	}
	if spec.Compile && !gathered && r.divides(multiple) {
		w.physical().GroupedExperts(k, &r.Routed)
		summed := r.Rows
		if spec.Policy.ExchangedPairs || l.EP > 1 {
			summed = r.Received
		}
		w.AllReduce(spec.ExpertTP(), summed, h)
		w.loosen()
	} else {
		w.separateExperts(k, r.many, r.manyRows, multiple, gathered)
		w.separateExperts(k, r.few, r.fewRows, multiple, gathered)
	}
	if w.does.has(fragmentedRouter) {
		w.Cat(r.Received * h)
	}
}

// rowMultiple is what each expert's rows are filled up to a multiple of;
// 0 is no such need. Rows dealt at random are averages, whose divisibility says
// nothing.
func (w mixture) rowMultiple() float64 {
	s := w.Spec()
	switch {
	case !s.Policy.FragileGrouping || !w.does.has(frontLoaded):
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
func (w mixture) eagerRegroup(k *graph.Kind, r *routed) {
	h, n := k.Experts.Hidden, w.Count
	for _, c := range [2]struct{ experts, rows float64 }{{r.many, r.manyRows}, {r.few, r.fewRows}} {
		if c.experts == 0 || c.rows == 0 {
			continue
		}
		w.Count = n * c.experts
		w.Cat(c.rows * h)
	}
	w.Count = n
	w.Cat(r.Received * h)
}

// separateExperts emits n experts of rows tokens each, one after another, the
// rows filled up to a multiple.
func (w mixture) separateExperts(k *graph.Kind, n, rows, multiple float64, gathered bool) {
	if n == 0 || rows == 0 {
		return
	}
	outer := w.Count
	w.Count = outer * n
	padded := rows
	if multiple > 0 {
		padded = math.Ceil(rows/multiple) * multiple
	}
	if padded > rows {
		w.Elementwise(op.Pad, w.Width()*(rows+padded)*k.Experts.Hidden)
	}
	if gathered {
		w.gatheredExpert(k, padded)
	} else {
		w.physical().OneExpert(k, padded)
	}
	w.Count = outer
}

// gatheredExpert emits one expert whose slices live in another group than its
// tokens: each product gathers its input rows, its output columns, and deals
// the rows back. Compiled, gate and up have their input and their product together.
func (w mixture) gatheredExpert(k *graph.Kind, rows float64) {
	l := w.Spec().Layout
	s, h, inter := w.Spec().Quant.Experts, k.Experts.Hidden, k.Experts.Inner
	full := float64(k.Layer.FFN.ExpertIntermediate)
	tp, slices := l.TPGroup(), l.MoETPGroup()
	part := rows / w.TP()
	wide := part * float64(l.MoETP)
	joined := 1
	if w.Spec().Compile {
		joined = 2
	}
	for range 2 / joined { // gate and up
		w.AllGather(slices, part, h)
		w.Quantize(s, wide, h)
		w.Linear(s, wide, h, float64(joined)*inter, joined)
		for range joined {
			w.AllGather(slices, wide, inter)
			w.AllGather(tp, part, full)
		}
	}
	w.activateWhole(rows * full)
	w.AllGather(slices, part, full)
	w.cutColumns(wide * inter)
	w.Product(s, wide, inter, h)
	w.AllReduce(slices, wide, h)
	w.AllGather(tp, part, h)
}

// activateWhole emits the activation of n elements of gate and up.
func (w mixture) activateWhole(n float64) {
	e := w.Width()
	if w.Spec().Compile {
		w.Elementwise(op.SwiGLU, 3*e*n)
		return
	}
	w.Elementwise(op.SiLU, 2*e*n)
	w.Elementwise(op.Mul, 3*e*n)
}

// cutColumns emits the copy of a rank's n elements out of whole rows, into zeros,
// which a compiler folds.
func (w mixture) cutColumns(n float64) {
	if !w.Spec().Compile {
		w.Elementwise(op.Zeros, w.Width()*n)
	}
	w.Elementwise(op.CopyOp, 3*w.Width()*n)
}
