package tensorcast

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// What TensorCast takes for the share of the memory's bandwidth that reads of
// chosen cache entries get: of a decode it grows with the pages of a choice, of a
// prefill it is fixed. The selector reads whole caches, and better.
const (
	choicePages, choiceShare, choiceGrowth   = 16, 0.025, 0.006
	choiceLeast, choiceMost                  = 0.015, 0.08
	promptShare                              = 0.92
	selectPages, selectShare, selectGrowth   = 128, 0.30, 0.23
	selectLeast                              = 0.15
	promptSelectShare, promptSelectedQueries = 0.90, 0.25
)

// sparseReads is what sparse latent attention reads: in a prefill each query its own
// choice, with a page table and a list of it, at the share of the bandwidth that
// scattered reads get. Quantized attention is left at its bytes, and every query of
// a decode reads its choice too.
func (w latent) sparseReads(a *model.Attention, o *op.Op) {
	quantized := w.Spec().Quant.AttentionIn >= dtype.FP8
	if w.does.has(ownChoices) {
		o.Name = op.SparseLatentAttention
		o.Prefill.Context = o.Prefill.Pairs
		if quantized {
			o.Decode.Context = o.Decode.Pairs
		}
		o.Bytes = units.Bytes(indexBytes*(3*w.Requests+1) + w.choices(a, quantized))
	}
	if w.does.has(scatteredReads) && !quantized {
		pages := math.Ceil(graph.Attended(a, w.longest()) / w.Spec().PageTokens())
		share := choiceShare + choiceGrowth*math.Log2(max(1, pages)/choicePages)
		o.Decode.Context /= max(choiceLeast, min(share, choiceMost))
		o.Prefill.Context /= promptShare
	}
}

// choices is the bytes of every query's choice and of the page tables they are read
// through; the queries of a decode share one unless each has its own.
func (w latent) choices(a *model.Attention, each bool) float64 {
	entries := w.Tokens * min(float64(a.Indexer.TopK), w.longest())
	for i := range w.Groups() {
		all, verify := w.Group(i)
		q, pages := all.Tokens/all.Requests, math.Ceil(graph.Attended(a, all.Context/all.Requests)/w.Spec().PageTokens())
		if !each && w.Decodes(a, verify, q) {
			q = 1
		}
		entries += all.Requests * q * pages
	}
	return indexBytes * entries
}

// longest is the length of the longest request after the step.
func (w cast) longest() float64 {
	n := 0.0
	for i := range w.Groups() {
		all, _ := w.Group(i)
		n = max(n, all.Context/all.Requests)
	}
	return n
}

// indexer emits the selector as one operator: projections, scores and
// choice, unquantized but for its weights, every query scored
// against the longest request.
func (w latent) indexer(p graph.Part) bool {
	a, spec := &p.Kind.Layer.Attention, w.Spec()
	ix := &a.Indexer
	if a.Compress > 1 {
		return false
	}
	if !ix.Own() {
		return true
	}
	t, e, longest := w.Tokens, w.Width(), w.longest()
	heads, d, rank, rope := float64(ix.Heads), float64(ix.Dim), float64(a.QRank), float64(a.RopeDim)
	weights := rank*heads*d + w.Hidden*d + w.Hidden*heads
	w.Follows = op.Context
	o := w.Next(op.Elementwise, op.FusedIndexer)
	w.Follows = op.Tokens
	o.Matrix = units.Ops(2 * t * (weights + heads*longest*d))
	o.Vector = units.Ops(t * (3*(heads+1)*rope + (2*heads+1)*longest))
	padded, _ := w.Blocks()
	keys := spec.Quant.KV.Bytes(d)
	o.Bytes = spec.Quant.Attention.Weight.Bytes(weights) + units.Bytes(e*(t*(w.Hidden+rank+2*rope)+d)) +
		indexBytes*units.Bytes(t+padded+2*w.Requests+t*min(float64(ix.TopK), longest)) +
		keys*units.Bytes(t+w.selectReads())
	return true
}

// selectReads is the keys a selector reads, over the share of the bandwidth they
// get. A prefill's neighbouring queries share most of theirs.
func (w latent) selectReads() float64 {
	reads := 0.0
	for i := range w.Groups() {
		all, verify := w.Group(i)
		q, seq := all.Tokens/all.Requests, all.Context/all.Requests
		queries, share := math.Ceil(q*promptSelectedQueries), promptSelectShare
		if verify {
			pages := math.Ceil(seq / w.Spec().PageTokens())
			queries, share = q, selectShare+selectGrowth*math.Log2(pages/selectPages)
			share = max(selectLeast, min(share, 1))
		}
		if !w.does.has(scatteredReads) {
			share = 1
		}
		reads += all.Requests * queries * seq / share
	}
	return reads
}
