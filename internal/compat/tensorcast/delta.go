package tensorcast

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// delta is Qwen's linear attention.
type delta struct{ cast }

// traced reports whether an attention is a gated delta rule as TensorCast has it.
func (w delta) traced(a *model.Attention) bool {
	return w.does.has(wideDelta) && graph.HeadDecay(a)
}

// emit is the whole of convolution, gating and delta rule as TensorCast has them. A
// decode is worked off token by token; in any other step all tokens are one sequence.
func (w delta) emit(a *model.Attention) {
	r := &a.Recurrent
	keys, heads := graph.StateHeads(a, w.TP())
	channels := 2*keys*float64(r.KeyDim) + heads*float64(r.ValueDim)
	recurrent, cached := w.phase()
	w.Follows = op.Several
	name, window := op.DeltaConv, 0.0
	if recurrent {
		name, window = op.DeltaConvUpdate, w.Tokens
	}
	kernel := float64(r.Conv)
	o := w.Elementwise(name, w.Width()*channels*(2*w.Tokens+kernel*(1+window)))
	o.Vector = units.Ops(w.Tokens * channels * (2*kernel + siluOps))
	w.gating(keys, heads, float64(r.KeyDim))
	if recurrent {
		w.steps(heads, float64(r.KeyDim), float64(r.ValueDim))
	} else {
		w.chunks(heads, float64(r.KeyDim), float64(r.ValueDim), cached)
	}
	w.Follows = op.Tokens
}

// Vector operations an element, as TensorCast counts them.
const (
	siluOps     = 6
	sigmoidOps  = 4
	softplusOps = 4
	unitOps     = 4 // making a vector one long
)

// phase says whether all requests decode one token and the speculated ones
// behind a cache, and whether there is any cache.
func (w delta) phase() (recurrent, cached bool) {
	recurrent = true
	for i := range w.Groups() {
		all, verify := w.Group(i)
		q := all.Tokens / all.Requests
		recurrent = recurrent && verify && (q == 1 || q == float64(1+w.Spec().MTP))
		cached = cached || all.Context > all.Tokens
	}
	return recurrent && cached, cached
}

// gating emits what spreads keys and queries over the heads of the state, and
// makes decays and step sizes.
func (w delta) gating(keys, heads, d float64) {
	e, t := w.Width(), w.Tokens
	n := t * heads
	o := w.Elementwise(op.DeltaGating, e*(2*t*keys*d+2*n+2*heads)+e*(2*n*d+n)+f32*n)
	o.Vector = units.Ops(sigmoidOps * n)
	o.Vector32 = units.Ops(heads + n*(softplusOps+3))
}

// steps is the rule for one token of each request: its state is read and
// written.
func (w delta) steps(heads, dk, dv float64) {
	n := w.Tokens * heads
	o := w.rule(op.DeltaSteps, n, dk, dv)
	o.Matrix, o.Vector32 = stepWork(n, dk, dv)
	o.Bytes += 2 * dtype.F32.Bytes(n*dk*dv)
}

// rule begins the rule of n tokens and heads: queries, keys, values, decays,
// step sizes and outputs. Its matrices are float32.
func (w delta) rule(name op.Name, n, dk, dv float64) *op.Op {
	o := w.Elementwise(name, w.Width()*n*(2*dk+2*dv+1)+f32*n)
	o.In = dtype.F32
	o.Vector = units.Ops(2 * unitOps * n * dk)
	return o
}

// deltaChunkLaunches is what TensorCast charges for the rule in chunks beyond its
// first launch.
const deltaChunkLaunches = 8

// chunks is the rule for all tokens as one sequence, in chunks of 64, with the
// scratch memory of the parallel form: scaled keys and values, wide copies of the
// vectors, and four triangles a chunk, each written and read.
func (w delta) chunks(heads, dk, dv float64, cached bool) {
	padded := heads * deltaChunk * math.Ceil(w.Tokens/deltaChunk)
	o := w.rule(op.DeltaChunks, w.Tokens*heads, dk, dv)
	o.Launches = deltaChunkLaunches
	o.Matrix, o.Vector32 = chunkWork(padded, dk, dv)
	states := 1.0
	if cached {
		states = 2
	}
	o.Bytes += units.Bytes(states*f32*heads*dk*dv +
		2*w.Width()*padded*(dk+dv) + 2*f32*padded*(2*dk+dv+3) + 2*f32*4*padded*deltaChunk)
}

// deltaChunk is the length of a chunk.
const deltaChunk = 64

// chunkWork is the arithmetic of the rule in chunks, for so many tokens and heads,
// all in float32.
func chunkWork(padded, dk, dv float64) (matrix, vector units.Ops) {
	chunks, pairs := padded/deltaChunk, padded*deltaChunk
	prefix := chunks * (deltaChunk - 1) * deltaChunk * (2*deltaChunk - 1) / 3
	return units.Ops(pairs*(6*dk+4*dv) + 6*padded*dk*dv),
		units.Ops(padded*(3*dk+3*dv+3) + 6*pairs + prefix + chunks*(2*dk*dv+1))
}

// stepWork is the arithmetic of the rule for n tokens and heads one by one.
func stepWork(n, dk, dv float64) (matrix, vector units.Ops) {
	return units.Ops(4 * n * dk * dv), units.Ops(n * (dk + 2*dv + 2 + 2*dk*dv))
}

// linearAttention is a whole layer of linear attention from the norm's output on:
// the work of all its heads, and no bytes but inputs, outputs and positions. Only a
// single token is worked off as a decode.
func (w delta) linearAttention(a *model.Attention) {
	r, t, e := &a.Recurrent, w.Tokens, w.Width()
	dk, dv, keys, heads := float64(r.KeyDim), float64(r.ValueDim), float64(r.KeyHeads), float64(r.ValueHeads)
	value := heads * dv
	channels := 2*keys*dk + value
	w.Follows = op.Several
	o := w.Elementwise(op.LinearAttention, 2*e*t*w.Hidden+indexBytes*t)
	o.Matrix = units.Ops(2 * t * w.Hidden * (channels + 2*value + 2*heads))
	o.Vector = units.Ops(t * (channels*(2*float64(r.Conv)+siluOps) + sigmoidOps*heads + 2*unitOps*heads*dk))
	o.Vector32 = units.Ops(heads + t*(heads*(softplusOps+3)+13*value))
	matrix, vector := chunkWork(heads*deltaChunk*math.Ceil(t/deltaChunk), dk, dv)
	if _, cached := w.phase(); cached && t == 1 {
		matrix, vector = stepWork(heads, dk, dv)
	}
	rule := w.Continued(op.LinearAttention)
	rule.In, rule.Matrix, rule.Vector32 = dtype.F32, matrix, vector
	w.Follows = op.Tokens
}

// inputs emits the input projections of a gated delta rule: one by one if not
// compiled, and if MXFP4 those joined whose scales have one shape.
func (w delta) inputs(p graph.Part) bool {
	a, s, t := &p.Kind.Layer.Attention, w.Spec().Quant.Attention, w.Tokens
	keys, heads := graph.StateHeads(a, w.TP())
	value := heads * float64(a.Recurrent.ValueDim)
	mixed := 2*(keys*float64(a.Recurrent.KeyDim)) + value
	switch {
	case !w.traced(a):
		return false
	case !w.Spec().Compile:
		for _, cols := range [4]float64{mixed, value, heads, heads} { // with the gate, step sizes and decays
			w.FanOut(s, t, w.Hidden, 1)
			w.Linear(s, t, w.Hidden, cols, 1)
		}
	case s.Weight == dtype.FP4:
		w.Linear(s, t, w.Hidden, mixed, 1)
		w.Linear(s, t, w.Hidden, value, 1)
		w.Linear(s, t, w.Hidden, 2*heads, 2)
	default:
		return false
	}
	return true
}

// recurrence emits convolution and recurrence of a gated delta rule.
func (w delta) recurrence(p graph.Part) bool {
	switch a := &p.Kind.Layer.Attention; {
	case w.Spec().OpaqueDelta(a):
		w.linearAttention(a)
	case w.traced(a):
		w.emit(a)
	default:
		return false
	}
	return true
}

// gatedNorm emits the norm behind the recurrence of a rank's heads, with its gate.
func (w delta) gatedNorm(p graph.Part) bool {
	a := &p.Kind.Layer.Attention
	if !w.traced(a) {
		return false
	}
	_, heads := graph.StateHeads(a, w.TP())
	d := float64(a.Recurrent.ValueDim)
	n := w.Tokens * heads * d
	w.Elementwise(op.GatedNorm, w.Width()*(3*n+d)).Vector32 = units.Ops(13 * n)
	return true
}
