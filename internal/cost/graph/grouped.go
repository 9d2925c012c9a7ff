package graph

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// grouped is grouped-query attention: several query heads share the keys and values of one head.
type grouped struct{ attention }

// emit implements [mixer]: grouped-query attention up to the sum over TP ranks.
func (w grouped) emit() {
	s := w.g.spec.Quant.Attention
	d, v := float64(w.a.HeadDim), float64(w.a.ValueDim)
	w.InputNorm(s, true)
	w.projectQKV()
	if w.g.spec.joinsIndexer(w.a) {
		w.insertJoined()
		w.choose()
		w.attend(true)
		w.outProjection(w.k.Queries * v)
		return
	}
	w.qkNorm()
	w.rope()
	if w.g.spec.Quant.AttentionIn >= dtype.FP8 {
		w.Narrow(w.Tokens * w.k.Queries * d)
		w.Narrow(w.Tokens * w.k.Keys * d)
		w.Narrow(w.Tokens * w.k.Keys * v)
	}
	if !w.a.SharedKV {
		w.cacheWrite(w.k.Keys * (d + v))
	}
	w.indexer(w.Hidden)
	w.attend(true)
	if w.a.OutGate && !w.rewrites(AtOutGate, w.k) {
		w.Elementwise(op.Mul, 3*w.Width()*w.Tokens*w.k.Queries*v)
	}
	w.outProjection(w.k.Queries * v)
}

// QKV is the columns of a rank's queries, with their gate, keys and values.
func (k *Kind) QKV() (q, keys, values float64) { return k.Layer.Attention.QKV(k.Queries, k.Keys) }

// projectQKV emits the query, key and value products, joined when compiled.
func (w grouped) projectQKV() {
	s, t := w.g.spec.Quant.Attention, w.Tokens
	q, kk, vv := w.k.QKV()
	switch {
	case w.rewrites(AtQKV, w.k):
	case w.g.spec.joinsIndexer(w.a):
		w.Linear(s, t, w.Hidden, q+kk+vv+w.indexCols(), 3)
	case w.g.spec.Compile:
		w.Linear(s, t, w.Hidden, q+kk+vv, 3)
		w.Bias(w.a.Bias, q+kk+vv)
	default:
		for _, cols := range [3]float64{q, kk, vv} {
			if cols == 0 {
				continue
			}
			w.FanOut(s, t, w.Hidden, 1)
			w.Linear(s, t, w.Hidden, cols, 1)
			w.Bias(w.a.Bias, cols)
		}
	}
}

// unitOps are the vector operations an element of making a vector one long.
const unitOps = 4

// insertJoined is the kernel between the joined product and attention: it reads all of it
// and writes queries, the cache and the selector's.
func (w grouped) insertJoined() {
	d, v, ix := float64(w.a.HeadDim), float64(w.a.ValueDim), w.indexCols()
	e, t, cached := w.Width(), w.Tokens, w.k.Keys*(d+v)
	queries := w.k.Queries*d + ix
	o := w.Elementwise(op.Rope, e*t*(2*queries+cached)+float64(w.g.spec.Quant.KV.Bytes(t*cached))+2*IndexBytes*t)
	o.Vector = units.Ops((unitOps + 3) * t * (queries + w.k.Keys*d))
}

// qkNorm emits the norms of queries and keys.
func (w grouped) qkNorm() {
	t, d := w.Tokens, float64(w.a.HeadDim)
	switch w.a.QKNorm {
	case model.PerHead:
		w.Norm(t*w.k.Queries, d)
		if !w.a.SharedKV {
			w.Norm(t*w.k.Keys, d)
		}
	case model.WholeVector:
		w.sumSquares()
		w.Norm(t, w.k.Queries*d)
		if !w.a.SharedKV {
			w.Norm(t, w.k.Keys*d)
		}
	case model.NoQKNorm:
	}
}

// sumSquares sums the squares of queries and of keys, a number of each for every token, over the
// ranks that have their heads, as a norm over all heads needs (vLLM's MiniMaxText01RMSNormTP,
// SGLang's MiniMaxM2RMSNormTP). For OLMo vLLM gathers all queries and keys instead.
func (w grouped) sumSquares() {
	if w.rewrites(AtSumSquares, nil) {
		return
	}
	const f32 = 4
	b := 2 * f32 * w.Tokens
	if w.a.SharedKV {
		b /= 2
	}
	w.Collective(op.AllReduce, op.ReduceAll, w.g.spec.Layout.TPGroup(), b, 2*b)
}

// kernel is that of grouped-query attention.
func (w grouped) kernel() {
	w.Follows = op.Context
	o := w.Next(op.Attention, op.GQAttention)
	w.Follows = w.rows
	o.Heads, o.KVHeads, o.HeadDim, o.ValueDim = w.k.Queries, w.k.cached, float64(w.a.HeadDim), float64(w.a.ValueDim)
	o.Prefill, o.Decode = w.Spans(w.a)
	o.Window = float64(w.a.Window)
	o.Unsplit = w.a.Window == 0 && w.a.Indexer.TopK == 0 && w.a.HeadDim == w.g.spec.UnsplitHeads
	o.Out, o.KV = w.Base, w.g.spec.Quant.KV
	padded, _ := w.Blocks()
	o.Bytes = units.Bytes(IndexBytes * (padded + w.Requests + 1 + 2*w.Requests))
	if in := w.g.spec.Quant.AttentionIn; in >= dtype.FP8 {
		o.Name, o.In = op.GQAttentionQuant, in
		w.attentionQuant(o)
	}
	w.readAgain(o)
	w.rewrites(AtAttended, w.k)
}

// readAgain emits the cache that decodes beside prompts read for further query heads, where one kernel computes both.
func (w grouped) readAgain(o *op.Op) {
	if !w.g.spec.SharesAttention || o.Prefill.Tokens == 0 || o.Decode.Tokens == 0 || o.Heads <= o.KVHeads {
		return
	}
	bytes := o.KV.Bytes(o.Decode.Context * (o.Heads - o.KVHeads) * (o.HeadDim + o.ValueDim))
	w.Follows = op.Context
	again := w.Next(op.Elementwise, o.Name)
	w.Follows = w.rows
	again.Bytes, again.Launches = bytes, -1
	w.Items[len(w.Items)-1].Continues = true
}

// attentionQuant adds the vector work of quantized attention: scores back to
// the working format, probabilities narrowed, the output widened; two
// operations an element with offsets (INT8), one without (FP8).
func (w grouped) attentionQuant(o *op.Op) {
	f := 2.0
	if o.In == dtype.FP8 {
		f = 1
	}
	pairs := o.Prefill.Pairs + o.Decode.Pairs
	tokens := o.Prefill.Tokens + o.Decode.Tokens
	o.Vector += units.Ops(f * (2*pairs*o.Heads + tokens*o.Heads*o.ValueDim))
	o.Bytes += 3 * ScaleBytes
}

// recall implements [mixer].
func (w grouped) recall() {
	w.choose()
	w.attend(w.ContextFollows >= op.Counts)
}

// rope emits the rotation of queries and keys.
func (w grouped) rope() {
	r := float64(w.a.RopeDim)
	if w.rewrites(AtRope, w.k) || r == 0 {
		return
	}
	keys := w.k.Keys
	if w.a.SharedKV {
		keys = 0
	}
	if w.g.spec.Compile {
		w.FusedRope(w.k.Queries+keys, r)
		return
	}
	w.TracedRope(w.k.Queries, r)
	w.TracedRope(keys, r)
}
