package graph

import (
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
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
// single count of its batch decides and Append marks as op.Several and op.Context.
func (g *Graph) AppendVarying(dst []op.Item, s *Sums) []op.Item {
	return g.AppendSelections(g.AppendRecalls(dst, s), s.Counts())
}

// AppendRecalls appends the varying operators that look at what earlier steps left:
// attention, what chooses for it, recurrences. Those of layers with equal attention stand
// there once for all of them, and so do those of predicted tokens.
func (g *Graph) AppendRecalls(dst []op.Item, s *Sums) []op.Item {
	var stack Walk
	w := g.varying(&stack, dst, s.Counts())
	w.sums = *s
	w.rewrites(AtBegin, nil)
	for _, r := range g.recalls {
		w.g, w.Count, w.Run, w.reps = r.graph, r.count, r.run, r.count
		if r.single {
			drafting{pass{w}}.single()
		}
		w.Layer(r.kind).recall()
	}
	return g.finish(w)
}

// AppendSelections appends the varying operators that follow several counts alone: what
// selects rows and moves token ids.
func (g *Graph) AppendSelections(dst []op.Item, counts [op.Counts]float64) []op.Item {
	var stack Walk
	w := g.varying(&stack, dst, counts)
	w.Count, w.reps = 1, 1
	pass{w}.rowsOfHead()
	if g.spec.MTP > 0 {
		drafting{pass{w}}.chooseSpeculated()
		by, _ := g.drafts()
		w.Hidden = by.hidden
		whole, single := g.spec.passes()
		if w.Count = whole; whole > 0 {
			drafting{pass{w}}.moveIDs()
		}
		if single > 0 {
			drafting{pass{w}}.single()
			w.Count = single
			drafting{pass{w}}.moveIDs()
		}
	}
	return g.finish(w)
}

// varying is a walk through varying operators.
func (g *Graph) varying(stack *Walk, dst []op.Item, counts [op.Counts]float64) *Walk {
	w := g.start(stack, dst)
	w.Tokens, w.logits, w.Requests = counts[op.Tokens], counts[op.Logits], counts[op.Requests]
	return w
}
