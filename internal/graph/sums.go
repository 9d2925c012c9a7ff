package graph

import (
	"plimsoll/internal/model"
	"plimsoll/internal/op"
)

// Sums is a batch by phase: what its requests add up to where every token
// attends to all tokens up to itself. Attention that looks at less, for a window
// or a choice, is counted for requests of the mean length, which is exact where
// the requests of a phase are equal.
type Sums struct {
	Prefill, Decode op.Span
}

// Counts are the three counts that operators follow: new tokens, rows that want
// logits (of a decode all, of a prompt the last), and requests.
func (s *Sums) Counts() [op.Counts]float64 {
	return [op.Counts]float64{
		op.Tokens:   s.Prefill.Tokens + s.Decode.Tokens,
		op.Logits:   s.Prefill.Requests + s.Decode.Tokens,
		op.Requests: s.Prefill.Requests + s.Decode.Requests,
	}
}

// AppendVarying appends those operators of a step without images to dst that no
// single count of its batch decides and Append marks as op.Several and op.Context:
// attention, what chooses for it, recurrences, the selection of rows. Those of layers
// with equal attention stand there once for all of them, and so do those of predicted
// tokens.
func (g *Graph) AppendVarying(dst []op.Item, s *Sums) []op.Item {
	w := walk{g: g, items: dst, base: g.base, h: g.hidden, sums: *s}
	counts := s.Counts()
	w.tokens, w.logits, w.requests = counts[op.Tokens], counts[op.Logits], counts[op.Requests]
	for i, r := range g.recalls {
		w.n, w.run, w.reps = r.count, uint16(i+1), r.count
		w.recall(&g.kinds[r.kind])
	}
	w.n, w.run, w.reps = 1, 0, 1
	w.rowsOfHead()
	if g.spec.MTP > 0 {
		w.chooseSpeculated()
		w.n = float64(g.spec.MTP)
		w.recallPredicted()
	}
	if n := g.spec.Draft.Layers; n > 0 {
		w.n = float64(n)
		w.recall(g.lastKind())
	}
	return w.items
}

// recall emits those operators of a layer that look at what earlier steps left.
func (w *walk) recall(k *kind) {
	switch a := &k.layer.Attention; a.Kind {
	case model.GQA:
		w.choose(a)
		if w.g.spec.Policy.TracedContext {
			w.attend(k, a)
		} else {
			w.attendHere(k, a)
		}
	case model.MLA:
		if w.g.spec.tracesCompression(a) {
			w.attendCompressed(k, a)
			return
		}
		if w.fusesIndexer(a) {
			w.fusedIndexer(a)
		} else {
			w.choose(a)
		}
		if w.g.spec.Policy.TracedContext {
			w.attendLatent(k, a)
		} else {
			w.attendLatentHere(k, a)
		}
	case model.GatedDelta, model.Mamba2, model.Mamba1, model.ShortConv:
		w.recur(a)
	case model.Cross, model.NoAttention: // no images here
	}
}

// recallPredicted emits the varying operators of a predicted token.
func (w *walk) recallPredicted() {
	w.shiftIDs()
	w.recall(&w.g.mtp)
	w.lastRows()
	for range newTokenCopies {
		w.scatterIDs()
	}
}
