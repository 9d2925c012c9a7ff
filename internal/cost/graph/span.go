package graph

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// ShortQuery is the length below which the end of a prompt goes with decodes, as
// in TensorCast. Engines do the same with lines of their own: vLLM takes up to one
// and the draft tokens, 128 with FlashMLA and 512 with FlashAttention. Latent
// attention would expand the whole context for those few otherwise.
const ShortQuery = 6

// groups is the requests of a step as attention sees them: how many tokens they add and how many they look at.
type groups struct {
	policy   *Policy
	Requests float64
	segments []Segment
	sums     Sums // instead of segments
	// rows is what the rows of a layer follow: tokens, or requests in a pass that computes one token of each.
	rows op.Measure
	// Shards is the ranks that Group divides each cache by; 0 and 1 are none.
	Shards float64
}

// Groups is how many groups of requests the batch has that count as equal.
func (g *groups) Groups() int {
	n := len(g.segments)
	if g.sums.Prefill.Requests > 0 {
		n++
	}
	if g.sums.Decode.Requests > 0 {
		n++
	}
	return n
}

// Group is one of them, and whether it is no prompt's. Counting is cheaper than an
// iterator here, in the pricing of every step.
func (g *groups) Group(i int) (all op.Span, decode bool) {
	switch {
	case i < len(g.segments):
		s := &g.segments[i]
		all, decode = op.Equal(float64(s.Requests), float64(s.Query), float64(s.Seq)), s.Decode
	case i == len(g.segments) && g.sums.Prefill.Requests > 0:
		all = g.sums.Prefill
	default:
		all, decode = g.sums.Decode, true
	}
	if g.rows == op.Requests { // one query of each, which sees all of its context
		all.Tokens, all.Pairs, decode = all.Requests, all.Context, true
	}
	if g.Shards > 1 {
		all = g.sharded(all)
	}
	return all, decode
}

// Spans sums the query-key pairs and the cache reads of a batch for one
// attention, by phase.
func (g *groups) Spans(a *model.Attention) (prefill, decode op.Span) {
	for i := range g.Groups() {
		all, verify := g.Group(i)
		decodes := g.Decodes(a, verify, all.Tokens/all.Requests)
		span := &prefill
		if decodes {
			span = &decode
		}
		s := g.limit(a, all, decodes)
		span.Requests += s.Requests
		span.Tokens += s.Tokens
		span.Pairs += s.Pairs
		span.Context += s.Context
	}
	return prefill, decode
}

// Decodes reports whether a query of q tokens runs an attention's decode kernels;
// decode says that it is no prompt's. TensorCast takes the sparse ones by that alone.
func (g *groups) Decodes(a *model.Attention, decode bool, q float64) bool {
	if !g.policy.VerifyAsPrefill {
		return q < ShortQuery || decode
	}
	if a.Indexer.TopK > 0 {
		return decode
	}
	return q < ShortQuery
}

// limit is the part of requests' pairs and contexts that an attention looks at.
func (g *groups) limit(a *model.Attention, all op.Span, decodes bool) op.Span {
	if a.Window == 0 && a.Indexer.TopK == 0 && a.Compress <= 1 && a.Local == 0 && !g.policy.FullAttention {
		return all
	}
	n := all.Requests
	q, seq := all.Tokens/n, all.Context/n
	// Unequal requests have more pairs than as many of the mean length, the less
	// so the more of them the limit cuts off.
	mean, most := n*g.pairs(a, q, seq), all.Tokens*(most(a)+float64(a.Local))
	more := 0.0
	if equal := op.Equal(n, q, seq).Pairs; equal > 0 {
		more = all.Pairs/equal - 1
	}
	all.Pairs = min(mean*(1+more*(1-mean/most)), most)
	all.Context = n * reach(a, seq, q, decodes)
	return all
}

// pairs is the number of cache entries that q queries at the end of seq tokens
// attend to, together.
func (g *groups) pairs(a *model.Attention, q, seq float64) float64 {
	if g.policy.FullAttention {
		return q * Attended(a, seq)
	}
	step, limit, local := grain(a), most(a), float64(a.Local)
	if local == 0 {
		return triangle(seq, step, limit) - triangle(seq-q, step, limit)
	}
	return triangle(seq, step, limit) + triangle(seq, 1, local) - (triangle(seq-q, step, limit) + triangle(seq-q, 1, local))
}

// triangle is what n queries attend to together when query i sees i tokens: one
// entry for each grain of them, at most limit.
func triangle(n, grain, limit float64) float64 {
	beyond := 0.0
	if n > grain*limit {
		n, beyond = grain*limit, (n-grain*limit)*limit
	}
	whole := math.Floor(n / grain)
	return grain*whole*(whole+1)/2 + (n-grain*whole)*(whole+1) + beyond
}

// Attended is the number of cache entries one query attends to that sees seq
// tokens: recent ones one by one, older ones by the compressed entry.
func Attended(a *model.Attention, seq float64) float64 {
	return min(math.Ceil(seq/grain(a)), most(a)) + min(seq, float64(a.Local))
}

// grain is the number of tokens that share a cache entry.
func grain(a *model.Attention) float64 { return max(1, float64(a.Compress)) }

// most is the largest number of entries one query attends to, local ones aside.
func most(a *model.Attention) float64 {
	n := math.Inf(1)
	if a.Indexer.TopK > 0 {
		n = float64(a.Indexer.TopK)
	}
	if a.Window > 0 {
		n = min(n, float64(a.Window))
	}
	return n
}

// reach is the number of cache entries read for one request: what its queries
// attend to together. A prefill's window slides over q-1 more tokens, and its
// queries choose different entries.
func reach(a *model.Attention, seq, q float64, decode bool) float64 {
	if decode {
		return Attended(a, seq)
	}
	entries, local := math.Ceil(seq/grain(a)), 0.0
	if a.Indexer.TopK > 0 {
		entries = min(entries, q*float64(a.Indexer.TopK))
	}
	if a.Window > 0 {
		entries = min(entries, float64(a.Window)+math.Ceil((q-1)/grain(a)))
	}
	if a.Local > 0 {
		local = min(seq, float64(a.Local)+q-1)
	}
	return entries + local
}

// Blocks is the number of page-table entries of the batch.
func (g *groups) Blocks() (padded, exact float64) {
	longest, page := 0.0, float64(g.policy.PageTokens)
	for i := range g.Groups() {
		all, _ := g.Group(i)
		b := math.Ceil(all.Context / all.Requests / page)
		longest = max(longest, b)
		exact += all.Requests * b
	}
	return g.Requests * longest, exact
}
