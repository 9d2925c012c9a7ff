package graph

import (
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// router emits the choice of experts: scores on rows tokens, the choice on the
// chosen ones that this rank goes on with.
func (w Mixture) router(k *Kind, rows, chosen float64) {
	if w.offers(AtRouter) && w.rewrite(Part{Place: AtRouter, Kind: k, Rows: rows}) {
		return
	}
	w.RouterScores(k, rows)
	w.GatingTopK(k, chosen)
}

// RouterScores emits the scores of rows tokens, in float32 where the model has them so.
func (w Mixture) RouterScores(k *Kind, rows float64) {
	const f32 = 4
	e := float64(k.Layer.FFN.Experts)
	if !k.Layer.FFN.Router.WideScores() {
		w.Linear(dtype.Unquantized(w.Base), rows, w.Hidden, e, 1)
		return
	}
	w.Convert((w.Width() + f32) * rows * w.Hidden)
	if !w.g.spec.Compile {
		w.Convert((w.Width() + f32) * e * w.Hidden) // the weights too, each time
	}
	o := w.Next(op.GEMM, op.MatMul)
	o.Rows, o.Depth, o.Cols = rows, w.Hidden, e
	o.In, o.Weight, o.Out = dtype.F32, dtype.F32, dtype.F32
}

// GatingTopK is the choice in one operator.
func (w Mixture) GatingTopK(k *Kind, rows float64) {
	const f32 = 4
	e, topK := float64(k.Layer.FFN.Experts), float64(k.Layer.FFN.TopK)
	w.Elementwise(op.GatingTopK, f32*rows*e+(f32+IndexBytes)*rows*topK)
}
