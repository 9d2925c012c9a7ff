package graph

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// latent emits multi-head latent attention up to the sum over TP ranks.
func (w *Walk) latent(k *Kind, a *model.Attention) {
	q := &w.g.spec.Quant
	if !w.rewrites(AtLatentInputs, k) {
		w.InputNorm(q.Attention, true)
		w.prologue(k, a)
	}
	if !w.rewrites(AtIndexer, k) {
		w.indexer(a, float64(a.QRank))
	}
	rank, rope := float64(a.KVRank), float64(a.RopeDim)
	w.rewrites(AtLatentWrite, k)
	w.cacheWrite(rank + rope)
	w.Items[len(w.Items)-1].Op.Name = op.LatentCacheWrite
	if a.Compress > 1 {
		// Values and gates of the pooling, then one entry per Compress tokens.
		w.Linear(q.Attention, w.Tokens, w.Hidden, 2*a.PoolWidth(), 2)
		w.Elementwise(op.Sum, w.Width()*w.Tokens*a.PoolWidth()*2)
	}
	w.attend(k, a, true)
	v := k.Queries * float64(a.ValueDim)
	if a.OutGate {
		w.Linear(q.Attention, w.Tokens, w.Hidden, v, 1)
		w.Elementwise(op.Mul, 3*w.Width()*w.Tokens*v)
	}
	w.outProjection(k, a, v)
}

// prologue emits the projections as the kernels they are: one joined product
// down, two norms, one product up, the rotation.
func (w *Walk) prologue(k *Kind, a *model.Attention) {
	s, t := w.g.spec.Quant.Attention, w.Tokens
	ql, kl, r := float64(a.QRank), float64(a.KVRank), float64(a.RopeDim)
	qd := k.Queries * float64(a.HeadDim)
	w.FanOut(s, t, w.Hidden, 1)
	if ql == 0 {
		w.Linear(s, t, w.Hidden, qd+kl+r, 2)
	} else {
		w.Linear(s, t, w.Hidden, ql+kl+r, 2)
		w.Norm(t, ql)
		w.Product(s, t, ql, qd)
	}
	w.Norm(t, kl)
	if r > 0 {
		n := t * (k.Queries + 1) * r
		o := w.Elementwise(op.Rope, w.Width()*(2*n+2*t*r))
		o.Vector = units.Ops(3 * n)
	}
}

// attendLatent emits the kernel of latent attention. Context parallelism gives it
// the queries of the group, a part of the cache and the up-projections of its own
// heads.
func (w *Walk) attendLatent(k *Kind, a *model.Attention) {
	spec, cut := &w.g.spec, w.ContextRanks
	w.Follows = op.Context
	o := w.Next(op.Latent, op.LatentAttention)
	w.Follows = w.rows
	o.Heads, o.HeadDim, o.ValueDim = k.Queries*cut, float64(a.HeadDim), float64(a.ValueDim)
	if cut > 1 {
		o.Own = k.Queries
	}
	o.Rank, o.Rope = float64(a.KVRank), float64(a.RopeDim)
	o.Prefill, o.Decode = w.Spans(a)
	o.Expanded = o.Prefill.Context
	o.Prefill, o.Decode = shard(o.Prefill, cut), shard(o.Decode, cut)
	o.Weight, o.Out, o.KV = w.Base, w.Base, spec.Quant.KV
	if a.KeyIsVal {
		// Keys and values are the cached entry itself: plain attention over one
		// head, read once for both.
		o.Kind, o.KVHeads = op.Attention, 0.5
	}
	_, pages := w.Blocks()
	o.Bytes = units.Bytes(IndexBytes * (w.Requests + 1 + 2*w.Requests + pages))
	w.padHeads(a, o)
	w.rewrites(AtAttended, k)
}

// padHeads emits what kernels of sparse attention compute at least, beside the attention just emitted: all heads they are made for.
func (w *Walk) padHeads(a *model.Attention, o *op.Op) {
	s, most := &w.g.spec.Sparse, float64(a.Indexer.TopK)
	if s.Heads == 0 || most == 0 || o.Kind != op.Latent || a.Compress > 1 {
		return
	}
	prefill, decode := o.Prefill, o.Decode
	if full, _ := w.Spans(&model.Attention{}); s.Dense && full.Context <= most*full.Requests {
		prefill = op.Span{}
	}
	if !s.Decode {
		decode = op.Span{}
	}
	pairs := prefill.Pairs + decode.Pairs
	if s.Whole {
		pairs = most * (prefill.Tokens + decode.Tokens)
	}
	heads := float64(s.Heads) * math.Ceil(o.Heads/float64(s.Heads))
	width := 2*o.Rank + o.Rope
	w.Follows = op.Context
	pad := w.Next(op.Elementwise, op.LatentAttention)
	w.Follows = w.rows
	pad.Matrix, pad.Launches = units.Ops(2*pairs*heads*width), -1
	it := &w.Items[len(w.Items)-1]
	it.Beside, it.Continues = true, true
}

// indexer emits the selector of sparse attention, where a layer has one of its
// own: its queries from depth-wide inputs, its keys, their cache, the scores and
// the choice.
func (w *Walk) indexer(a *model.Attention, depth float64) {
	ix := &a.Indexer
	if !ix.Own() {
		return
	}
	s, t, e := w.g.spec.Quant.Attention, w.Tokens, w.Width()
	heads, d := float64(ix.Heads), float64(ix.Dim)
	w.Product(s, t, depth, heads*d)
	keys := d
	if a.Compress > 1 {
		keys *= 4 // pooled as the cache is: values and gates, in two halves
	}
	w.Linear(s, t, w.Hidden, keys, 1)
	w.Norm(t, d)
	w.Elementwise(op.IndexerCacheWrite, 2*e*t*d+IndexBytes*t)
	if a.Kind == model.MLA { // a weight for each head, which MiniMax-M3 has not
		w.Linear(dtype.Unquantized(w.Base), t, w.Hidden, heads, 1)
	}
	w.choose(a)
}

// choose emits the scores of the selector and the choice. It looks at every
// cached entry, sparse as the attention behind it may be.
func (w *Walk) choose(a *model.Attention) {
	ix := &a.Indexer
	if !ix.Own() {
		return
	}
	t, e := w.Tokens, w.Width()
	heads, d := float64(ix.Heads), float64(ix.Dim)
	full := model.Attention{Compress: a.Compress}
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
