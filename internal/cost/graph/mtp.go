package graph

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/cost/op"
)

// predict emits multi-token prediction behind the main pass: the choice of the
// verified tokens, then per predicted token one decoder layer with its own
// embedding and head.
func (w *Walk) predict() {
	w.chooseTokens()
	w.freshRope()
	whole, single := w.g.spec.passes()
	for range int(whole) {
		w.predictOne()
	}
	if single > 0 {
		tokens, stream, follows := w.Tokens, w.Stream, w.ContextFollows
		w.single()
		w.Count, w.reps = single, single
		w.predictOne()
		w.Count, w.reps, w.rows = 1, 1, op.Tokens
		w.Tokens, w.Stream, w.Follows, w.ContextFollows = tokens, stream, w.rows, follows
	}
}

// passes are how often drafting computes all tokens of a step, and one token of each request. The first draft fills the
// drafter's cache for all tokens; each further one starts from the draft in front of it (vLLM, v1/spec_decode/eagle.py, propose;
// SGLang, speculative/eagle_worker.py, draft and draft_extend; TensorRT-LLM, _torch/speculative/mtp.py, MTPEagleWorker).
func (s *Spec) passes() (whole, single float64) {
	if s.Policy.WholeDrafts || s.MTP == 0 {
		return float64(s.MTP), 0
	}
	return 1, float64(s.MTP - 1)
}

// Modules are the MTP modules that are loaded and have a cache: further drafts come from the last one again.
func (s *Spec) Modules() int {
	if s.Policy.WholeDrafts {
		return s.MTP
	}
	return min(s.MTP, max(1, s.Model.MTP.Layers))
}

// single makes what follows a pass over one token of each request.
func (w *Walk) single() {
	w.Tokens, w.rows, w.Follows = w.Requests, op.Requests, op.Requests
	w.Stream = w.Tokens
	if w.g.cutsStream() {
		w.Stream = math.Ceil(w.Tokens / w.g.tp)
	}
	if w.ContextFollows == op.Tokens {
		w.ContextFollows = op.Requests
	}
}

// draftRun is the run that layers of MTP modules count as: one more behind the model's own, but outside them for TensorCast.
func (g *Graph) draftRun() uint16 {
	if g.spec.Policy.WholeDrafts {
		return 0
	}
	return uint16(len(g.runs) + 1)
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
	w.Follows = w.rows
	w.chooseSpeculated()
}

func (w *Walk) chooseSpeculated() {
	w.Follows = op.Several
	if extra := w.logits - w.Requests; extra > 0 {
		w.argmax(extra)
		w.Elementwise(op.Cat, 2*IndexBytes*w.logits)
	}
	w.Follows = w.rows
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
	w.Run = w.g.draftRun()
	w.layer(&w.g.mtp)
	w.Run = 0
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

// moveIDs are the varying operators of a predicted token.
func (w *Walk) moveIDs() {
	w.shiftIDs()
	w.lastRows()
	for range newTokenCopies {
		w.scatterIDs()
	}
}

func (w *Walk) shiftIDs() {
	w.Follows = op.Several
	w.Elementwise(op.ShiftIDs, IndexBytes*(2*w.Tokens+2*w.Requests+w.Requests+1))
	w.Follows = w.rows
}

// lastRows emits the selection of the last row of each request, if there are others.
func (w *Walk) lastRows() {
	if w.rows == op.Requests {
		return
	}
	w.Follows = op.Several
	w.index(w.Tokens, w.Requests, w.Hidden)
	w.Follows = w.rows
}

func (w *Walk) scatterIDs() {
	w.Follows = op.Several
	w.Elementwise(op.SelectScatter, IndexBytes*(2*w.Tokens+w.Requests))
	w.Follows = w.rows
}
