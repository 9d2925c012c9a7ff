package graph

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
)

// cross is attention of text to images.
type cross struct{ attention }

// emit implements [mixer]: attention of text to images: keys and values of the images' patches,
// which the layer keeps, and queries of the text.
func (w cross) emit() {
	s, t := w.g.spec.Quant.Attention, w.Tokens
	d, v := float64(w.a.HeadDim), float64(w.a.ValueDim)
	n, patches := float64(w.images.Count), float64(w.images.Patches)
	w.InputNorm(s, true)
	w.Linear(s, t, w.Hidden, w.k.Queries*d, 1)
	w.Linear(s, n*patches, w.Hidden, w.k.Keys*(d+v), 2)
	w.Norm(t*w.k.Queries, d)
	w.Norm(n*patches*w.k.Keys, d)
	o := w.Next(op.Attention, op.GQAttention)
	o.Heads, o.KVHeads, o.HeadDim, o.ValueDim = w.k.Queries, w.k.Keys, d, v
	o.Prefill = op.Span{Requests: n, Tokens: t, Pairs: t * patches, Context: n * patches}
	o.Out, o.KV = w.Base, w.g.spec.Quant.KV
	o.Bytes = units.Bytes(IndexBytes * w.Requests)
	w.outProjection(w.k.Queries * v)
}

// recall implements [mixer]: images do not outlast a step.
func (w cross) recall() {}
