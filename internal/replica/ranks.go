package replica

import (
	"math"

	"plimsoll/internal/parallel"
	"plimsoll/internal/sim"
	"plimsoll/internal/units"
)

// ranks are data-parallel ranks that step together, as those do that exchange
// tokens with common experts: a step lasts as long as that of the fullest, and a
// prompt on one rank holds up all.
type ranks struct {
	one *Replica
	n   int
}

// stepper prices the steps of all ranks together.
func (r *Replica) stepper(n int) sim.Stepper {
	if n == 1 {
		return r
	}
	return &ranks{r, n}
}

// fullest is how many of so many requests are on the fullest rank, and their share.
func (r *ranks) fullest(requests int) (int, float64) {
	if requests == 0 {
		return 0, 0
	}
	most := parallel.Fullest(requests, r.n)
	return most, float64(most) / float64(requests)
}

// Step implements sim.Stepper.
func (r *ranks) Step(b sim.Batch) units.Seconds { return r.one.Step(r.fullestBatch(&b)) }

// fullestBatch is what of a batch is on the fullest rank.
func (r *ranks) fullestBatch(b *sim.Batch) sim.Batch {
	decode, d := r.fullest(b.Decode)
	prompts, p := r.fullest(b.PrefillRequests)
	sampled, _ := r.fullest(b.Sampled)
	part := func(x int) int { return int(math.Ceil(p * float64(x))) }
	return sim.Batch{
		PrefillRequests: prompts, PrefillTokens: part(b.PrefillTokens), PrefillContext: part(b.PrefillContext),
		PrefillPairs: p * b.PrefillPairs, Decode: decode, DecodeContext: d * b.DecodeContext, Sampled: sampled,
	}
}

// Decode implements sim.Stepper.
func (r *ranks) Decode(n int, context, growth float64, steps int) units.Seconds {
	decode, d := r.fullest(n)
	return r.one.Decode(decode, d*context, d*growth, steps)
}
