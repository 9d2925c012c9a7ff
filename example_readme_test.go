package plimsoll_test

import (
	"context"
	"fmt"

	"github.com/plimsoll-project/plimsoll"
)

func Example() {
	var planner plimsoll.Planner // knows the built-in models, devices and engines
	ctx := context.Background()

	plan, err := planner.Plan(ctx, plimsoll.PlanRequest{
		Model: "Qwen/Qwen3-32B", Systems: []string{"h200_sxm"}, Devices: 8,
		Engines: []string{"vllm"}, Modes: []plimsoll.Mode{plimsoll.Aggregated},
		Workloads: []plimsoll.Workload{{Input: 1024, Output: 256, LengthLow: 0.8}},
		Limits:    plimsoll.Limits{TPOT: 30}, // milliseconds
		NoChanges: true,                      // only the decision, not what would change it
	})
	if err != nil {
		fmt.Println(err) // a *plimsoll.InputError names the fields to correct
		return
	}
	best := &plan.Contenders[0]
	fmt.Printf("%s: %s, about %.0f thousand tokens/s\n", best.Name, best.InWords, best.Tokens.Value/1e3)

	// The same deployment at half the concurrency.
	p, err := planner.Predict(ctx, plimsoll.PredictRequest{
		Deployment:  best.Deployment,
		Concurrency: best.Concurrency / 2, Input: 1024, Output: 256, LengthLow: 0.8,
		Limits: plimsoll.Limits{TPOT: 30},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("half the concurrency: TPOT %.0f ms, limit met with %.0f %% probability\n", p.TPOT.Mean, 100**p.Judged.Chance)
	// Output:
	// h200_sxm vllm agg: 4 replicas of TP=2, about 9 thousand tokens/s
	// half the concurrency: TPOT 20 ms, limit met with 95 % probability
}
