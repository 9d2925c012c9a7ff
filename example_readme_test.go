package plimsoll_test

import (
	"context"
	"fmt"
	"time"

	"plimsoll"
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
		fmt.Println(err) // a *plimsoll.InputError names the fields to mend
		return
	}
	best := plan.Best() // nil where nothing keeps the limits
	pool := &best.Deployment.Pools[0]
	fmt.Printf("%d replicas of %v carry about %.0f thousand tokens/s\n", pool.Replicas, pool.Layout, best.OutputRate.Mean/1e3)

	// How does it fare at half that load?
	p, err := planner.Predict(ctx, best.Deployment,
		plimsoll.Workload{Concurrency: best.Concurrency / 2, Lengths: plimsoll.Lengths{Input: 1024, Output: 256, Low: 0.8}},
		plimsoll.Limits{TPOT: 30 * time.Millisecond})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("half of it: TPOT %v, limit kept with %.0f %%\n", p.TPOT.Mean.Round(5*time.Millisecond), 100*p.Chance)
	// Output:
	// 4 replicas of TP=2 carry about 8 thousand tokens/s
	// half of it: TPOT 20ms, limit kept with 100 %
}
