package sim

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// affine is a step model with a closed form, in the shape of the calibrated
// one: linear in tokens, pairs, requests and context. Its figures are those of
// a 70B model on eight H100, to an order of magnitude.
type affine struct {
	fixed, prefill             units.Seconds // per step; per step with prefill
	token, pair, request, read units.Seconds
	slowest                    units.Seconds // share of a step that the slowest stage takes
}

func h100() affine {
	return affine{fixed: 8e-3, prefill: 2e-3, token: 20e-6, pair: 0.4e-9, request: 30e-6, read: 6e-9}
}

func (a affine) Step(b server.Batch) units.Seconds {
	t := a.fixed + a.request*units.Seconds(b.Sampled) + a.read*units.Seconds(b.DecodeContext)
	if b.PrefillRequests > 0 {
		t += a.prefill + a.token*units.Seconds(b.PrefillTokens) + a.pair*units.Seconds(b.PrefillPairs)
	}
	return t
}

func (a affine) Through(b server.Batch) (took, stage units.Seconds) {
	took = a.Step(b)
	return took, a.slowest * took
}

func (a affine) Decode(n int, context, growth float64, steps int) units.Seconds {
	m := float64(steps)
	return units.Seconds(m)*(a.fixed+a.request*units.Seconds(n)) + a.read*units.Seconds(m*context+growth*m*(m-1)/2)
}

// vllm is settings as in use.
func vllm() server.Engine {
	return server.Engine{
		Policy: server.DecodeFirst, TokenBudget: 8192, MaxSequences: 1024, Blocks: 40_000, BlockTokens: 16,
		APIFixed: 0.5e-3, APIPerToken: 1.8e-6, First: 12e-3,
	}
}

func sglang() server.Engine {
	return server.Engine{
		Policy: server.PrefillFirst, TokenBudget: 8192, MaxSequences: 1024, Blocks: 640_000, BlockTokens: 1, Reserve: 0.3,
		ReceiveInterval: 10, APIFixed: 1e-3, APIPerToken: 0.7e-6, First: 100e-3,
	}
}

func trtllm() server.Engine {
	return server.Engine{
		Policy: server.InFlight, TokenBudget: 16384, MaxSequences: 1024, Blocks: 20_000, BlockTokens: 32,
		BatchWaitSteps: 20, BatchWaitRatio: 0.9, APIFixed: 1.3e-3, APIPerToken: 1.2e-6, First: 14e-3,
	}
}

func closed(concurrency int) traffic.ClosedLoop {
	return traffic.ClosedLoop{
		Requests: 10 * concurrency, Concurrency: concurrency, Think: 1e-3,
		Input: traffic.Lengths{Tokens: 1024, Low: 0.8}, Output: traffic.Lengths{Tokens: 1024, Low: 0.8},
	}
}
