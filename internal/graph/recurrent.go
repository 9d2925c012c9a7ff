package graph

import (
	"math"

	"plimsoll/internal/dtype"
	"plimsoll/internal/model"
	"plimsoll/internal/op"
	"plimsoll/internal/units"
)

// chunkTokens is the chunk length of the parallel form of linear attention and
// state-space scans (64 in the reference kernels of Qwen3-Next and KDA).
const chunkTokens = 64

// gatedDelta emits a gated-delta-rule layer: joined projections, a short
// convolution, the recurrence, a gated norm, the output projection.
func (w *walk) gatedDelta(a *model.Attention) {
	s, t, e := w.g.spec.Quant.Attention, w.tokens, w.width()
	r := &a.Recurrent
	kh, vh := perRank(r.KeyHeads, w.g.tp), perRank(r.ValueHeads, w.g.tp)
	key, value := kh*float64(r.KeyDim), vh*float64(r.ValueDim)
	conv := 2*key + value
	w.inputNorm(s, true)
	w.fanOut(s, t, w.h, 2)
	in := conv + vh // q, k, v and the step size of each head
	if r.ChannelDecay {
		in += float64(r.KeyDim) // low rank of the decay
	} else {
		in += vh
	}
	if r.GateRank > 0 {
		in += float64(r.GateRank)
	} else {
		in += value
	}
	w.linear(s, t, w.h, in, 4)
	if r.ChannelDecay {
		w.linear(s, t, float64(r.KeyDim), key, 1)
	}
	if r.GateRank > 0 {
		w.linear(s, t, float64(r.GateRank), value, 1)
	}
	w.conv1d(conv, float64(r.Conv))
	w.scan(op.DeltaRule, vh, float64(r.KeyDim), float64(r.ValueDim), r.StateFormat)
	w.elementwise(op.RMSNorm, e*3*t*value).Vector32 = units.Ops(12 * t * value)
	w.quantize(s, t, value)
	w.linear(s, t, value, w.h, 1)
	w.reduceTP(t)
}

// mamba emits a Mamba-2 layer.
func (w *walk) mamba(a *model.Attention) {
	s, t, e := w.g.spec.Quant.Attention, w.tokens, w.width()
	r := &a.Recurrent
	heads := perRank(r.ValueHeads, w.g.tp)
	inner := heads * float64(r.ValueDim)
	state := math.Max(1, float64(r.Groups)/w.g.tp) * float64(r.KeyDim)
	conv := inner + 2*state
	w.inputNorm(s, true)
	w.fanOut(s, t, w.h, 1)
	w.linear(s, t, w.h, inner+conv+heads, 1)
	w.conv1d(conv, float64(r.Conv))
	w.scan(op.SelectiveScan, heads, float64(r.KeyDim), float64(r.ValueDim), r.StateFormat)
	w.elementwise(op.RMSNorm, e*3*t*inner).Vector32 = units.Ops(12 * t * inner)
	w.quantize(s, t, inner)
	w.linear(s, t, inner, w.h, 1)
	w.reduceTP(t)
}

// conv1d emits the causal convolution and its activation over the new tokens,
// with the carried window of each request.
func (w *walk) conv1d(channels, kernel float64) {
	e := w.width()
	o := w.elementwise(op.Conv1D, e*channels*(2*w.tokens+2*w.requests*kernel))
	o.Vector = units.Ops(w.tokens * channels * (2*kernel + 6))
}

// scan emits the recurrence: in chunks for a prefill, token by token for a
// decode. Each request's state is read and written once.
func (w *walk) scan(name op.Name, heads, kd, vd float64, state dtype.Format) {
	e := w.width()
	if state == dtype.None {
		state = dtype.F32
	}
	o := w.next(op.Recurrent, name)
	for i := range w.segments {
		s := &w.segments[i]
		n, q := float64(s.Requests), float64(s.Query)
		if s.Query < decodeQuery {
			o.Matrix += units.Ops(4 * n * q * heads * kd * vd)
			o.Vector32 += units.Ops(2 * n * q * heads * kd * vd)
			continue
		}
		chunks := math.Ceil(q / chunkTokens)
		pairs := n * heads * chunks * chunkTokens * chunkTokens
		tokens := n * heads * chunks * chunkTokens
		o.Matrix += units.Ops(pairs*(6*kd+4*vd) + 6*tokens*kd*vd)
		o.Vector32 += units.Ops(tokens*(4*kd+3*vd) + 6*pairs)
	}
	o.Heads, o.HeadDim, o.ValueDim = heads, kd, vd
	o.Prefill, o.Decode = w.spans(&model.Attention{})
	o.Bytes = units.Bytes(e*w.tokens*heads*(2*kd+2*vd)) + 2*state.Bytes(w.requests*heads*kd*vd)
}

// perRank is one rank's share of heads, at least one.
func perRank(heads int, tp float64) float64 { return math.Max(1, float64(heads)/tp) }
