package graph

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// latent is multi-head latent attention: a cached entry of low rank that is expanded, or attended to as it is.
type latent struct{ attention }

// emit implements [mixer]: multi-head latent attention up to the sum over TP ranks.
func (w latent) emit() {
	q := &w.g.spec.Quant
	if !w.rewrites(AtLatentInputs, w.k) {
		w.InputNorm(q.Attention, true)
		w.prologue()
	}
	if !w.rewrites(AtIndexer, w.k) {
		w.indexer(float64(w.a.QRank))
	}
	rank, rope := float64(w.a.KVRank), float64(w.a.RopeDim)
	w.rewrites(AtLatentWrite, w.k)
	w.cacheWrite(rank + rope)
	w.Items[len(w.Items)-1].Op.Name = op.LatentCacheWrite
	if w.a.Compress > 1 {
		// Values and gates of the pooling, then one entry per Compress tokens.
		w.Linear(q.Attention, w.Tokens, w.Hidden, 2*w.a.PoolWidth(), 2)
		w.Elementwise(op.Sum, w.Width()*w.Tokens*w.a.PoolWidth()*2)
	}
	w.attend(true)
	v := w.k.Queries * float64(w.a.ValueDim)
	if w.a.OutGate {
		w.Linear(q.Attention, w.Tokens, w.Hidden, v, 1)
		w.Elementwise(op.Mul, 3*w.Width()*w.Tokens*v)
	}
	w.outProjection(v)
}

// prologue emits the projections as the kernels they are: one joined product
// down, two norms, one product up, the rotation.
func (w latent) prologue() {
	s, t := w.g.spec.Quant.Attention, w.Tokens
	ql, kl, r := float64(w.a.QRank), float64(w.a.KVRank), float64(w.a.RopeDim)
	qd := w.k.Queries * float64(w.a.HeadDim)
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
		n := t * (w.k.Queries + 1) * r
		o := w.Elementwise(op.Rope, w.Width()*(2*n+2*t*r))
		o.Vector = units.Ops(3 * n)
	}
}

// kernel is that of latent attention. Context parallelism gives it
// the queries of the group, a part of the cache and the up-projections of its own
// heads.
func (w latent) kernel() {
	spec, cut := &w.g.spec, w.ContextRanks
	w.Follows = op.Context
	o := w.Next(op.Latent, op.LatentAttention)
	w.Follows = w.rows
	o.Heads, o.HeadDim, o.ValueDim = w.k.Queries*cut, float64(w.a.HeadDim), float64(w.a.ValueDim)
	if cut > 1 {
		o.Own = w.k.Queries
	}
	o.Rank, o.Rope = float64(w.a.KVRank), float64(w.a.RopeDim)
	o.Prefill, o.Decode = w.Spans(w.a)
	o.Expanded = o.Prefill.Context
	o.Prefill, o.Decode = shard(o.Prefill, cut), shard(o.Decode, cut)
	o.Weight, o.Out, o.KV = w.Base, w.Base, spec.Quant.KV
	if w.a.KeyIsVal {
		// Keys and values are the cached entry itself: plain attention over one
		// head, read once for both.
		o.Kind, o.KVHeads = op.Attention, 0.5
	}
	_, pages := w.Blocks()
	o.Bytes = units.Bytes(IndexBytes * (w.Requests + 1 + 2*w.Requests + pages))
	w.padHeads(o)
	w.rewrites(AtAttended, w.k)
}

// padHeads emits what kernels of sparse attention compute at least, beside the attention just emitted: all heads they are made for.
func (w latent) padHeads(o *op.Op) {
	s, most := &w.g.spec.Sparse, float64(w.a.Indexer.TopK)
	if s.Heads == 0 || most == 0 || o.Kind != op.Latent || w.a.Compress > 1 {
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

// recall implements [mixer].
func (w latent) recall() {
	if w.rewrites(AtRecall, w.k) {
		return
	}
	if !w.rewrites(AtIndexer, w.k) {
		w.choose()
	}
	w.attend(w.ContextFollows >= op.Counts)
}
