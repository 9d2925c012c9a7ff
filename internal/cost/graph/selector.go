package graph

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// indexer emits the selector of sparse attention, where a layer has one of its
// own: its queries from depth-wide inputs, its keys, their cache, the scores and
// the choice.
func (w attention) indexer(depth float64) {
	ix := &w.a.Indexer
	if !ix.Own() {
		return
	}
	s, t, e := w.g.spec.Quant.Attention, w.Tokens, w.Width()
	heads, d := float64(ix.Heads), float64(ix.Dim)
	w.Product(s, t, depth, heads*d)
	keys := d
	if w.a.Compress > 1 {
		keys *= 4 // pooled as the cache is: values and gates, in two halves
	}
	w.Linear(s, t, w.Hidden, keys, 1)
	w.Norm(t, d)
	w.Elementwise(op.IndexerCacheWrite, 2*e*t*d+IndexBytes*t)
	if w.a.Kind == model.MLA { // a weight for each head, which MiniMax-M3 has not
		w.Linear(dtype.Unquantized(w.Base), t, w.Hidden, heads, 1)
	}
	w.choose()
}

// choose emits the scores of the selector and the choice. It looks at every
// cached entry, sparse as the attention behind it may be.
func (w attention) choose() {
	ix := &w.a.Indexer
	if !ix.Own() {
		return
	}
	t, e := w.Tokens, w.Width()
	heads, d := float64(ix.Heads), float64(ix.Dim)
	full := model.Attention{Compress: w.a.Compress}
	prefill, decode := w.Spans(&full)
	pairs := prefill.Pairs + decode.Pairs
	w.Follows = op.Context
	o := w.Next(op.Elementwise, op.IndexerScore)
	o.Matrix = units.Ops(2 * pairs * heads * d)
	o.Vector = units.Ops(2 * pairs * heads)
	o.Bytes = units.Bytes(e*(t*heads*d+(prefill.Context+decode.Context)*d) + 4*pairs)
	w.Elementwise(op.TopK, 4*pairs+IndexBytes*t*float64(ix.TopK))
	w.Follows = w.rows
}

// indexCols are the columns of a selector's queries, which lie on the ranks of their
// key/value heads, and of its key.
func (w attention) indexCols() float64 {
	return float64(w.a.Indexer.Dim) * (perRank(w.a.Indexer.Heads, float64(w.g.spec.Layout.TP)) + 1)
}
