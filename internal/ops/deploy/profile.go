package deploy

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
)

// The tables of workers have as many lengths of prompts, and of contexts and loads, as the profiler
// of Dynamo measures; it begins at so many tokens.
const (
	promptLengths  = 16
	contextLengths = 6
	loads          = 6
	shortest       = 100
)

// profile are the tables of a disaggregated deployment for requests of up to so many tokens; nil
// for others, and where the deployment does not fit its devices, of which the check of files tells.
func profile(st *session.Stage, d *deployment.Deployment, longest int) *launch.Profile {
	if !d.Disaggregated() || longest <= shortest {
		return nil
	}
	resolved, fleet, err := st.Fleet(d)
	if err != nil {
		return nil
	}
	config := fleet.Config(nil)
	out := &launch.Profile{KVTokens: config.Decode.Engine.Blocks * config.Decode.Engine.BlockTokens}
	for i := range promptLengths {
		tokens := between(shortest, longest, i, promptLengths)
		n, ttft := max(1, config.Workers.Engine.Ranks), alone(&config.Workers, tokens)
		out.Prefill = append(out.Prefill, launch.PrefillPoint{
			Tokens: tokens, TTFT: ttft, PerDevice: float64(n*tokens) / float64(ttft) / float64(deviceCount(&resolved.Pools[0], n)),
		})
	}
	e := &config.Decode.Engine
	ranks := max(1, e.Ranks)
	for i := range contextLengths {
		context := between(shortest, longest, i, contextLengths)
		most := min(e.MaxSequences, out.KVTokens/context) / ranks
		for j := range min(loads, most) {
			n := ranks * between(1, most, j, min(loads, most))
			tpot := config.Decode.Stepper.Decode(n, float64(n*context), 0, 1) / units.Seconds(e.AcceptedPerStep)
			out.Decode = append(out.Decode, launch.DecodePoint{
				KV: float64(n*context) / float64(out.KVTokens), Context: float64(context), TPOT: tpot,
				PerDevice: float64(n) / float64(tpot) / float64(deviceCount(&resolved.Pools[1], ranks)),
			})
		}
	}
	return out
}

// between is the i-th of n whole numbers at equal distances.
func between(first, last, i, n int) int {
	if n < 2 {
		return last
	}
	return first + int(math.Round(float64((last-first)*i)/float64(n-1)))
}

// deviceCount is that of ranks which step together: all of a worker, or those of one rank.
func deviceCount(p *deployment.Served, ranks int) int {
	l := &p.Spec.Layout
	if ranks > 1 {
		return l.Devices
	}
	return l.Devices / max(1, l.DP)
}

// alone is the time to the first token of a prompt on each rank of an idle worker, in pieces of its
// token budget.
func alone(p *sim.Pool, tokens int) units.Seconds {
	e := &p.Engine
	n := max(1, e.Ranks)
	piece := tokens
	if e.TokenBudget > 0 {
		piece = max(1, e.TokenBudget/n)
	}
	took := e.APIFixed + e.APIPerToken*units.Seconds(tokens) + e.First + e.APIPerOutput
	for done := 0; done < tokens; done += piece {
		c := min(piece, tokens-done)
		took += p.Stepper.Step(server.Batch{
			PrefillRequests: n, PrefillTokens: n * c, PrefillContext: n * done, PrefillPairs: float64(n*c) * (float64(done) + float64(c+1)/2), Sampled: n,
		})
	}
	return took
}
