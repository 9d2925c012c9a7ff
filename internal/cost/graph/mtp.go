package graph

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/draft"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// drafting is what follows the main pass where tokens are drafted: MTP modules, or an EAGLE-3 head.
type drafting struct{ pass }

// predict emits multi-token prediction behind the main pass: the choice of the
// verified tokens, then per predicted token one decoder layer with its own
// embedding and head.
func (w drafting) predict() {
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
	switch {
	case s.MTP == 0 || s.Drafter.Method == draft.NGram:
		return 0, 0
	case s.Policy.WholeDrafts:
		return float64(s.MTP), 0
	}
	return 1, float64(s.MTP - 1)
}

// Modules are the MTP modules that are loaded and have a cache: further drafts come from the last one again.
func (s *Spec) Modules() int {
	switch {
	case s.Drafter != (Drafter{}):
		return 0
	case s.Policy.WholeDrafts:
		return s.MTP
	}
	return min(s.MTP, max(1, s.Model.MTP.Layers))
}

// single makes what follows a pass over one token of each request.
func (w drafting) single() {
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
func (w pass) speculatedRows() {
	w.Elementwise(op.DevicePut, 2*IndexBytes*w.Tokens)
	w.Elementwise(op.DevicePut, 2*IndexBytes*w.Requests)
	w.index(w.Tokens, w.Tokens, w.Hidden)
}

// chooseTokens emits the greedy choice from the logits: one bonus token a
// request and, in a decode step, the speculated ones, joined.
func (w drafting) chooseTokens() {
	w.Follows = op.Requests
	w.argmax(w.Requests)
	w.Follows = w.rows
	w.chooseSpeculated()
}

func (w drafting) chooseSpeculated() {
	w.Follows = op.Several
	if extra := w.logits - w.Requests; extra > 0 {
		w.argmax(extra)
		w.Elementwise(op.Cat, 2*IndexBytes*w.logits)
	}
	w.Follows = w.rows
}

func (w pass) argmax(rows float64) {
	w.Elementwise(op.ArgMax, rows*(w.Width()*float64(w.g.spec.Model.Vocab)+IndexBytes))
}

// freshRope emits rotary tables computed for the positions of the step:
// frequencies, cosines and sines in float32, then narrowed.
func (w drafting) freshRope() {
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

// HeadSpec is an EAGLE-3 head by itself, in 16 bits, sharded over TP as its model.
func (s *Spec) HeadSpec() Spec {
	plain := dtype.Unquantized(s.Quant.Base)
	l := parallel.Layout{Devices: s.Layout.TP, TP: s.Layout.TP}
	return Spec{
		Model: s.Drafter.Head, Layout: l.Complete(s.Drafter.Head), Policy: s.Policy, Compile: s.Compile,
		Quant: Quant{Base: s.Quant.Base, Attention: plain, Dense: plain, Experts: plain, Shared: plain, Head: plain, KV: s.Quant.KV, AttentionIn: s.Quant.Base},
	}
}

// Taps are the layers of a model whose hidden states an EAGLE-3 head takes.
const Taps = 3

// drafts is what drafts tokens, and the layer that does.
func (g *Graph) drafts() (*Graph, *Kind) {
	if g.head != nil {
		return g.head, &g.head.kinds[0]
	}
	return g, &g.mtp
}

// predictOne emits one predicted token: ids shifted, their embedding and the
// hidden states normed and joined, projected to the hidden width, one decoder
// layer, and the head for the last row of each request.
func (w drafting) predictOne() {
	g, t, b := w.g, w.Tokens, w.Requests
	by, kind := g.drafts()
	w.shiftIDs()
	w.embed()
	if by != g {
		w.joinHead(by)
	} else {
		s, h := g.spec.Quant.Attention, w.Hidden
		w.plainNorm(t, h)
		w.plainNorm(t, h)
		w.Cat(2 * t * h)
		w.Product(s, t, 2*h, h)
	}
	w.rewrites(AtSplitStreams, nil)
	w.Run = g.draftRun()
	w.Layer(kind).emit()
	w.Run = 0
	w.rewrites(AtJoinStreams, nil)
	w.lastRows()
	w.Follows = op.Requests
	w.project(b)
	w.argmax(b)
	w.g, w.Hidden = g, g.hidden
	for range newTokenCopies {
		w.Follows = op.Requests
		w.Elementwise(op.CopyOp, 3*IndexBytes*b)
		w.scatterIDs()
	}
}

// joinHead enters an EAGLE-3 head: where it takes hidden states of the model their projection, for further drafts they are its own;
// and the half of its queries, keys and values that comes from the embedding (vLLM, model_executor/models/llama_eagle3.py).
func (w drafting) joinHead(head *Graph) {
	t, s := w.Tokens, head.spec.Quant.Attention
	if w.rows == op.Tokens {
		w.Linear(s, t, Taps*w.Hidden, head.hidden, 1)
	}
	w.g, w.Hidden = head, head.hidden
	w.plainNorm(t, w.Hidden)
	w.plainNorm(t, w.Hidden)
	q, k, v := head.kinds[0].QKV()
	w.Linear(s, t, w.Hidden, q+k+v, 1)
}

// newTokenCopies is where a predicted token goes: into the ids and into the
// output.
const newTokenCopies = 2

// moveIDs are the varying operators of a predicted token.
func (w drafting) moveIDs() {
	w.shiftIDs()
	w.lastRows()
	for range newTokenCopies {
		w.scatterIDs()
	}
}

func (w drafting) shiftIDs() {
	w.Follows = op.Several
	w.Elementwise(op.ShiftIDs, IndexBytes*(2*w.Tokens+2*w.Requests+w.Requests+1))
	w.Follows = w.rows
}

// lastRows emits the selection of the last row of each request, if there are others.
func (w drafting) lastRows() {
	if w.rows == op.Requests {
		return
	}
	w.Follows = op.Several
	w.index(w.Tokens, w.Requests, w.Hidden)
	w.Follows = w.rows
}

func (w drafting) scatterIDs() {
	w.Follows = op.Several
	w.Elementwise(op.SelectScatter, IndexBytes*(2*w.Tokens+w.Requests))
	w.Follows = w.rows
}
