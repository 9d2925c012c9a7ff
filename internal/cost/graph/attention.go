package graph

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// attention emits the token mixer of a layer, its norm in front included.
func (w *walk) attention(k *kind) {
	switch a := &k.layer.Attention; a.Kind {
	case model.GQA:
		w.gqa(k, a)
	case model.MLA:
		w.latent(k, a)
	case model.GatedDelta:
		w.gatedDelta(a)
	case model.Mamba2:
		w.mamba(a)
	case model.Mamba1:
		w.mamba1(a)
	case model.ShortConv:
		w.shortConv(a)
	case model.Cross:
		w.cross(k, a)
	case model.NoAttention:
	}
}

// gqa emits grouped-query attention up to the sum over TP ranks.
func (w *walk) gqa(k *kind, a *model.Attention) {
	s := w.g.spec.Quant.Attention
	d, v := float64(a.HeadDim), float64(a.ValueDim)
	w.inputNorm(s, true)
	w.projectQKV(k, a)
	if w.joinsIndexer(a) {
		w.insertJoined(k, a)
		w.choose(a)
		w.attend(k, a)
		w.outProjection(k, a, k.hq*v)
		return
	}
	w.qkNorm(k, a)
	w.rope(k, a)
	if w.g.spec.Quant.AttentionIn >= dtype.FP8 {
		w.narrow(w.tokens * k.hq * d)
		w.narrow(w.tokens * k.hk * d)
		w.narrow(w.tokens * k.hk * v)
	}
	if !a.SharedKV {
		w.cacheWrite(k.hk * (d + v))
	}
	w.indexer(a, w.h)
	w.attend(k, a)
	if a.OutGate {
		w.outGate(k, v)
	}
	w.outProjection(k, a, k.hq*v)
}

// projectQKV emits the query, key and value products, joined when compiled.
func (w *walk) projectQKV(k *kind, a *model.Attention) {
	s, t := w.g.spec.Quant.Attention, w.tokens
	d, v := float64(a.HeadDim), float64(a.ValueDim)
	q, kk, vv := k.hq*d, k.hk*d, k.hk*v
	if a.OutGate {
		q *= 2
	}
	if a.KeyIsVal {
		vv = 0
	}
	if a.SharedKV {
		kk, vv = 0, 0
	}
	switch {
	case w.g.spec.Compile && s.Weight == dtype.FP4 && w.g.spec.Policy.QuantizedActivations && kk > 0:
		// Only products with scales of one shape are joined.
		w.linear(s, t, w.h, q, 1)
		w.linear(s, t, w.h, kk+vv, 2)
	case w.joinsIndexer(a):
		w.linear(s, t, w.h, q+kk+vv+w.indexCols(a), 3)
	case w.g.spec.Compile:
		w.linear(s, t, w.h, q+kk+vv, 3)
		w.bias(a.Bias, q+kk+vv)
	default:
		for _, cols := range [3]float64{q, kk, vv} {
			if cols == 0 {
				continue
			}
			w.fanOut(s, t, w.h, 1)
			w.linear(s, t, w.h, cols, 1)
			w.bias(a.Bias, cols)
		}
	}
}

// joinsIndexer reports whether the projections of a selector are part of the joined
// product, and its norms, rotation and cache write part of one kernel with those of
// attention, as vLLM and ATOM have MiniMax-M3 (fused_minimax_m3_qknorm_rope_kv_insert).
func (w *walk) joinsIndexer(a *model.Attention) bool {
	return w.g.spec.Compile && a.Kind == model.GQA && a.Indexer.Own() && !a.OutGate && !a.SharedKV && !w.g.spec.Policy.FusedIndexer
}

// indexCols are the columns of a selector's queries, which lie on the ranks of their
// key/value heads, and of its key.
func (w *walk) indexCols(a *model.Attention) float64 {
	return float64(a.Indexer.Dim) * (perRank(a.Indexer.Heads, float64(w.g.spec.Layout.TP)) + 1)
}

// insertJoined is the kernel between the joined product and attention: it reads all of it
// and writes queries, the cache and the selector's.
func (w *walk) insertJoined(k *kind, a *model.Attention) {
	d, v, ix := float64(a.HeadDim), float64(a.ValueDim), w.indexCols(a)
	e, t, cached := w.width(), w.tokens, k.hk*(d+v)
	queries := k.hq*d + ix
	o := w.elementwise(op.Rope, e*t*(2*queries+cached)+float64(w.g.spec.Quant.KV.Bytes(t*cached))+2*indexBytes*t)
	o.Vector = units.Ops((unitOps + 3) * t * (queries + k.hk*d))
}

// outGate emits the gate on attention's output. As traced it is first copied out of
// the joined product, where it lies between the queries of each head.
func (w *walk) outGate(k *kind, v float64) {
	e, n := w.width(), w.tokens*k.hq*v
	if w.g.spec.Policy.TracedGates {
		if k.hq > 1 {
			w.elementwise(op.Clone, 2*e*n)
		}
		w.elementwise(op.Sigmoid, 2*e*n)
	}
	w.elementwise(op.Mul, 3*e*n)
}

// bias adds a bias vector to the product just emitted.
func (w *walk) bias(has bool, cols float64) {
	if !has {
		return
	}
	o := &w.items[len(w.items)-1].Op
	o.Bytes += units.Bytes(w.width() * cols)
	if o.Weight >= dtype.FP8 || !w.g.spec.Policy.FreeBias {
		o.Vector += units.Ops(o.Rows * cols)
	}
}

// qkNorm emits the norms of queries and keys.
func (w *walk) qkNorm(k *kind, a *model.Attention) {
	t, d := w.tokens, float64(a.HeadDim)
	switch a.QKNorm {
	case model.PerHead:
		w.norm(t*k.hq, d)
		if !a.SharedKV {
			w.norm(t*k.hk, d)
		}
	case model.WholeVector:
		w.sumSquares(a)
		w.norm(t, k.hq*d)
		if !a.SharedKV {
			w.norm(t, k.hk*d)
		}
	case model.NoQKNorm:
	}
}

// sumSquares sums the squares of queries and of keys, a number of each for every token, over the
// ranks that have their heads, as a norm over all heads needs (vLLM's MiniMaxText01RMSNormTP,
// SGLang's MiniMaxM2RMSNormTP). For OLMo vLLM gathers all queries and keys instead.
func (w *walk) sumSquares(a *model.Attention) {
	if w.g.spec.Policy.LocalNorms {
		return
	}
	const f32 = 4
	b := 2 * f32 * w.tokens
	if a.SharedKV {
		b /= 2
	}
	w.collective(op.AllReduce, op.ReduceAll, w.g.spec.Layout.TPGroup(), b, 2*b)
}

// cacheWrite emits the copy of new keys and values into the cache, quantizing
// queries, keys and values first where attention works in a narrow format.
func (w *walk) cacheWrite(cols float64) {
	in := w.base
	if q := w.g.spec.Quant.AttentionIn; q >= dtype.FP8 {
		in = q
	}
	n := w.tokens * cols
	w.elementwise(op.CacheWrite, float64(in.Bytes(n)+w.g.spec.Quant.KV.Bytes(n))+indexBytes*w.tokens)
}

// narrow emits one static quantization of n elements.
func (w *walk) narrow(n float64) {
	w.elementwise(op.Quantize, (w.width()+1)*n+scaleBytes)
}

// attend emits the attention kernel, with context parallelism.
func (w *walk) attend(k *kind, a *model.Attention) {
	w.gatherQueries(k, a)
	w.attendHere(k, a)
	w.mergeOutputs(k, a, float64(a.ValueDim))
}

// attendHere emits the attention kernel itself.
func (w *walk) attendHere(k *kind, a *model.Attention) {
	w.by = op.Context
	o := w.next(op.Attention, op.GQAttention)
	w.by = op.Tokens
	o.Heads, o.KVHeads, o.HeadDim, o.ValueDim = k.hq, k.hc, float64(a.HeadDim), float64(a.ValueDim)
	o.Prefill, o.Decode = w.spans(a)
	o.Window = float64(a.Window)
	o.Out, o.KV = w.base, w.g.spec.Quant.KV
	padded, _ := w.blocks()
	o.Bytes = units.Bytes(indexBytes * (padded + w.requests + 1 + 2*w.requests))
	if in := w.g.spec.Quant.AttentionIn; in >= dtype.FP8 {
		o.Name, o.In = op.GQAttentionQuant, in
		w.attentionQuant(o)
	}
}

// attentionQuant adds the vector work of quantized attention: scores back to
// the working format, probabilities narrowed, the output widened; two
// operations an element with offsets (INT8), one without (FP8).
func (w *walk) attentionQuant(o *op.Op) {
	f := 2.0
	if o.In == dtype.FP8 {
		f = 1
	}
	if w.g.spec.Policy.QuantizedActivations {
		o.In = dtype.INT8
	}
	pairs := o.Prefill.Pairs + o.Decode.Pairs
	tokens := o.Prefill.Tokens + o.Decode.Tokens
	o.Vector += units.Ops(f * (2*pairs*o.Heads + tokens*o.Heads*o.ValueDim))
	o.Bytes += 3 * scaleBytes
}

// outProjection emits the product behind attention and the sum over TP.
func (w *walk) outProjection(k *kind, a *model.Attention, depth float64) {
	s, t := w.g.spec.Quant.Attention, w.tokens
	if a.OutRank > 0 {
		// Low-rank output in groups: depth/groups → rank each, then rank·groups → hidden.
		groups, rank := float64(a.OutGroup)/w.g.tp, float64(a.OutRank)
		w.quantize(s, t, depth)
		w.grouped(s, t*groups, groups, depth/groups, rank, 0)
		depth = rank * groups
	}
	w.quantize(s, t, depth)
	w.linear(s, t, depth, w.h, 1)
	if k.whole { // the weights are cut all the same
		w.items[len(w.items)-1].Op.Bytes -= s.Weight.Bytes(depth * w.h * (1 - 1/w.g.tp))
	}
	w.bias(a.OutBias, w.h)
	w.reduceTP(t)
}

// reduceTP sums partial hidden states over TP, overlapped with the product in
// front where that is asked for. A cut residual stream keeps only its rows.
func (w *walk) reduceTP(rows float64) {
	tp := w.g.spec.Layout.TPGroup()
	if w.stream < w.tokens {
		b := w.width() * rows * w.h
		w.collective(op.ReduceScatter, op.ScatterReduce, tp, b, b*(1+1/w.g.tp))
		return
	}
	w.reduceProduct(tp, rows, w.h)
}

// reduceProduct sums the product just emitted over a group, overlapped with it
// where that is asked for.
func (w *walk) reduceProduct(g parallel.Group, rows, cols float64) {
	before := len(w.items)
	w.allReduce(g, rows, cols)
	if w.g.spec.MatMulAllReduce && w.g.spec.Compile && len(w.items) > before {
		w.items[len(w.items)-1].Beside = true
	}
}
