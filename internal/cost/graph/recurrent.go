package graph

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// gatedDelta emits a gated-delta-rule layer: joined projections, a short
// convolution, the recurrence, a gated norm, the output projection.
func (w *walk) gatedDelta(a *model.Attention) {
	s, t := w.g.spec.Quant.Attention, w.tokens
	r := &a.Recurrent
	kh, vh := w.stateHeads(a)
	key, value := kh*float64(r.KeyDim), vh*float64(r.ValueDim)
	if w.g.spec.opaqueDelta(a) {
		w.norm(t, w.h)
		w.linearAttention(a)
		return
	}
	w.inputNorm(s, true)
	switch {
	case w.tracesDelta(a) && !w.g.spec.Compile:
		for _, cols := range [4]float64{2*key + value, value, vh, vh} { // with the gate, step sizes and decays
			w.fanOut(s, t, w.h, 1)
			w.linear(s, t, w.h, cols, 1)
		}
	case w.tracesDelta(a) && s.Weight == dtype.FP4: // only scales of one shape are joined
		w.linear(s, t, w.h, 2*key+value, 1)
		w.linear(s, t, w.h, value, 1)
		w.linear(s, t, w.h, 2*vh, 2)
	default:
		w.deltaInputs(r, key, value, vh)
	}
	w.recur(a)
	w.gatedNorm(a, vh)
	w.quantize(s, t, value)
	w.linear(s, t, value, w.h, 1)
	w.reduceTP(t)
}

// deltaInputs emits the input projections of a gated delta rule, joined, and those
// behind low ranks.
func (w *walk) deltaInputs(r *model.Recurrent, key, value, heads float64) {
	s, t := w.g.spec.Quant.Attention, w.tokens
	w.fanOut(s, t, w.h, 2)
	in := 2*key + value + heads // q, k, v and the step size of each head
	if r.ChannelDecay {
		in += float64(r.KeyDim) // low rank of the decay
	} else {
		in += heads
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
}

// gatedNorm emits the norm behind the recurrence of a rank's heads, with its gate.
func (w *walk) gatedNorm(a *model.Attention, heads float64) {
	d := float64(a.Recurrent.ValueDim)
	n := w.tokens * heads * d
	if w.tracesDelta(a) {
		w.elementwise(op.GatedNorm, w.width()*(3*n+d)).Vector32 = units.Ops(13 * n)
		return
	}
	w.elementwise(op.RMSNorm, w.width()*3*n).Vector32 = units.Ops(12 * n)
}

// mamba emits a Mamba-2 layer.
func (w *walk) mamba(a *model.Attention) {
	s, t, e := w.g.spec.Quant.Attention, w.tokens, w.width()
	r := &a.Recurrent
	groups, heads := w.stateHeads(a)
	inner := heads * float64(r.ValueDim)
	state := groups * float64(r.KeyDim)
	w.inputNorm(s, true)
	w.fanOut(s, t, w.h, 1)
	w.linear(s, t, w.h, inner+(inner+2*state)+heads, 1)
	w.recur(a)
	w.elementwise(op.RMSNorm, e*3*t*inner).Vector32 = units.Ops(12 * t * inner)
	w.quantize(s, t, inner)
	w.linear(s, t, inner, w.h, 1)
	w.reduceTP(t)
}

// mamba1 emits a Mamba layer: as Mamba-2, but B, C and the step sizes follow from
// the convolved values by two further products.
func (w *walk) mamba1(a *model.Attention) {
	s, t, e := w.g.spec.Quant.Attention, w.tokens, w.width()
	r := &a.Recurrent
	_, inner := w.stateHeads(a)
	state, rank := float64(r.KeyDim), float64(r.GateRank)
	w.inputNorm(s, true)
	w.fanOut(s, t, w.h, 1)
	w.linear(s, t, w.h, 2*inner, 1)
	w.quantize(s, t, inner)
	w.linear(s, t, inner, rank+2*state, 1)
	w.allReduce(w.g.spec.Layout.TPGroup(), t, rank+2*state)
	w.linear(s, t, rank, inner, 1)
	w.recur(a)
	w.elementwise(op.SwiGLU, e*3*t*inner)
	w.quantize(s, t, inner)
	w.linear(s, t, inner, w.h, 1)
	w.reduceTP(t)
}

// shortConv emits a gated short convolution: two gates and the values in one
// product, the convolution of the gated values, the second gate.
func (w *walk) shortConv(a *model.Attention) {
	s, t, e := w.g.spec.Quant.Attention, w.tokens, w.width()
	_, inner := w.stateHeads(a)
	w.inputNorm(s, true)
	w.fanOut(s, t, w.h, 1)
	w.linear(s, t, w.h, 3*inner, 1)
	w.elementwise(op.Mul, 3*e*t*inner)
	w.recur(a)
	w.elementwise(op.Mul, 3*e*t*inner)
	w.quantize(s, t, inner)
	w.linear(s, t, inner, w.h, 1)
	w.reduceTP(t)
}

// stateHeads is a rank's share of a recurrence: keys, which Mamba-2 has one of
// for a group of heads, and the heads of its state.
func (w *walk) stateHeads(a *model.Attention) (keys, heads float64) {
	r := &a.Recurrent
	keys = perRank(r.KeyHeads, w.g.tp)
	if a.Kind == model.Mamba2 {
		keys = perRank(r.Groups, w.g.tp)
	}
	return keys, perRank(r.ValueHeads, w.g.tp)
}

// recur emits what of a recurrent layer carries a state from step to step: the
// convolution of keys, queries and values, and the recurrence.
func (w *walk) recur(a *model.Attention) {
	if w.g.spec.opaqueDelta(a) {
		w.linearAttention(a)
		return
	}
	if w.tracesDelta(a) {
		w.tracedDelta(a)
		return
	}
	r := &a.Recurrent
	keys, heads := w.stateHeads(a)
	values, kernel := heads*float64(r.ValueDim), float64(r.Conv)
	w.by = op.Several
	switch a.Kind {
	case model.Mamba2:
		w.conv1d(2*keys*float64(r.KeyDim)+values, kernel)
		w.scan(op.SelectiveScan, keys, heads, r)
	case model.Mamba1:
		w.conv1d(values, kernel)
		w.scanChannels(values, float64(r.KeyDim), r)
	case model.ShortConv:
		w.conv1d(values, kernel)
	default:
		w.conv1d(2*keys*float64(r.KeyDim)+values, kernel)
		w.scan(op.DeltaRule, keys, heads, r)
	}
	w.by = op.Tokens
}

// scanChannels emits Mamba's scan, whose every channel has a decay of its own for
// every element of its state: nine vector operations an element and token
// (discretize, decay, add, read out) and no matrix work.
func (w *walk) scanChannels(channels, state float64, r *model.Recurrent) {
	e, cell := w.width(), channels*state
	o := w.elementwise(op.SelectiveScan, e*w.tokens*(3*channels+2*state)+2*float64(w.stateFormat(r).Bytes(w.requests*cell)))
	o.Vector32 = units.Ops(9 * w.tokens * cell)
}

// stateFormat is that of a layer's states: the engine's, or else the model's.
func (w *walk) stateFormat(r *model.Recurrent) dtype.Format {
	switch {
	case w.g.spec.Quant.State != dtype.None:
		return w.g.spec.Quant.State
	case r.StateFormat == dtype.None:
		return dtype.F32
	}
	return r.StateFormat
}

// conv1d emits the causal convolution and its activation over the new tokens,
// with the carried window of each request.
func (w *walk) conv1d(channels, kernel float64) {
	e := w.width()
	o := w.elementwise(op.Conv1D, e*channels*(2*w.tokens+2*w.requests*kernel))
	o.Vector = units.Ops(w.tokens * channels * (2*kernel + 6))
}

// scan emits the recurrence of a rank's heads.
func (w *walk) scan(name op.Name, keys, heads float64, r *model.Recurrent) {
	o := w.next(op.Recurrent, name)
	o.Heads, o.KVHeads, o.HeadDim, o.ValueDim = heads, keys, float64(r.KeyDim), float64(r.ValueDim)
	o.KV = w.stateFormat(r)
	o.Prefill, o.Decode = w.spans(&model.Attention{})
}

// perRank is one rank's share of heads, at least one.
func perRank(heads int, tp float64) float64 { return max(1, float64(heads)/tp) }
