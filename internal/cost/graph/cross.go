package graph

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// cross emits attention of text to images: keys and values of the images' patches,
// which the layer keeps, and queries of the text.
func (w *Walk) cross(k *Kind, a *model.Attention) {
	s, t := w.g.spec.Quant.Attention, w.Tokens
	d, v := float64(a.HeadDim), float64(a.ValueDim)
	n, patches := float64(w.images.Count), float64(w.images.Patches)
	w.InputNorm(s, true)
	w.Linear(s, t, w.Hidden, k.Queries*d, 1)
	w.Linear(s, n*patches, w.Hidden, k.Keys*(d+v), 2)
	w.Norm(t*k.Queries, d)
	w.Norm(n*patches*k.Keys, d)
	o := w.Next(op.Attention, op.GQAttention)
	o.Heads, o.KVHeads, o.HeadDim, o.ValueDim = k.Queries, k.Keys, d, v
	o.Prefill = op.Span{Requests: n, Tokens: t, Pairs: t * patches, Context: n * patches}
	o.Out, o.KV = w.Base, w.g.spec.Quant.KV
	o.Bytes = units.Bytes(IndexBytes * w.Requests)
	w.outProjection(k, a, k.Queries*v)
}
