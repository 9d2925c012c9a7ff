package graph

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// Attention emits the token mixer of a layer, its norm in front included.
func (w *Walk) Attention(k *Kind) {
	if w.rewrites(AtMixer, k) {
		return
	}
	switch a := &k.Layer.Attention; a.Kind {
	case model.GQA:
		w.gqa(k, a)
	case model.MLA:
		w.latent(k, a)
	case model.GatedDelta, model.Mamba2, model.Mamba1, model.ShortConv:
		w.recurrent(k)
	case model.Cross:
		w.cross(k, a)
	case model.NoAttention:
	}
}

// gqa emits grouped-query attention up to the sum over TP ranks.
func (w *Walk) gqa(k *Kind, a *model.Attention) {
	s := w.g.spec.Quant.Attention
	d, v := float64(a.HeadDim), float64(a.ValueDim)
	w.InputNorm(s, true)
	w.projectQKV(k, a)
	if w.g.spec.joinsIndexer(a) {
		w.insertJoined(k, a)
		w.choose(a)
		w.attend(k, a, true)
		w.outProjection(k, a, k.Queries*v)
		return
	}
	w.qkNorm(k, a)
	w.rope(k, a)
	if w.g.spec.Quant.AttentionIn >= dtype.FP8 {
		w.Narrow(w.Tokens * k.Queries * d)
		w.Narrow(w.Tokens * k.Keys * d)
		w.Narrow(w.Tokens * k.Keys * v)
	}
	if !a.SharedKV {
		w.cacheWrite(k.Keys * (d + v))
	}
	w.indexer(a, w.Hidden)
	w.attend(k, a, true)
	if a.OutGate && !w.rewrites(AtOutGate, k) {
		w.Elementwise(op.Mul, 3*w.Width()*w.Tokens*k.Queries*v)
	}
	w.outProjection(k, a, k.Queries*v)
}

// QKV is the columns of a rank's queries, with their gate, keys and values.
func (k *Kind) QKV() (q, keys, values float64) { return k.Layer.Attention.QKV(k.Queries, k.Keys) }

// projectQKV emits the query, key and value products, joined when compiled.
func (w *Walk) projectQKV(k *Kind, a *model.Attention) {
	s, t := w.g.spec.Quant.Attention, w.Tokens
	q, kk, vv := k.QKV()
	switch {
	case w.rewrites(AtQKV, k):
	case w.g.spec.joinsIndexer(a):
		w.Linear(s, t, w.Hidden, q+kk+vv+w.indexCols(a), 3)
	case w.g.spec.Compile:
		w.Linear(s, t, w.Hidden, q+kk+vv, 3)
		w.Bias(a.Bias, q+kk+vv)
	default:
		for _, cols := range [3]float64{q, kk, vv} {
			if cols == 0 {
				continue
			}
			w.FanOut(s, t, w.Hidden, 1)
			w.Linear(s, t, w.Hidden, cols, 1)
			w.Bias(a.Bias, cols)
		}
	}
}

// indexCols are the columns of a selector's queries, which lie on the ranks of their
// key/value heads, and of its key.
func (w *Walk) indexCols(a *model.Attention) float64 {
	return float64(a.Indexer.Dim) * (perRank(a.Indexer.Heads, float64(w.g.spec.Layout.TP)) + 1)
}

// unitOps are the vector operations an element of making a vector one long.
const unitOps = 4

// insertJoined is the kernel between the joined product and attention: it reads all of it
// and writes queries, the cache and the selector's.
func (w *Walk) insertJoined(k *Kind, a *model.Attention) {
	d, v, ix := float64(a.HeadDim), float64(a.ValueDim), w.indexCols(a)
	e, t, cached := w.Width(), w.Tokens, k.Keys*(d+v)
	queries := k.Queries*d + ix
	o := w.Elementwise(op.Rope, e*t*(2*queries+cached)+float64(w.g.spec.Quant.KV.Bytes(t*cached))+2*IndexBytes*t)
	o.Vector = units.Ops((unitOps + 3) * t * (queries + k.Keys*d))
}

// Bias adds a bias vector to the product just emitted.
func (w *Walk) Bias(has bool, cols float64) {
	if !has {
		return
	}
	o := &w.Items[len(w.Items)-1].Op
	o.Bytes += units.Bytes(w.Width() * cols)
	if w.g.spec.addsBias(o.Weight) {
		o.Vector += units.Ops(o.Rows * cols)
	}
}

// qkNorm emits the norms of queries and keys.
func (w *Walk) qkNorm(k *Kind, a *model.Attention) {
	t, d := w.Tokens, float64(a.HeadDim)
	switch a.QKNorm {
	case model.PerHead:
		w.Norm(t*k.Queries, d)
		if !a.SharedKV {
			w.Norm(t*k.Keys, d)
		}
	case model.WholeVector:
		w.sumSquares(a)
		w.Norm(t, k.Queries*d)
		if !a.SharedKV {
			w.Norm(t, k.Keys*d)
		}
	case model.NoQKNorm:
	}
}

// sumSquares sums the squares of queries and of keys, a number of each for every token, over the
// ranks that have their heads, as a norm over all heads needs (vLLM's MiniMaxText01RMSNormTP,
// SGLang's MiniMaxM2RMSNormTP). For OLMo vLLM gathers all queries and keys instead.
func (w *Walk) sumSquares(a *model.Attention) {
	if w.rewrites(AtSumSquares, nil) {
		return
	}
	const f32 = 4
	b := 2 * f32 * w.Tokens
	if a.SharedKV {
		b /= 2
	}
	w.Collective(op.AllReduce, op.ReduceAll, w.g.spec.Layout.TPGroup(), b, 2*b)
}

// cacheWrite emits the copy of new keys and values into the cache, quantizing
// queries, keys and values first where attention works in a narrow format.
func (w *Walk) cacheWrite(cols float64) {
	in := w.Base
	if q := w.g.spec.Quant.AttentionIn; q >= dtype.FP8 {
		in = q
	}
	n := w.Tokens * cols
	w.Elementwise(op.CacheWrite, float64(in.Bytes(n)+w.g.spec.Quant.KV.Bytes(n))+IndexBytes*w.Tokens)
}

// Narrow emits one static quantization of n elements.
func (w *Walk) Narrow(n float64) {
	w.Elementwise(op.Quantize, (w.Width()+1)*n+ScaleBytes)
}

// attend emits the attention kernel, between the exchanges of context parallelism where these are wanted.
func (w *Walk) attend(k *Kind, a *model.Attention, exchanges bool) {
	if exchanges {
		w.gatherQueries(k, a)
	}
	width := a.ValueDim
	if a.Kind == model.MLA {
		w.attendLatent(k, a)
		width = a.KVRank
	} else {
		w.attendGrouped(k, a)
	}
	if exchanges {
		w.mergeOutputs(k, float64(width))
	}
}

// attendGrouped emits the kernel of grouped-query attention.
func (w *Walk) attendGrouped(k *Kind, a *model.Attention) {
	w.Follows = op.Context
	o := w.Next(op.Attention, op.GQAttention)
	w.Follows = w.rows
	o.Heads, o.KVHeads, o.HeadDim, o.ValueDim = k.Queries, k.cached, float64(a.HeadDim), float64(a.ValueDim)
	o.Prefill, o.Decode = w.Spans(a)
	o.Window = float64(a.Window)
	o.Unsplit = a.Window == 0 && a.Indexer.TopK == 0 && a.HeadDim == w.g.spec.UnsplitHeads
	o.Out, o.KV = w.Base, w.g.spec.Quant.KV
	padded, _ := w.Blocks()
	o.Bytes = units.Bytes(IndexBytes * (padded + w.Requests + 1 + 2*w.Requests))
	if in := w.g.spec.Quant.AttentionIn; in >= dtype.FP8 {
		o.Name, o.In = op.GQAttentionQuant, in
		w.attentionQuant(o)
	}
	w.readAgain(o)
	w.rewrites(AtAttended, k)
}

// readAgain emits the cache that decodes beside prompts read for further query heads, where one kernel computes both.
func (w *Walk) readAgain(o *op.Op) {
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
func (w *Walk) attentionQuant(o *op.Op) {
	f := 2.0
	if o.In == dtype.FP8 {
		f = 1
	}
	pairs := o.Prefill.Pairs + o.Decode.Pairs
	tokens := o.Prefill.Tokens + o.Decode.Tokens
	o.Vector += units.Ops(f * (2*pairs*o.Heads + tokens*o.Heads*o.ValueDim))
	o.Bytes += 3 * ScaleBytes
}

// outProjection emits the product behind attention and the sum over TP.
func (w *Walk) outProjection(k *Kind, a *model.Attention, depth float64) {
	s, t := w.g.spec.Quant.Attention, w.Tokens
	if a.OutRank > 0 {
		// Low-rank output in groups: depth/groups → rank each, then rank·groups → hidden.
		groups, rank := float64(a.OutGroup)/w.g.tp, float64(a.OutRank)
		w.Quantize(s, t, depth)
		w.grouped(s, t*groups, groups, depth/groups, rank, 0)
		depth = rank * groups
	}
	w.Product(s, t, depth, w.Hidden)
	if k.whole { // the weights are cut all the same
		w.Items[len(w.Items)-1].Op.Bytes -= s.Weight.Bytes(depth * w.Hidden * (1 - 1/w.g.tp))
	}
	w.Bias(a.OutBias, w.Hidden)
	w.ReduceTP(t)
}

// ReduceTP sums partial hidden states over TP, overlapped with the product in
// front if MatMulAllReduce is set. A cut residual stream keeps only its rows.
func (w *Walk) ReduceTP(rows float64) {
	tp := w.g.spec.Layout.TPGroup()
	if w.Stream < w.Tokens {
		b := w.Width() * rows * w.Hidden
		w.Collective(op.ReduceScatter, op.ScatterReduce, tp, b, b*(1+1/w.g.tp))
		return
	}
	w.reduceProduct(tp, rows, w.Hidden)
}

// reduceProduct sums the product just emitted over a group, overlapped with it
// if MatMulAllReduce is set.
func (w *Walk) reduceProduct(g parallel.Group, rows, cols float64) {
	before := len(w.Items)
	w.AllReduce(g, rows, cols)
	if w.g.spec.MatMulAllReduce && w.g.spec.Compile && len(w.Items) > before {
		w.Items[len(w.Items)-1].Beside = true
	}
}
