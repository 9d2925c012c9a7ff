package graph

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
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
func (w *walk) sparseReads(a *model.Attention, o *op.Op) {
	p, quantized := &w.g.spec.Policy, w.g.spec.Quant.AttentionIn >= dtype.FP8
	if p.OwnChoices {
		o.Name = op.SparseLatentAttention
		o.Prefill.Context = o.Prefill.Pairs
		if quantized {
			o.Decode.Context = o.Decode.Pairs
		}
		o.Bytes = units.Bytes(indexBytes*(3*w.requests+1) + w.choices(a, quantized))
	}
	if p.ScatteredReads && !quantized {
		pages := math.Ceil(attended(a, w.longest()) / w.g.spec.PageTokens())
		share := choiceShare + choiceGrowth*math.Log2(max(1, pages)/choicePages)
		o.Decode.Context /= max(choiceLeast, min(share, choiceMost))
		o.Prefill.Context /= promptShare
	}
}

// choices is the bytes of every query's choice and of the page tables they are read
// through; the queries of a decode share one unless each has its own.
func (w *walk) choices(a *model.Attention, each bool) float64 {
	entries := w.tokens * min(float64(a.Indexer.TopK), w.longest())
	for i := range w.groups() {
		all, verify := w.group(i)
		q, pages := all.Tokens/all.Requests, math.Ceil(attended(a, all.Context/all.Requests)/w.g.spec.PageTokens())
		if !each && w.decodes(a, verify, q) {
			q = 1
		}
		entries += all.Requests * q * pages
	}
	return indexBytes * entries
}

// longest is the length of the longest request after the step.
func (w *walk) longest() float64 {
	n := 0.0
	for i := range w.groups() {
		all, _ := w.group(i)
		n = max(n, all.Context/all.Requests)
	}
	return n
}

// fusesIndexer reports whether the selector of an attention is one operator.
func (w *walk) fusesIndexer(a *model.Attention) bool {
	return w.g.spec.Policy.FusedIndexer && a.Compress <= 1
}

// fusedIndexer emits the selector as TensorCast has it: projections, scores and
// choice in one operator, unquantized but for its weights, every query scored
// against the longest request.
func (w *walk) fusedIndexer(a *model.Attention) {
	ix, spec := &a.Indexer, &w.g.spec
	if !ix.Own() {
		return
	}
	t, e, longest := w.tokens, w.width(), w.longest()
	heads, d, rank, rope := float64(ix.Heads), float64(ix.Dim), float64(a.QRank), float64(a.RopeDim)
	weights := rank*heads*d + w.h*d + w.h*heads
	w.by = op.Context
	o := w.next(op.Elementwise, op.FusedIndexer)
	w.by = op.Tokens
	o.Matrix = units.Ops(2 * t * (weights + heads*longest*d))
	o.Vector = units.Ops(t * (3*(heads+1)*rope + (2*heads+1)*longest))
	padded, _ := w.blocks()
	keys := spec.Quant.KV.Bytes(d)
	o.Bytes = spec.Quant.Attention.Weight.Bytes(weights) + units.Bytes(e*(t*(w.h+rank+2*rope)+d)) +
		indexBytes*units.Bytes(t+padded+2*w.requests+t*min(float64(ix.TopK), longest)) +
		keys*units.Bytes(t+w.selectReads())
}

// selectReads is the keys a selector reads, over the share of the bandwidth they
// get. A prefill's neighbouring queries share most of theirs.
func (w *walk) selectReads() float64 {
	reads := 0.0
	for i := range w.groups() {
		all, verify := w.group(i)
		q, seq := all.Tokens/all.Requests, all.Context/all.Requests
		queries, share := math.Ceil(q*promptSelectedQueries), promptSelectShare
		if verify {
			pages := math.Ceil(seq / w.g.spec.PageTokens())
			queries, share = q, selectShare+selectGrowth*math.Log2(pages/selectPages)
			share = max(selectLeast, min(share, 1))
		}
		if !w.g.spec.Policy.ScatteredReads {
			share = 1
		}
		reads += all.Requests * queries * seq / share
	}
	return reads
}
