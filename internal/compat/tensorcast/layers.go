package tensorcast

import (
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
)

// firstNorm emits the norm in front of the first layer, which joined layers do not
// emit.
func (w cast) firstNorm(graph.Part) bool {
	w.Norm(w.Stream, w.Hidden)
	return true
}

// layerSum emits the residual sum at the end of a layer with the norm of the next
// layer where they are joined. The sum of the last layer is left to lastNorm.
func (w cast) layerSum(graph.Part) bool {
	if !w.Inside { // modules that predict tokens
		return false
	}
	n := w.Count
	if w.Last {
		w.Count--
	}
	if w.Count > 0 {
		w.Elementwise(op.AddRMSNorm, w.Width()*(4*w.Stream+1)*w.Hidden)
	}
	w.Count = n
	return true
}

// lastNorm emits the norm behind the last layer with its residual sum where
// layers are joined. The sum itself has no further use then.
func (w cast) lastNorm(graph.Part) bool {
	w.Elementwise(op.LastAddRMSNorm, w.Width()*(3*w.Stream+1)*w.Hidden)
	return true
}
