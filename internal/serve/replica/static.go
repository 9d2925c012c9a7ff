package replica

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
)

// Static is one batch that a fleet serves without a scheduler: its prompts in one step, then
// decode steps until all of it has ended. Nothing waits.
type Static struct {
	// Input, Output and Prefix are the tokens of a request, its answer, and the part of its
	// prompt that is in the prefix cache.
	Input, Output, Prefix int

	requests int // of a replica
	accepted float64
	fleet    *Fleet
}

// Static is a batch of so many requests on all replicas of the only pool. Ranks of a dense
// model are replicas of their own.
func (f *Fleet) Static(requests int, s Static) *Static {
	s.fleet, s.accepted = f, f.deployment.Generates().AcceptedPerStep
	s.requests = requests / max(1, f.pool(0).Replicas)
	return &s
}

// Held is the tokens in the cache of a rank when so many requests of it end.
func (s *Static) Held(requests int) int { return s.Prefix + requests*(s.Input-s.Prefix+s.Output) }

// prompts is the step that computes all prompts.
func (s *Static) prompts() server.Batch {
	n, tokens := s.requests, s.Input-s.Prefix
	return server.Batch{
		PrefillRequests: n, PrefillTokens: n * tokens, PrefillContext: n * s.Prefix,
		PrefillPairs: float64(n) * float64(tokens) * (float64(s.Prefix) + float64(tokens+1)/2), Sampled: n,
	}
}

// steps is how many decode steps generate what follows the first tokens.
func (s *Static) steps() int { return int(math.Ceil(float64(s.Output-1) / s.accepted)) }

// Times are those of the prompts and of all decode steps.
func (s *Static) Times() (prompts, decode units.Seconds) {
	n, stepper := s.requests, s.fleet.pool(0).Stepper
	prompts = stepper.Step(s.prompts())
	if steps := s.steps(); steps > 0 {
		decode = stepper.Decode(n, float64(n*s.Input), float64(n)*s.accepted, steps)
	}
	return prompts, decode
}

// Meter measures a batch whose prompts and decode steps take so long; a part without time is
// left out.
func (s *Static) Meter(prompts, decode units.Seconds) *Meters {
	config := s.fleet.Config(nil)
	out, n := s.fleet.Meter(&config), s.requests
	if prompts > 0 {
		config.Workers.Meter.Step(s.prompts(), prompts)
	}
	if decode > 0 {
		config.Workers.Meter.Decode(n, float64(n*s.Input), float64(n)*s.accepted, s.steps(), decode)
	}
	return out
}
