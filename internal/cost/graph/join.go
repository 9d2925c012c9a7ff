package graph

import "github.com/plimsoll-project/plimsoll/internal/cost/op"

// joinsLayers reports whether the layers of a model are compiled together, so that
// the residual sum of one and the norm of the next are one operator.
func (g *Graph) joinsLayers() bool {
	s := &g.spec
	if !s.Policy.JoinedLayers || !s.Policy.SlowPrologue || !s.Compile || s.tracesNorms() {
		return false
	}
	for i := range s.Model.Kinds {
		if s.Model.Kinds[i].Attention.Indexer.Shared {
			return true
		}
	}
	return false
}

// openLayers emits the norm in front of the first layer where no layer emits its
// own.
func (w *walk) openLayers() {
	if w.joins = w.g.joinsLayers(); w.joins {
		w.norm(w.stream, w.h)
	}
}

// sumLayer emits the residual sum at the end of a layer, with the norm of the next
// layer where they are joined. The sum of the last layer is left to closeLayers.
func (w *walk) sumLayer() {
	if !w.joins {
		w.add(w.stream, w.h)
		return
	}
	n := w.n
	if w.ends {
		w.n--
	}
	if w.n > 0 {
		w.loosen()
		w.elementwise(op.AddRMSNorm, w.width()*(4*w.stream+1)*w.h)
	}
	w.n = n
}

// closeLayers emits the norm behind the last layer, with its residual sum where
// layers are joined. The sum itself has no further use then.
func (w *walk) closeLayers() {
	if w.joins {
		w.elementwise(op.LastAddRMSNorm, w.width()*(3*w.stream+1)*w.h)
	} else {
		w.norm(w.stream, w.h)
	}
	w.joins, w.ends = false, false
}
