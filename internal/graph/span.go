package graph

import (
	"math"

	"plimsoll/internal/model"
	"plimsoll/internal/op"
)

// decodeQuery is the query length from which TensorCast treats a request as a
// prefill: up to four speculated tokens still count as decode.
const decodeQuery = 6

// spans sums the query-key pairs and the cache reads of a batch for one
// attention, by phase.
func (w *walk) spans(a *model.Attention) (prefill, decode op.Span) {
	for i := range w.segments {
		s := &w.segments[i]
		n, q, seq := float64(s.Requests), float64(s.Query), float64(s.Seq)
		span := &prefill
		if s.Query < decodeQuery {
			span = &decode
		}
		span.Requests += n
		span.Tokens += n * q
		span.Pairs += n * w.pairs(a, q, seq)
		span.Context += n * reach(a, seq, q)
	}
	return prefill, decode
}

// pairs is the number of keys that q queries at the end of seq tokens attend
// to, together.
func (w *walk) pairs(a *model.Attention, q, seq float64) float64 {
	limit := attended(a, seq)
	if w.g.spec.Policy.FullAttention {
		return q * limit
	}
	// Query i of q sees seq-q+i tokens, but no more than the limit.
	first := seq - q + 1
	if first >= limit {
		return q * limit
	}
	rising := math.Min(q, limit-first+1)
	return rising*(first+first+rising-1)/2 + (q-rising)*limit
}

// attended is the largest number of cache entries one query attends to.
func attended(a *model.Attention, seq float64) float64 {
	n := seq
	if a.Compress > 1 {
		// Recent tokens one by one, older ones by the compressed entry.
		n = math.Ceil(seq / float64(a.Compress))
	}
	if a.Indexer.TopK > 0 {
		n = math.Min(n, float64(a.Indexer.TopK))
	}
	if a.Window > 0 {
		n = math.Min(n, float64(a.Window))
	}
	return n + math.Min(seq, float64(a.Local))
}

// reach is the number of cache entries read for one request: what its queries
// attend to together. A prefill over a window slides over q more tokens.
func reach(a *model.Attention, seq, q float64) float64 {
	n := attended(a, seq)
	if q < decodeQuery {
		return n
	}
	switch {
	case a.Indexer.TopK > 0: // different queries choose different entries
		return math.Max(n, seq/math.Max(1, float64(a.Compress)))
	case a.Window > 0:
		return math.Min(seq, n+q-1)
	case a.Local > 0:
		return math.Max(n, math.Min(seq, n+q-1))
	}
	return n
}

// blocks is the number of page-table entries of the batch.
func (w *walk) blocks() (padded, exact float64) {
	longest := 0.0
	for i := range w.segments {
		s := &w.segments[i]
		b := math.Ceil(float64(s.Seq) / pageTokens)
		longest = math.Max(longest, b)
		exact += float64(s.Requests) * b
	}
	return w.requests * longest, exact
}

// pageTokens is the size of a KV block on Ascend.
const pageTokens = 128
