package graph

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// contextShards is the number of ranks that share the cache of a request in this
// step. In TensorCast only decodes share it, and only a whole step of them.
func (w *walk) contextShards() float64 {
	n := float64(w.g.spec.Layout.DCP)
	if n <= 1 || !w.g.spec.Policy.TracedContext {
		return n
	}
	for i := range w.groups() {
		all, _ := w.group(i)
		if all.Tokens/all.Requests >= shortQuery || all.Context <= all.Tokens {
			return 1
		}
	}
	return n
}

// shard is one rank's part of a phase under context parallelism.
func shard(s op.Span, ranks float64) op.Span {
	s.Pairs /= ranks
	s.Context /= ranks
	return s
}

// sharded is a request's part of the cache on this rank, whole tokens and at least
// one.
func (w *walk) sharded(all op.Span) op.Span {
	seq := max(1, math.Ceil(all.Context/all.Requests/w.shards))
	return op.Equal(all.Requests, all.Tokens/all.Requests, seq)
}

// contextMeasure is what the operators of context parallelism follow.
func (w *walk) contextMeasure() op.Measure {
	if w.g.spec.Policy.TracedContext {
		return op.Several // tokens, of decodes
	}
	return op.Tokens
}

// gatherQueries emits the gathering of queries in front of attention under context
// parallelism.
func (w *walk) gatherQueries(k *kind, a *model.Attention) {
	if w.contextShards() <= 1 {
		return
	}
	w.by = w.contextMeasure()
	w.allGather(w.g.spec.Layout.DCPGroup(), w.tokens, k.hq*float64(a.HeadDim))
	if w.g.spec.Policy.TracedContext && a.Kind == model.MLA && w.run <= 1 {
		// Lengths of the parts, which later kinds of layers take from the first.
		for _, name := range [3]op.Name{op.Add, op.Div, op.Clamp} {
			w.elementwise(name, 2*indexBytes*w.requests)
		}
	}
	w.by = op.Tokens
}

// mergeOutputs emits the exchange of partial outputs behind attention, width wide,
// and their sum.
func (w *walk) mergeOutputs(k *kind, a *model.Attention, width float64) {
	ranks := w.contextShards()
	if ranks <= 1 {
		return
	}
	const f32 = 4
	w.by = w.contextMeasure()
	dcp := w.g.spec.Layout.DCPGroup()
	if !w.g.spec.Policy.TracedContext {
		x := f32 * w.tokens * k.hq * width * (ranks - 1)
		w.collective(op.AllToAll, op.Exchange, dcp, x, 2*x)
		w.by = op.Tokens
		return
	}
	// Outputs and the logarithm of each head's sum, of all gathered heads, kept in
	// the graph by adding zero times an element of what comes before and behind.
	e, n := w.width(), w.tokens*k.hq*float64(a.ValueDim)
	x := f32 * w.tokens * k.hq * (float64(a.ValueDim) + 1)
	w.addNothing(f32, ranks*x/f32)
	w.collective(op.AllToAll, op.Exchange, dcp, x*(ranks-1), 2*x*ranks)
	if a.Kind == model.MLA {
		w.elementwise(op.Clone, 2*e*n)
	} else {
		w.elementwise(op.Mul, 2*e)
		w.elementwise(op.Add, e*(2*n+1))
	}
	w.addNothing(e, n)
	w.by = op.Tokens
}

// addNothing adds zero times an element of another format to n elements e bytes wide.
func (w *walk) addNothing(e, n float64) {
	const f32 = 4
	w.convert(w.width() + f32)
	w.elementwise(op.Mul, 2*e)
	w.elementwise(op.Add, e*(2*n+1))
}
