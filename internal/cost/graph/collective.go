package graph

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// Collective emits communication in a group; a group of one emits nothing.
// payload is this rank's input, traffic what memory reads and writes.
func (w *Walk) Collective(c op.Comm, name op.Name, g parallel.Group, payload, traffic float64) {
	if g.Size <= 1 {
		return
	}
	o := w.Next(op.Collective, name)
	o.Comm, o.Group = c, g
	o.Payload, o.Bytes = units.Bytes(payload), units.Bytes(traffic)
}

// AllReduce sums rows × cols activations over a group.
func (w *Walk) AllReduce(g parallel.Group, rows, cols float64) {
	b := w.Width() * rows * cols
	w.Collective(op.AllReduce, op.ReduceAll, g, w.g.spec.ReducedAllReduce.sent(b, g.Size), 2*b)
}

// AllGather joins each rank's rows × cols activations.
func (w *Walk) AllGather(g parallel.Group, rows, cols float64) {
	b := w.Width() * rows * cols
	w.Collective(op.AllGather, op.GatherAll, g, b, b*float64(1+g.Size))
}

// ReduceTP sums partial hidden states over TP, overlapped with the product in
// front if MatMulAllReduce is set. A cut residual stream keeps only its rows.
func (w *Walk) ReduceTP(rows float64) {
	tp := w.g.spec.Layout.TPGroup()
	if w.Stream < w.Tokens {
		b := w.Width() * rows * w.Hidden
		w.Collective(op.ReduceScatter, op.ScatterReduce, tp, b, b*(1+1/w.g.tp))
		return
	}
	w.reduceProduct(tp, rows, w.Hidden)
}

// reduceProduct sums the product just emitted over a group, overlapped with it
// if MatMulAllReduce is set.
func (w *Walk) reduceProduct(g parallel.Group, rows, cols float64) {
	before := len(w.Items)
	w.AllReduce(g, rows, cols)
	if w.g.spec.MatMulAllReduce && w.g.spec.Compile && len(w.Items) > before {
		w.Items[len(w.Items)-1].Beside = true
	}
}
