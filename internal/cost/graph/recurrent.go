package graph

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// recurrent is a mixer that carries a state from token to token, instead of a cache that grows.
type recurrent struct{ attention }

// emit implements [mixer]: a layer that carries a state: the projections in front, a short
// convolution and the recurrence, a norm or a gate, the output projection.
func (w recurrent) emit() {
	a, s, t := &w.k.Layer.Attention, w.g.spec.Quant.Attention, w.Tokens
	r := &a.Recurrent
	keys, heads := StateHeads(a, w.g.tp)
	key, value := keys*float64(r.KeyDim), heads*float64(r.ValueDim)
	w.InputNorm(s, true)
	switch a.Kind { //nolint:exhaustive // those with a state
	case model.GatedDelta:
		if !w.rewrites(AtDeltaInputs, w.k) {
			w.deltaInputs(r, key, value, heads)
		}
	case model.Mamba2: // values and gate, B and C, the step sizes
		w.FanOut(s, t, w.Hidden, 1)
		w.Linear(s, t, w.Hidden, value+(value+2*key)+heads, 1)
	case model.Mamba1:
		w.mamba1Inputs(r, value)
	case model.ShortConv: // two gates and the values; the first gates what is convolved
		w.FanOut(s, t, w.Hidden, 1)
		w.Linear(s, t, w.Hidden, 3*value, 1)
		w.Elementwise(op.Mul, 3*w.Width()*t*value)
	}
	w.recall()
	w.gateState(value)
	w.Product(s, t, value, w.Hidden)
	w.ReduceTP(t)
}

// gateState emits the norm or the gate behind a recurrence.
func (w recurrent) gateState(value float64) {
	n := w.Tokens * value
	switch kind := w.k.Layer.Attention.Kind; {
	case kind == model.Mamba1:
		w.Elementwise(op.SwiGLU, w.Width()*3*n)
	case kind == model.ShortConv:
		w.Elementwise(op.Mul, w.Width()*3*n)
	case kind == model.Mamba2 || !w.rewrites(AtGatedNorm, w.k):
		w.Elementwise(op.RMSNorm, w.Width()*3*n).Vector32 = units.Ops(12 * n)
	}
}

// deltaInputs emits the input projections of a gated delta rule, joined, and those
// behind low ranks.
func (w recurrent) deltaInputs(r *model.Recurrent, key, value, heads float64) {
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

// mamba1Inputs emits the products in front of Mamba's scan: as Mamba-2, but B, C and the step sizes follow from
// the convolved values by two further products.
func (w recurrent) mamba1Inputs(r *model.Recurrent, value float64) {
	s, t := w.g.spec.Quant.Attention, w.Tokens
	state, rank := float64(r.KeyDim), float64(r.GateRank)
	w.FanOut(s, t, w.Hidden, 1)
	w.Linear(s, t, w.Hidden, 2*value, 1)
	w.Product(s, t, value, rank+2*state)
	w.AllReduce(w.g.spec.Layout.TPGroup(), t, rank+2*state)
	w.Linear(s, t, rank, value, 1)
}

// StateHeads is a rank's share of a recurrence: keys, which Mamba-2 has one of
// for a group of heads, and the heads of its state.
func StateHeads(a *model.Attention, tp float64) (keys, heads float64) {
	r := &a.Recurrent
	keys = perRank(r.KeyHeads, tp)
	if a.Kind == model.Mamba2 {
		keys = perRank(r.Groups, tp)
	}
	return keys, perRank(r.ValueHeads, tp)
}

// recall implements [mixer]: what of a recurrent layer carries a state from step to step: the
// convolution of keys, queries and values, and the recurrence.
func (w recurrent) recall() {
	if w.rewrites(AtRecurrence, w.k) {
		return
	}
	a := &w.k.Layer.Attention
	r := &a.Recurrent
	keys, heads := StateHeads(a, w.g.tp)
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
func (w recurrent) scanChannels(channels, state float64, r *model.Recurrent) {
	e, cell := w.Width(), channels*state
	o := w.Elementwise(op.SelectiveScan, e*w.Tokens*(3*channels+2*state)+2*float64(w.stateFormat(r).Bytes(w.Requests*cell)))
	o.Vector32 = units.Ops(9 * w.Tokens * cell)
}

// stateFormat is that of a layer's states: the engine's, or else the model's.
func (w recurrent) stateFormat(r *model.Recurrent) dtype.Format {
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
func (w recurrent) conv1d(channels, kernel float64) {
	e := w.Width()
	o := w.Elementwise(op.Conv1D, e*channels*(2*w.Tokens+2*w.Requests*kernel))
	o.Vector = units.Ops(w.Tokens * channels * (2*kernel + 6))
}

// scan emits the recurrence of a rank's heads.
func (w recurrent) scan(name op.Name, keys, heads float64, r *model.Recurrent) {
	o := w.Next(op.Recurrent, name)
	o.Heads, o.KVHeads, o.HeadDim, o.ValueDim = heads, keys, float64(r.KeyDim), float64(r.ValueDim)
	o.KV = w.stateFormat(r)
	o.Prefill, o.Decode = w.Spans(&model.Attention{})
}

// perRank is one rank's share of heads, at least one.
func perRank(heads int, tp float64) float64 { return max(1, float64(heads)/tp) }
