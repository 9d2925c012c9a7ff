package graph

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// cross emits attention of text to images: keys and values of the images' patches,
// which the layer keeps, and queries of the text.
func (w *walk) cross(k *kind, a *model.Attention) {
	s, t := w.g.spec.Quant.Attention, w.tokens
	d, v := float64(a.HeadDim), float64(a.ValueDim)
	n, patches := float64(w.images.Count), float64(w.images.Patches)
	w.inputNorm(s, true)
	w.linear(s, t, w.h, k.hq*d, 1)
	w.linear(s, n*patches, w.h, k.hk*(d+v), 2)
	w.norm(t*k.hq, d)
	w.norm(n*patches*k.hk, d)
	o := w.next(op.Attention, op.GQAttention)
	o.Heads, o.KVHeads, o.HeadDim, o.ValueDim = k.hq, k.hk, d, v
	o.Prefill = op.Span{Requests: n, Tokens: t, Pairs: t * patches, Context: n * patches}
	o.Out, o.KV = w.base, w.g.spec.Quant.KV
	o.Bytes = units.Bytes(indexBytes * w.requests)
	w.outProjection(k, a, k.hq*v)
}
