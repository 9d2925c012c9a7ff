package graph

import (
	"math"

	"plimsoll/internal/model"
	"plimsoll/internal/op"
)

// spans sums the query-key pairs and the cache reads of a batch for one
// attention, by phase.
func (w *walk) spans(a *model.Attention) (prefill, decode op.Span) {
	for i := range w.segments {
		s := &w.segments[i]
		n, q, seq := float64(s.Requests), float64(s.Query), float64(s.Seq)
		decodes := w.decodes(a, s.Decode, q, seq)
		span := &prefill
		if decodes {
			span = &decode
		}
		span.Requests += n
		span.Tokens += n * q
		span.Pairs += n * w.pairs(a, q, seq)
		span.Context += n * reach(a, seq, q, decodes)
	}
	return prefill, decode
}

// decodes reports whether q queries at the end of seq tokens run the decode kernel
// of an attention; decode says that they are no prompt's.
func (w *walk) decodes(a *model.Attention, decode bool, q, seq float64) bool {
	if below := w.g.spec.Policy.DecodeBelow; below > 0 {
		return q < float64(below)
	}
	return decode || a.Kind == model.MLA && !a.KeyIsVal && w.absorbs(a, q, seq)
}

// absorbs reports whether latent attention does less work on the latents than on
// keys and values expanded from them: it then takes a prompt's end as it takes a
// decode (vLLM does so up to 128 tokens with FlashMLA and 512 with FlashAttention;
// for DeepSeek's sizes the two are equal at 171).
func (w *walk) absorbs(a *model.Attention, q, seq float64) bool {
	rank, rope, d, v := float64(a.KVRank), float64(a.RopeDim), float64(a.HeadDim), float64(a.ValueDim)
	saved := (reach(a, seq, q, false) - q) * rank * (d - rope + v)
	return w.pairs(a, q, seq)*(2*rank+rope-d-v) < saved
}

// pairs is the number of cache entries that q queries at the end of seq tokens
// attend to, together.
func (w *walk) pairs(a *model.Attention, q, seq float64) float64 {
	if w.g.spec.Policy.FullAttention {
		return q * attended(a, seq)
	}
	upTo := func(n float64) float64 { return triangle(n, grain(a), most(a)) + triangle(n, 1, float64(a.Local)) }
	return upTo(seq) - upTo(seq-q)
}

// triangle is what n queries attend to together when query i sees i tokens: one
// entry for each grain of them, at most limit.
func triangle(n, grain, limit float64) float64 {
	if n > grain*limit {
		return triangle(grain*limit, grain, limit) + (n-grain*limit)*limit
	}
	whole := math.Floor(n / grain)
	return grain*whole*(whole+1)/2 + (n-grain*whole)*(whole+1)
}

// attended is the number of cache entries one query attends to that sees seq
// tokens: recent ones one by one, older ones by the compressed entry.
func attended(a *model.Attention, seq float64) float64 {
	return math.Min(math.Ceil(seq/grain(a)), most(a)) + math.Min(seq, float64(a.Local))
}

// grain is the number of tokens that share a cache entry.
func grain(a *model.Attention) float64 { return math.Max(1, float64(a.Compress)) }

// most is the largest number of entries one query attends to, local ones aside.
func most(a *model.Attention) float64 {
	n := math.Inf(1)
	if a.Indexer.TopK > 0 {
		n = float64(a.Indexer.TopK)
	}
	if a.Window > 0 {
		n = math.Min(n, float64(a.Window))
	}
	return n
}

// reach is the number of cache entries read for one request: what its queries
// attend to together. A prefill's window slides over q-1 more tokens, and its
// queries choose different entries.
func reach(a *model.Attention, seq, q float64, decode bool) float64 {
	if decode {
		return attended(a, seq)
	}
	entries, local := math.Ceil(seq/grain(a)), 0.0
	if a.Indexer.TopK > 0 {
		entries = math.Min(entries, q*float64(a.Indexer.TopK))
	}
	if a.Window > 0 {
		entries = math.Min(entries, float64(a.Window)+math.Ceil((q-1)/grain(a)))
	}
	if a.Local > 0 {
		local = math.Min(seq, float64(a.Local)+q-1)
	}
	return entries + local
}

// blocks is the number of page-table entries of the batch.
func (w *walk) blocks() (padded, exact float64) {
	longest, page := 0.0, w.g.spec.PageTokens()
	for i := range w.segments {
		s := &w.segments[i]
		b := math.Ceil(float64(s.Seq) / page)
		longest = math.Max(longest, b)
		exact += float64(s.Requests) * b
	}
	return w.requests * longest, exact
}
