package graph

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// prologueLaunches is what TensorCast charges for the fused projections beyond
// the first launch.
const prologueLaunches = 15

// latent emits multi-head latent attention up to the sum over TP ranks.
func (w *walk) latent(k *kind, a *model.Attention) {
	q := &w.g.spec.Quant
	if w.g.spec.tracesCompression(a) {
		w.norm(w.stream, w.h)
		w.tracedLatent(k, a)
		return
	}
	if w.g.spec.Policy.SlowPrologue {
		if !w.joins {
			w.norm(w.stream, w.h)
		}
		w.gatherStream()
		w.fusedPrologue(k, a)
	} else {
		w.inputNorm(q.Attention, true)
		w.prologue(k, a)
	}
	if w.fusesIndexer(a) {
		w.fusedIndexer(a)
	} else {
		w.indexer(a, float64(a.QRank))
	}
	rank, rope := float64(a.KVRank), float64(a.RopeDim)
	if q.AttentionIn >= dtype.FP8 && w.g.spec.Policy.QuantizedActivations {
		w.narrow(w.tokens * k.hq * float64(a.HeadDim))
		w.narrow(w.tokens * rank)
		w.narrow(w.tokens * rope)
	}
	w.cacheWrite(rank + rope)
	w.items[len(w.items)-1].Op.Name = op.LatentCacheWrite
	if a.Compress > 1 {
		// Values and gates of the pooling, then one entry per Compress tokens.
		w.linear(q.Attention, w.tokens, w.h, 2*a.PoolWidth(), 2)
		w.elementwise(op.Sum, w.width()*w.tokens*a.PoolWidth()*2)
	}
	w.attendLatent(k, a)
	v := k.hq * float64(a.ValueDim)
	if a.OutGate {
		w.linear(q.Attention, w.tokens, w.h, v, 1)
		w.elementwise(op.Mul, 3*w.width()*w.tokens*v)
	}
	w.outProjection(k, a, v)
}

// fusedPrologue is the single operator TensorCast has for both low-rank
// projections, their norms and the rotation.
func (w *walk) fusedPrologue(k *kind, a *model.Attention) {
	s := w.g.spec.Quant.Attention
	t, h, e := w.tokens, w.h, w.width()
	ql, kl, r := float64(a.QRank), float64(a.KVRank), float64(a.RopeDim)
	qd := k.hq * float64(a.HeadDim)
	o := w.next(op.LatentPrologue, op.Prologue)
	o.Launches = prologueLaunches
	weights := h*ql + ql*qd + h*(kl+r)
	if ql == 0 {
		weights = h*qd + h*(kl+r)
	}
	o.Matrix = units.Ops(2 * t * weights)
	o.Vector = units.Ops(t * (5*ql + 3*k.hq*r + 5*kl + 3*r))
	o.Weight = w.base
	wb := w.base.Bytes(weights)
	if s.Quantized() {
		o.Name = op.PrologueQuant
		o.In, o.Weight = w.matrixFormat(s), s.Weight
		o.Vector += units.Ops(t*h + h*ql + t*ql + ql*qd + t*h + h*(kl+r))
		wb = s.Weight.Bytes(weights) + 3*scaleBytes
		if s.Weight == dtype.FP4 && s.Group > 0 {
			g := float64(s.Group)
			wb += units.Bytes((ql+kl+r)*math.Ceil(h/g)+qd*math.Ceil(ql/g)) - 3*scaleBytes
		}
	}
	o.Bytes = wb + units.Bytes(e*(t*h+2*t*r+ql+kl)+
		e*t*(qd+kl+r+ql)+
		e*(2*t*ql+2*t*(kl+r)+t*ql))
}

// prologue emits the projections as the kernels they are: one joined product
// down, two norms, one product up, the rotation.
func (w *walk) prologue(k *kind, a *model.Attention) {
	s, t := w.g.spec.Quant.Attention, w.tokens
	ql, kl, r := float64(a.QRank), float64(a.KVRank), float64(a.RopeDim)
	qd := k.hq * float64(a.HeadDim)
	w.fanOut(s, t, w.h, 1)
	if ql == 0 {
		w.linear(s, t, w.h, qd+kl+r, 2)
	} else {
		w.linear(s, t, w.h, ql+kl+r, 2)
		w.norm(t, ql)
		w.quantize(s, t, ql)
		w.linear(s, t, ql, qd, 1)
	}
	w.norm(t, kl)
	if r > 0 {
		n := t * (k.hq + 1) * r
		o := w.elementwise(op.Rope, w.width()*(2*n+2*t*r))
		o.Vector = units.Ops(3 * n)
	}
}

// attendLatent emits the attention kernel, with context parallelism.
func (w *walk) attendLatent(k *kind, a *model.Attention) {
	w.gatherQueries(k, a)
	w.attendLatentHere(k, a)
	w.mergeOutputs(k, a, float64(a.KVRank))
}

// attendLatentHere emits the attention kernel itself. Context parallelism gives it
// the queries of the group, a part of the cache and the up-projections of its own
// heads.
func (w *walk) attendLatentHere(k *kind, a *model.Attention) {
	spec := &w.g.spec
	cut := w.contextShards()
	w.by = op.Context
	o := w.next(op.Latent, op.LatentAttention)
	w.by = op.Tokens
	o.Heads, o.HeadDim, o.ValueDim = k.hq*cut, float64(a.HeadDim), float64(a.ValueDim)
	if cut > 1 {
		o.Own = k.hq
	}
	o.Rank, o.Rope = float64(a.KVRank), float64(a.RopeDim)
	if spec.Policy.TracedContext {
		w.shards = cut
	}
	o.Prefill, o.Decode = w.spans(a)
	_, pages := w.blocks()
	w.shards = 1
	o.Expanded = o.Prefill.Tokens
	if !spec.Policy.CheapContext {
		o.Expanded = o.Prefill.Context
	}
	if !spec.Policy.TracedContext {
		o.Prefill = shard(o.Prefill, cut)
		o.Decode = shard(o.Decode, cut)
	}
	o.Weight, o.Out, o.KV = w.base, w.base, spec.Quant.KV
	if a.KeyIsVal {
		// Keys and values are the cached entry itself: plain attention over one
		// head, read once for both.
		o.Kind, o.KVHeads = op.Attention, 0.5
	}
	o.Bytes = units.Bytes(indexBytes * (w.requests + 1 + 2*w.requests + pages))
	if a.Indexer.TopK > 0 && a.Compress <= 1 {
		w.sparseReads(a, o)
	}
	if in := spec.Quant.AttentionIn; in >= dtype.FP8 && spec.Policy.QuantizedActivations {
		o.Name, o.In, o.Weight = quantized(o.Name), in, in
		w.latentQuant(o)
	}
}

// quantized is the name of latent attention over a narrow cache.
func quantized(n op.Name) op.Name {
	if n == op.SparseLatentAttention {
		return op.SparseLatentAttentionQuant
	}
	return op.LatentAttentionQuant
}

// latentQuant adds the vector work of quantized latent attention: what leaves
// each product is narrowed again, and the output widened.
func (w *walk) latentQuant(o *op.Op) {
	if w.g.spec.Policy.QuantizedActivations {
		o.In = dtype.INT8
	}
	h := o.Heads
	p, d := &o.Prefill, &o.Decode
	o.Vector += units.Ops(
		2*p.Tokens*h*(o.HeadDim-o.Rope+o.ValueDim) + 2*p.Pairs*h +
			4*d.Tokens*h*o.Rank + 2*d.Pairs*h +
			2*(p.Tokens+d.Tokens)*h*o.ValueDim)
	o.Bytes += 8 * scaleBytes
}

// indexer emits the selector of sparse attention, where a layer has one of its
// own: its queries from depth-wide inputs, its keys, their cache, the scores and
// the choice.
func (w *walk) indexer(a *model.Attention, depth float64) {
	ix := &a.Indexer
	if !ix.Own() {
		return
	}
	s, t, e := w.g.spec.Quant.Attention, w.tokens, w.width()
	heads, d := float64(ix.Heads), float64(ix.Dim)
	w.quantize(s, t, depth)
	w.linear(s, t, depth, heads*d, 1)
	keys := d
	if a.Compress > 1 {
		keys *= 4 // pooled as the cache is: values and gates, in two halves
	}
	w.linear(s, t, w.h, keys, 1)
	w.norm(t, d)
	w.elementwise(op.IndexerCacheWrite, 2*e*t*d+indexBytes*t)
	if a.Kind == model.MLA { // a weight for each head, which MiniMax-M3 has not
		w.linear(dtype.Unquantized(w.base), t, w.h, heads, 1)
	}
	w.choose(a)
}

// choose emits the scores of the selector and the choice. It looks at every
// cached entry, sparse as the attention behind it may be.
func (w *walk) choose(a *model.Attention) {
	ix := &a.Indexer
	if !ix.Own() {
		return
	}
	t, e := w.tokens, w.width()
	heads, d := float64(ix.Heads), float64(ix.Dim)
	full := model.Attention{Compress: a.Compress}
	prefill, decode := w.spans(&full)
	pairs := prefill.Pairs + decode.Pairs
	w.by = op.Context
	o := w.next(op.Elementwise, op.IndexerScore)
	o.Matrix = units.Ops(2 * pairs * heads * d)
	o.Vector = units.Ops(2 * pairs * heads)
	o.Bytes = units.Bytes(e*(t*heads*d+(prefill.Context+decode.Context)*d) + 4*pairs)
	w.elementwise(op.TopK, 4*pairs+indexBytes*t*float64(ix.TopK))
	w.by = op.Tokens
}
