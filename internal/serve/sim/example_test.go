package sim_test

import (
	"context"
	"fmt"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// A benchmark with 32 requests in flight on one replica, whose steps take 10 ms
// and 20 µs per prompt token.
func ExampleRun() {
	step := server.StepFunc(func(b server.Batch) units.Seconds {
		return 10*units.Millisecond + 20*units.Microsecond*units.Seconds(b.PrefillTokens)
	})
	result, err := sim.Run(context.Background(), &sim.Config{
		Client: traffic.ClosedLoop{
			Requests: 320, Concurrency: 32,
			Input: traffic.Lengths{Tokens: 1024, Low: 0.8}, Output: traffic.Lengths{Tokens: 256, Low: 0.8},
		},
		Workers: sim.Pool{
			Stepper: step,
			Engine: server.Engine{
				Policy: server.DecodeFirst, TokenBudget: 8192, MaxSequences: 256, Blocks: 20_000, BlockTokens: 16,
			},
		},
		Limits: workload.Limits{TTFT: 200 * units.Millisecond},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("TTFT mean", result.TTFT.Mean, "p99", result.TTFT.P99)
	fmt.Println("TPOT mean", result.TPOT.Mean, "p99", result.TPOT.P99)
	fmt.Printf("%.0f tokens/s, %.1f %% good\n", result.OutputRate, 100*result.GoodShare)
	// Output:
	// TTFT mean 70.00 ms p99 610.9 ms
	// TPOT mean 12.30 ms p99 13.29 ms
	// 2456 tokens/s, 92.8 % good
}
