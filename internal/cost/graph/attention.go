package graph

import (
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// attention is the token mixer of layers of a kind: what all mixers share, and the parts that several of them have.
type attention struct{ *Walk }

// cacheWrite emits the copy of new keys and values into the cache, quantizing
// queries, keys and values first where attention works in a narrow format.
func (w attention) cacheWrite(cols float64) {
	in := w.Base
	if q := w.g.spec.Quant.AttentionIn; q >= dtype.FP8 {
		in = q
	}
	n := w.Tokens * cols
	w.Elementwise(op.CacheWrite, float64(in.Bytes(n)+w.g.spec.Quant.KV.Bytes(n))+IndexBytes*w.Tokens)
}

// attend emits the attention kernel, between the exchanges of context parallelism where these are wanted.
func (w attention) attend(exchanges bool) {
	if exchanges {
		w.gatherQueries()
	}
	width := w.a.ValueDim
	if w.a.Kind == model.MLA {
		latent{w}.kernel()
		width = w.a.KVRank
	} else {
		grouped{w}.kernel()
	}
	if exchanges {
		w.mergeOutputs(float64(width))
	}
}

// outProjection emits the product behind attention and the sum over TP.
func (w attention) outProjection(depth float64) {
	s, t := w.g.spec.Quant.Attention, w.Tokens
	if w.a.OutRank > 0 {
		// Low-rank output in groups: depth/groups → rank each, then rank·groups → hidden.
		groups, rank := float64(w.a.OutGroup)/w.g.tp, float64(w.a.OutRank)
		w.Quantize(s, t, depth)
		w.groupedProduct(s, t*groups, groups, depth/groups, rank, 0)
		depth = rank * groups
	}
	w.Product(s, t, depth, w.Hidden)
	if w.k.whole { // the weights are cut all the same
		w.Items[len(w.Items)-1].Op.Bytes -= s.Weight.Bytes(depth * w.Hidden * (1 - 1/w.g.tp))
	}
	w.Bias(w.a.OutBias, w.Hidden)
	w.ReduceTP(t)
}
