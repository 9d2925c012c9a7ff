package graph

import "github.com/plimsoll-project/plimsoll/internal/cost/op"

// predict emits multi-token prediction behind the main pass: the choice of the
// verified tokens, then per predicted token one decoder layer with its own
// embedding and head. All tokens of the step go through each of these layers.
func (w *Walk) predict() {
	w.chooseTokens()
	w.freshRope()
	for range w.g.spec.MTP {
		w.predictOne()
	}
}

// speculatedRows emits the selection of the rows to verify. Their positions
// come from the host.
func (w *Walk) speculatedRows() {
	w.Elementwise(op.DevicePut, 2*IndexBytes*w.Tokens)
	w.Elementwise(op.DevicePut, 2*IndexBytes*w.Requests)
	w.index(w.Tokens, w.Tokens, w.Hidden)
}

// chooseTokens emits the greedy choice from the logits: one bonus token a
// request and, in a decode step, the speculated ones, joined.
func (w *Walk) chooseTokens() {
	w.Follows = op.Requests
	w.argmax(w.Requests)
	w.Follows = op.Tokens
	w.chooseSpeculated()
}

func (w *Walk) chooseSpeculated() {
	w.Follows = op.Several
	if extra := w.logits - w.Requests; extra > 0 {
		w.argmax(extra)
		w.Elementwise(op.Cat, 2*IndexBytes*w.logits)
	}
	w.Follows = op.Tokens
}

func (w *Walk) argmax(rows float64) {
	w.Elementwise(op.ArgMax, rows*(w.Width()*float64(w.g.spec.Model.Vocab)+IndexBytes))
}

// freshRope emits rotary tables computed for the positions of the step:
// frequencies, cosines and sines in float32, then narrowed.
func (w *Walk) freshRope() {
	t, r, e := w.Tokens, w.g.ropeDim, w.Width()
	if r == 0 {
		return
	}
	const f32 = 4
	w.Convert((IndexBytes + f32) * t)
	w.Elementwise(op.Mul, f32*(r/2+t+t*r/2))
	w.Elementwise(op.Clone, 2*f32*t*r)
	for _, name := range [2]op.Name{op.Cos, op.Sin} {
		w.Elementwise(name, 2*f32*t*r)
		w.Elementwise(op.Mul, 2*f32*t*r)
		w.Convert((f32 + e) * t * r)
	}
}

// predictOne emits one predicted token: ids shifted, their embedding and the
// hidden states normed and joined, projected to the hidden width, one decoder
// layer, and the head for the last row of each request.
func (w *Walk) predictOne() {
	t, b, h := w.Tokens, w.Requests, w.Hidden
	s := w.g.spec.Quant.Attention
	w.shiftIDs()
	w.embed()
	w.plainNorm(t, h)
	w.plainNorm(t, h)
	w.Cat(2 * t * h)
	w.Quantize(s, t, 2*h)
	w.Linear(s, t, 2*h, h, 1)
	w.rewrites(AtSplitStreams, nil)
	w.layer(&w.g.mtp)
	w.rewrites(AtJoinStreams, nil)
	w.lastRows()
	w.Follows = op.Requests
	w.project(b)
	w.argmax(b)
	for range newTokenCopies {
		w.Follows = op.Requests
		w.Elementwise(op.CopyOp, 3*IndexBytes*b)
		w.scatterIDs()
	}
}

// newTokenCopies is where a predicted token goes: into the ids and into the
// output.
const newTokenCopies = 2

func (w *Walk) shiftIDs() {
	w.Follows = op.Several
	w.Elementwise(op.ShiftIDs, IndexBytes*(2*w.Tokens+2*w.Requests+w.Requests+1))
	w.Follows = op.Tokens
}

// lastRows emits the selection of the last row of each request.
func (w *Walk) lastRows() {
	w.Follows = op.Several
	w.index(w.Tokens, w.Requests, w.Hidden)
	w.Follows = op.Tokens
}

func (w *Walk) scatterIDs() {
	w.Follows = op.Several
	w.Elementwise(op.SelectScatter, IndexBytes*(2*w.Tokens+w.Requests))
	w.Follows = op.Tokens
}
