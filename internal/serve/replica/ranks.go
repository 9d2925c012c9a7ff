package replica

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
)

// ranks are data-parallel ranks that step together, as those do that exchange
// tokens with common experts: a step lasts as long as that of the fullest, and a
// prompt on one rank holds up all.
type ranks struct {
	one *Replica
	n   int
	// budget is the tokens of prompts a rank computes in a step at most; 0 is no bound,
	// where prompts are not cut.
	budget int
}

// stepper prices the steps of all ranks together.
func (r *Replica) stepper(n int) server.Stepper {
	if n == 1 {
		return r
	}
	return newRanks(r, n)
}

// newRanks are n ranks of a replica.
func newRanks(r *Replica, n int) *ranks {
	out := &ranks{one: r, n: n}
	if r.engine.Policy != engine.InFlight {
		out.budget = rankTokens(&r.spec, r.engine)
	}
	return out
}

// fullest is how many of so many requests are on the fullest rank, and their share.
func (r *ranks) fullest(requests int) (int, float64) {
	if requests == 0 {
		return 0, 0
	}
	most := parallel.MaxPerRank(requests, r.n)
	return most, float64(most) / float64(requests)
}

// Step implements [server.Stepper].
func (r *ranks) Step(b server.Batch) units.Seconds { return r.one.Step(r.fullestBatch(&b)) }

// Launch implements [server.Launcher].
func (r *ranks) Launch(b server.Batch) (units.Seconds, server.Launch) {
	return r.one.Launch(r.fullestBatch(&b))
}

// Through implements [server.Pipeline].
func (r *ranks) Through(b server.Batch) (took, stage units.Seconds) {
	return r.one.Through(r.fullestBatch(&b))
}

// fullestBatch is what of a batch is on the fullest rank.
func (r *ranks) fullestBatch(b *server.Batch) server.Batch {
	decode, d := r.fullest(b.Decode)
	prompts, p := r.fullest(b.PrefillRequests)
	if tokens := float64(b.PrefillTokens); r.budget > 0 && p*tokens > float64(r.budget) {
		// Every rank cuts its own prompts where its budget ends: those that have more of
		// them do not compute more in this step.
		p = max(float64(r.budget)/tokens, 1/float64(r.n))
	}
	sampled, _ := r.fullest(b.Sampled)
	part := func(x int) int { return int(math.Ceil(p * float64(x))) }
	return server.Batch{
		PrefillRequests: prompts, PrefillTokens: part(b.PrefillTokens), PrefillContext: part(b.PrefillContext),
		PrefillPairs: p * b.PrefillPairs, Decode: decode, DecodeContext: d * b.DecodeContext, Sampled: sampled,
	}
}

// Decode implements [server.Stepper].
func (r *ranks) Decode(n int, context, growth float64, steps int) units.Seconds {
	decode, d := r.fullest(n)
	return r.one.Decode(decode, d*context, d*growth, steps)
}
