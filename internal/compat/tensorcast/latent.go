package tensorcast

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// prologueLaunches is what TensorCast charges for the fused projections beyond
// the first launch.
const prologueLaunches = 15

// latent is multi-head latent attention, with sparse.go for its selector.
type latent struct{ cast }

// inputs emits the norm and the fused projections in front of latent attention.
func (w latent) inputs(p graph.Part) bool {
	if !w.Inside || !w.does.joinsLayers(w.Spec()) {
		w.Norm(w.Stream, w.Hidden)
	}
	w.GatherStream()
	w.prologue(p.Kind, &p.Kind.Layer.Attention)
	return true
}

// narrow quantizes queries and the cached entry in front of its write.
func (w latent) narrow(p graph.Part) bool {
	a := &p.Kind.Layer.Attention
	w.Narrow(w.Tokens * p.Kind.Queries * float64(a.HeadDim))
	w.Narrow(w.Tokens * float64(a.KVRank))
	w.Narrow(w.Tokens * float64(a.RopeDim))
	return true
}

// prologue is the single operator TensorCast has for both low-rank
// projections, their norms and the rotation.
func (w latent) prologue(k *graph.Kind, a *model.Attention) {
	s := w.Spec().Quant.Attention
	t, h, e := w.Tokens, w.Hidden, w.Width()
	ql, kl, r := float64(a.QRank), float64(a.KVRank), float64(a.RopeDim)
	qd := k.Queries * float64(a.HeadDim)
	o := w.Next(op.LatentPrologue, op.Prologue)
	o.Launches = prologueLaunches
	weights := h*ql + ql*qd + h*(kl+r)
	if ql == 0 {
		weights = h*qd + h*(kl+r)
	}
	o.Matrix = units.Ops(2 * t * weights)
	o.Vector = units.Ops(t * (5*ql + 3*k.Queries*r + 5*kl + 3*r))
	o.Weight = w.Base
	wb := w.Base.Bytes(weights)
	if s.Quantized() {
		o.Name = op.PrologueQuant
		o.In, o.Weight = w.MatrixFormat(s), s.Weight
		o.Vector += units.Ops(t*h + h*ql + t*ql + ql*qd + t*h + h*(kl+r))
		wb = s.Weight.Bytes(weights) + 3*scaleBytes
		if s.Weight == dtype.FP4 && s.Group > 0 {
			g := float64(s.Group)
			wb += units.Bytes((ql+kl+r)*math.Ceil(h/g)+qd*math.Ceil(ql/g)) - 3*scaleBytes
		}
	}
	o.Bytes = wb + units.Bytes(e*(t*h+2*t*r+ql+kl)+
		e*t*(qd+kl+r+ql)+
		e*(2*t*ql+2*t*(kl+r)+t*ql))
}

// attended amends latent attention: context parallelism divides whole tokens, a
// prefill expands new tokens only, sparse attention reads every choice, and quantized
// attention computes in INT8.
func (w latent) attended(a *model.Attention, o *op.Op) {
	spec := w.Spec()
	if cut := w.ContextRanks; cut > 1 && spec.Policy.TracedContext {
		w.Shards = cut
		o.Prefill, o.Decode = w.Spans(a)
		_, pages := w.Blocks()
		w.Shards = 1
		o.Expanded = o.Prefill.Context
		o.Bytes = units.Bytes(indexBytes * (w.Requests + 1 + 2*w.Requests + pages))
	}
	if w.does.has(cheapContext) {
		o.Expanded = o.Prefill.Tokens
	}
	if a.Indexer.TopK > 0 && a.Compress <= 1 {
		w.sparseReads(a, o)
	}
	if w.does.quantizesAttention(spec) {
		o.Name, o.In, o.Weight = quantized(o.Name), dtype.INT8, spec.Quant.AttentionIn
		w.quantize(o)
	}
}

// quantized is the name of latent attention over a narrow cache.
func quantized(n op.Name) op.Name {
	if n == op.SparseLatentAttention {
		return op.SparseLatentAttentionQuant
	}
	return op.LatentAttentionQuant
}

// quantize adds the vector work of quantized latent attention: what leaves
// each product is narrowed again, and the output widened.
func (w latent) quantize(o *op.Op) {
	h := o.Heads
	p, d := &o.Prefill, &o.Decode
	o.Vector += units.Ops(
		2*p.Tokens*h*(o.HeadDim-o.Rope+o.ValueDim) + 2*p.Pairs*h +
			4*d.Tokens*h*o.Rank + 2*d.Pairs*h +
			2*(p.Tokens+d.Tokens)*h*o.ValueDim)
	o.Bytes += 8 * scaleBytes
}
