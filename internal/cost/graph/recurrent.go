package graph

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// gatedDelta emits a gated-delta-rule layer: joined projections, a short
// convolution, the recurrence, a gated norm, the output projection.
func (w *Walk) gatedDelta(k *Kind) {
	a, s, t := &k.Layer.Attention, w.g.spec.Quant.Attention, w.Tokens
	r := &a.Recurrent
	kh, vh := w.StateHeads(a)
	key, value := kh*float64(r.KeyDim), vh*float64(r.ValueDim)
	w.InputNorm(s, true)
	if !w.rewrites(AtDeltaInputs, k) {
		w.deltaInputs(r, key, value, vh)
	}
	w.recur(k)
	if n := t * vh * float64(r.ValueDim); !w.rewrites(AtGatedNorm, k) {
		w.Elementwise(op.RMSNorm, w.Width()*3*n).Vector32 = units.Ops(12 * n)
	}
	w.Quantize(s, t, value)
	w.Linear(s, t, value, w.Hidden, 1)
	w.ReduceTP(t)
}

// deltaInputs emits the input projections of a gated delta rule, joined, and those
// behind low ranks.
func (w *Walk) deltaInputs(r *model.Recurrent, key, value, heads float64) {
	s, t := w.g.spec.Quant.Attention, w.Tokens
	w.FanOut(s, t, w.Hidden, 2)
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
	w.Linear(s, t, w.Hidden, in, 4)
	if r.ChannelDecay {
		w.Linear(s, t, float64(r.KeyDim), key, 1)
	}
	if r.GateRank > 0 {
		w.Linear(s, t, float64(r.GateRank), value, 1)
	}
}

// mamba emits a Mamba-2 layer.
func (w *Walk) mamba(k *Kind) {
	a := &k.Layer.Attention
	s, t, e := w.g.spec.Quant.Attention, w.Tokens, w.Width()
	r := &a.Recurrent
	groups, heads := w.StateHeads(a)
	inner := heads * float64(r.ValueDim)
	state := groups * float64(r.KeyDim)
	w.InputNorm(s, true)
	w.FanOut(s, t, w.Hidden, 1)
	w.Linear(s, t, w.Hidden, inner+(inner+2*state)+heads, 1)
	w.recur(k)
	w.Elementwise(op.RMSNorm, e*3*t*inner).Vector32 = units.Ops(12 * t * inner)
	w.Quantize(s, t, inner)
	w.Linear(s, t, inner, w.Hidden, 1)
	w.ReduceTP(t)
}

// mamba1 emits a Mamba layer: as Mamba-2, but B, C and the step sizes follow from
// the convolved values by two further products.
func (w *Walk) mamba1(k *Kind) {
	a := &k.Layer.Attention
	s, t, e := w.g.spec.Quant.Attention, w.Tokens, w.Width()
	r := &a.Recurrent
	_, inner := w.StateHeads(a)
	state, rank := float64(r.KeyDim), float64(r.GateRank)
	w.InputNorm(s, true)
	w.FanOut(s, t, w.Hidden, 1)
	w.Linear(s, t, w.Hidden, 2*inner, 1)
	w.Quantize(s, t, inner)
	w.Linear(s, t, inner, rank+2*state, 1)
	w.AllReduce(w.g.spec.Layout.TPGroup(), t, rank+2*state)
	w.Linear(s, t, rank, inner, 1)
	w.recur(k)
	w.Elementwise(op.SwiGLU, e*3*t*inner)
	w.Quantize(s, t, inner)
	w.Linear(s, t, inner, w.Hidden, 1)
	w.ReduceTP(t)
}

// shortConv emits a gated short convolution: two gates and the values in one
// product, the convolution of the gated values, the second gate.
func (w *Walk) shortConv(k *Kind) {
	a := &k.Layer.Attention
	s, t, e := w.g.spec.Quant.Attention, w.Tokens, w.Width()
	_, inner := w.StateHeads(a)
	w.InputNorm(s, true)
	w.FanOut(s, t, w.Hidden, 1)
	w.Linear(s, t, w.Hidden, 3*inner, 1)
	w.Elementwise(op.Mul, 3*e*t*inner)
	w.recur(k)
	w.Elementwise(op.Mul, 3*e*t*inner)
	w.Quantize(s, t, inner)
	w.Linear(s, t, inner, w.Hidden, 1)
	w.ReduceTP(t)
}

// StateHeads is a rank's share of a recurrence: keys, which Mamba-2 has one of
// for a group of heads, and the heads of its state.
func (w *Walk) StateHeads(a *model.Attention) (keys, heads float64) {
	r := &a.Recurrent
	keys = perRank(r.KeyHeads, w.g.tp)
	if a.Kind == model.Mamba2 {
		keys = perRank(r.Groups, w.g.tp)
	}
	return keys, perRank(r.ValueHeads, w.g.tp)
}

// recur emits what of a recurrent layer carries a state from step to step: the
// convolution of keys, queries and values, and the recurrence.
func (w *Walk) recur(k *Kind) {
	if w.rewrites(AtRecurrence, k) {
		return
	}
	a := &k.Layer.Attention
	r := &a.Recurrent
	keys, heads := w.StateHeads(a)
	values, kernel := heads*float64(r.ValueDim), float64(r.Conv)
	w.Follows = op.Several
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
	w.Follows = w.rows
}

// scanChannels emits Mamba's scan, whose every channel has a decay of its own for
// every element of its state: nine vector operations an element and token
// (discretize, decay, add, read out) and no matrix work.
func (w *Walk) scanChannels(channels, state float64, r *model.Recurrent) {
	e, cell := w.Width(), channels*state
	o := w.Elementwise(op.SelectiveScan, e*w.Tokens*(3*channels+2*state)+2*float64(w.stateFormat(r).Bytes(w.Requests*cell)))
	o.Vector32 = units.Ops(9 * w.Tokens * cell)
}

// stateFormat is that of a layer's states: the engine's, or else the model's.
func (w *Walk) stateFormat(r *model.Recurrent) dtype.Format {
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
func (w *Walk) conv1d(channels, kernel float64) {
	e := w.Width()
	o := w.Elementwise(op.Conv1D, e*channels*(2*w.Tokens+2*w.Requests*kernel))
	o.Vector = units.Ops(w.Tokens * channels * (2*kernel + 6))
}

// scan emits the recurrence of a rank's heads.
func (w *Walk) scan(name op.Name, keys, heads float64, r *model.Recurrent) {
	o := w.Next(op.Recurrent, name)
	o.Heads, o.KVHeads, o.HeadDim, o.ValueDim = heads, keys, float64(r.KeyDim), float64(r.ValueDim)
	o.KV = w.stateFormat(r)
	o.Prefill, o.Decode = w.Spans(&model.Attention{})
}

// perRank is one rank's share of heads, at least one.
func perRank(heads int, tp float64) float64 { return max(1, float64(heads)/tp) }
