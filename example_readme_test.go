package plimsoll_test

import (
	"context"
	"fmt"
	"time"

	"github.com/plimsoll-project/plimsoll"
)

func Example() {
	var planner plimsoll.Planner // knows the built-in models, devices and engines
	ctx := context.Background()

	plan, err := planner.Plan(ctx, plimsoll.Question{
		Model: "Qwen/Qwen3-32B", System: "h200_sxm", Devices: 8,
		Lengths: plimsoll.Lengths{Input: 1024, Output: 256, Low: 0.8},
		Limits:  plimsoll.Limits{TPOT: 30 * time.Millisecond},
	})
	if err != nil {
		fmt.Println(err) // a *plimsoll.InputError names the fields to correct
		return
	}
	best := plan.Best() // nil if nothing meets the limits
	pool := &best.Deployment.Pools[0]
	fmt.Printf("%d replicas of %v serve about %.0f thousand tokens/s\n", pool.Replicas, pool.Layout, best.OutputRate.Mean/1e3)

	// The same deployment at half the concurrency.
	p, err := planner.Predict(ctx, best.Deployment,
		plimsoll.Workload{Concurrency: best.Concurrency / 2, Lengths: plimsoll.Lengths{Input: 1024, Output: 256, Low: 0.8}},
		plimsoll.Limits{TPOT: 30 * time.Millisecond})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("half the concurrency: TPOT %v, limit met with %.0f %% probability\n", p.TPOT.Mean.Round(5*time.Millisecond), 100*p.Chance)
	// Output:
	// 4 replicas of TP=2 serve about 9 thousand tokens/s
	// half the concurrency: TPOT 20ms, limit met with 100 % probability
}
