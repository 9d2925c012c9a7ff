package graph

import "github.com/plimsoll-project/plimsoll/internal/cost/op"

// loosen marks the collective just emitted, if any, as one whose result goes to an
// operator with several results, or through a division into pieces, and which nothing
// waits for.
func (w *walk) loosen() {
	if !w.g.spec.Policy.LostOrder || len(w.items) == 0 {
		return
	}
	if it := &w.items[len(w.items)-1]; it.Op.Kind == op.Collective {
		it.Loose = true
	}
}
