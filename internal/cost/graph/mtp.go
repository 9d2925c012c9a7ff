package graph

import "github.com/plimsoll-project/plimsoll/internal/cost/op"

// predict emits multi-token prediction behind the main pass: the choice of the
// verified tokens, then per predicted token one decoder layer with its own
// embedding and head. All tokens of the step go through each of these layers.
func (w *walk) predict() {
	w.chooseTokens()
	w.freshRope()
	for range w.g.spec.MTP {
		w.predictOne()
	}
}

// speculatedRows emits the selection of the rows to verify. Their positions
// come from the host.
func (w *walk) speculatedRows() {
	w.elementwise(op.DevicePut, 2*indexBytes*w.tokens)
	w.elementwise(op.DevicePut, 2*indexBytes*w.requests)
	w.index(w.tokens, w.tokens, w.h)
}

// chooseTokens emits the greedy choice from the logits: one bonus token a
// request and, in a decode step, the speculated ones, joined.
func (w *walk) chooseTokens() {
	w.by = op.Requests
	w.argmax(w.requests)
	w.by = op.Tokens
	w.chooseSpeculated()
}

func (w *walk) chooseSpeculated() {
	w.by = op.Several
	if extra := w.logits - w.requests; extra > 0 {
		w.argmax(extra)
		w.elementwise(op.Cat, 2*indexBytes*w.logits)
	}
	w.by = op.Tokens
}

func (w *walk) argmax(rows float64) {
	w.elementwise(op.ArgMax, rows*(w.width()*float64(w.g.spec.Model.Vocab)+indexBytes))
}

// freshRope emits the rotary tables computed anew for the positions of the
// step: frequencies, cosines and sines in float32, then narrowed.
func (w *walk) freshRope() {
	t, r, e := w.tokens, w.g.ropeDim, w.width()
	if r == 0 {
		return
	}
	const f32 = 4
	w.convert((indexBytes + f32) * t)
	w.elementwise(op.Mul, f32*(r/2+t+t*r/2))
	w.elementwise(op.Clone, 2*f32*t*r)
	for _, name := range [2]op.Name{op.Cos, op.Sin} {
		w.elementwise(name, 2*f32*t*r)
		w.elementwise(op.Mul, 2*f32*t*r)
		w.convert((f32 + e) * t * r)
	}
}

// predictOne emits one predicted token: ids shifted, their embedding and the
// hidden states normed and joined, projected to the hidden width, one decoder
// layer, and the head for the last row of each request.
func (w *walk) predictOne() {
	t, b, h := w.tokens, w.requests, w.h
	s := w.g.spec.Quant.Attention
	w.shiftIDs()
	w.embed()
	w.plainNorm(t, h)
	w.plainNorm(t, h)
	w.cat(2 * t * h)
	w.quantize(s, t, 2*h)
	w.linear(s, t, 2*h, h, 1)
	w.splitStreams()
	w.layer(&w.g.mtp)
	w.joinStreams()
	w.lastRows()
	w.by = op.Requests
	w.project(b)
	w.argmax(b)
	for range newTokenCopies {
		w.by = op.Requests
		w.elementwise(op.CopyOp, 3*indexBytes*b)
		w.scatterIDs()
	}
}

// newTokenCopies is where a predicted token goes: into the ids and into the
// output.
const newTokenCopies = 2

func (w *walk) shiftIDs() {
	w.by = op.Several
	w.elementwise(op.ShiftIDs, indexBytes*(2*w.tokens+2*w.requests+w.requests+1))
	w.by = op.Tokens
}

// lastRows emits the selection of the last row of each request.
func (w *walk) lastRows() {
	w.by = op.Several
	w.index(w.tokens, w.requests, w.h)
	w.by = op.Tokens
}

func (w *walk) scatterIDs() {
	w.by = op.Several
	w.elementwise(op.SelectScatter, indexBytes*(2*w.tokens+w.requests))
	w.by = op.Tokens
}
