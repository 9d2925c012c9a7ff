package tensorcast

import (
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// contextParallel is the exchanges of ranks that share the cache of a request.
type contextParallel struct{ cast }

// begin restricts context parallelism to steps that only decode, whose tokens its
// exchanges follow.
func (w contextParallel) begin(graph.Part) bool {
	w.ContextFollows = op.Several
	for i := range w.Groups() {
		all, _ := w.Group(i)
		if all.Tokens/all.Requests >= graph.ShortQuery || all.Context <= all.Tokens {
			w.ContextRanks = 1
		}
	}
	return true
}

// partLengths emits the lengths of the parts of a cache, which later kinds of layers take
// from the first.
func (w contextParallel) partLengths(p graph.Part) bool {
	if p.Kind.Layer.Attention.Kind != model.MLA || w.Run > 1 {
		return true
	}
	for _, name := range [3]op.Name{op.Add, op.Div, op.Clamp} {
		w.Elementwise(name, 2*indexBytes*w.Requests)
	}
	return true
}

// mergeOutputs emits the exchange of outputs after their up-projection, and their sum.
func (w contextParallel) mergeOutputs(p graph.Part) bool {
	k, a, ranks := p.Kind, &p.Kind.Layer.Attention, w.ContextRanks
	// Outputs and the logarithm of each head's sum, of all gathered heads, kept in
	// the graph by adding zero times an element of what comes before and behind.
	e, n := w.Width(), w.Tokens*k.Queries*float64(a.ValueDim)
	x := f32 * w.Tokens * k.Queries * (float64(a.ValueDim) + 1)
	w.addNothing(f32, ranks*x/f32)
	w.Collective(op.AllToAll, op.Exchange, w.Spec().Layout.DCPGroup(), x*(ranks-1), 2*x*ranks)
	if a.Kind == model.MLA {
		w.Elementwise(op.Clone, 2*e*n)
	} else {
		w.Elementwise(op.Mul, 2*e)
		w.Elementwise(op.Add, e*(2*n+1))
	}
	w.addNothing(e, n)
	return true
}

// addNothing adds zero times an element of another format to n elements e bytes wide.
func (w contextParallel) addNothing(e, n float64) {
	w.Convert(w.Width() + f32)
	w.Elementwise(op.Mul, 2*e)
	w.Elementwise(op.Add, e*(2*n+1))
}
