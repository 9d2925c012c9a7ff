package graph

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/cost/op"
)

// shard is one rank's part of a phase under context parallelism.
func shard(s op.Span, ranks float64) op.Span {
	s.Pairs /= ranks
	s.Context /= ranks
	return s
}

// sharded is a request's part of the cache on this rank, whole tokens and at least
// one.
func (g *groups) sharded(all op.Span) op.Span {
	seq := max(1, math.Ceil(all.Context/all.Requests/g.Shards))
	return op.Equal(all.Requests, all.Tokens/all.Requests, seq)
}

// gatherQueries emits the gathering of queries in front of attention under context
// parallelism.
func (w attention) gatherQueries() {
	if w.ContextRanks <= 1 {
		return
	}
	w.Follows = w.ContextFollows
	w.AllGather(w.g.spec.Layout.DCPGroup(), w.Tokens, w.k.Queries*float64(w.a.HeadDim))
	w.rewrites(AtGatheredQuery, w.k)
	w.Follows = w.rows
}

// mergeOutputs emits the exchange of partial outputs behind attention, width wide,
// and their sum.
func (w attention) mergeOutputs(width float64) {
	if w.ContextRanks <= 1 {
		return
	}
	const f32 = 4
	w.Follows = w.ContextFollows
	if !w.rewrites(AtMergeOutputs, w.k) {
		x := f32 * w.Tokens * w.k.Queries * width * (w.ContextRanks - 1)
		w.Collective(op.AllToAll, op.Exchange, w.g.spec.Layout.DCPGroup(), x, 2*x)
	}
	w.Follows = w.rows
}
