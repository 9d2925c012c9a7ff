package graph

import "plimsoll/internal/op"

// feed marks the operator just emitted as one whose result a collective takes. One
// with several results, or with one in place, gives no token of it.
func (w *walk) feed() {
	if !w.g.spec.Policy.LostOrder || len(w.items) == 0 {
		return
	}
	it := &w.items[len(w.items)-1]
	switch it.Op.Name {
	case op.Prologue, op.PrologueQuant, op.DynamicQuantize, op.Rope, op.GatingTopK, op.TopK,
		op.RMSNormQuant, op.RMSNormStaticQuant, op.AddRMSNorm, op.AddRMSNormQuant, op.AddRMSNormStaticQuant,
		op.CacheWrite, op.LatentCacheWrite, op.FusedIndexer:
	default:
		it.Feeds = true
	}
}

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
