package plimsoll_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/plimsoll-project/plimsoll"
)

// One deployment under a closed loop of requests.
func ExamplePlanner_Predict() {
	var planner plimsoll.Planner
	p, err := planner.Predict(context.Background(),
		plimsoll.Deployment{
			Model: "Qwen/Qwen3-32B", System: "h200_sxm", Engine: plimsoll.Engine{Name: "vllm"},
			Pools: []plimsoll.Pool{{Layout: plimsoll.Layout{TP: 4}}},
		},
		plimsoll.Workload{Concurrency: 64, Lengths: plimsoll.Lengths{Input: 1024, Output: 1024, Low: 0.8}},
		plimsoll.Limits{TTFT: time.Second, TPOT: 20 * time.Millisecond},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("requests:", p.Finished)
	fmt.Println("TPOT between 10 and 20 ms:", p.TPOT.Low > 10*time.Millisecond && p.TPOT.High < 20*time.Millisecond)
	fmt.Printf("limits met: %t\n", p.Chance > 0.95)
	// Output:
	// requests: 640
	// TPOT between 10 and 20 ms: true
	// limits met: true
}

// Disaggregated: separate prefill and decode replicas, requests at a rate.
func ExamplePlanner_Predict_disaggregated() {
	var planner plimsoll.Planner
	p, err := planner.Predict(context.Background(),
		plimsoll.Deployment{
			Model: "Qwen/Qwen3-32B", Engine: plimsoll.Engine{Name: "sglang"},
			Pools: []plimsoll.Pool{
				{Role: plimsoll.Prefill, Layout: plimsoll.Layout{TP: 2}},
				{Role: plimsoll.Decode, Replicas: 2, Layout: plimsoll.Layout{TP: 4}},
			},
		},
		plimsoll.Workload{Rate: 4, Requests: 200, Lengths: plimsoll.Lengths{Input: 2048, Output: 128}},
		plimsoll.Limits{},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Deployment.Devices(), "devices,", p.Finished, "requests")
	// Output: 10 devices, 200 requests
}

// If nothing meets the limits, a plan names the nearest limits that can be met.
func ExamplePlanner_Plan_nearest() {
	var planner plimsoll.Planner
	plan, err := planner.Plan(context.Background(), plimsoll.Question{
		Model: "meta-llama/Llama-3.1-70B", System: "h200_sxm", Devices: 2, Limits: plimsoll.Limits{TPOT: time.Millisecond},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Best() == nil, plan.Nearest.TPOT > time.Millisecond)
	fmt.Println("nearest:", plan.Nearest.Deployment.Pools[0].Layout, "at concurrency", plan.Nearest.Concurrency)
	// Output:
	// true true
	// nearest: TP=2 at concurrency 1
}

// Mistakes name the fields to correct.
func ExampleInputError() {
	var planner plimsoll.Planner
	_, err := planner.Predict(context.Background(),
		plimsoll.Deployment{Model: "Qwen/Qwen3-32B", Pools: []plimsoll.Pool{{Layout: plimsoll.Layout{TP: 7}}}},
		plimsoll.Workload{Concurrency: 8}, plimsoll.Limits{})
	if wrong, ok := errors.AsType[*plimsoll.InputError](err); ok {
		fmt.Println(wrong)
		fmt.Println(wrong.Fields)
	}
	// Output:
	// tp_size 7 does not divide the model's 64 attention heads
	// [tp_size]
}

// Deployments can be written as JSON and read back.
func ExampleDeployment() {
	d := plimsoll.Deployment{
		Model: "deepseek-ai/DeepSeek-V3.1", System: "h200_sxm",
		Engine: plimsoll.Engine{Name: "sglang", Settings: map[string]string{"token_budget": "16384"}},
		Pools:  []plimsoll.Pool{{Replicas: 2, Layout: plimsoll.Layout{TP: 8, EP: 8}}},
	}
	text, err := json.Marshal(d)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(text))
	var again plimsoll.Deployment
	fmt.Println(json.Unmarshal(text, &again), again.Pools[0].Layout)
	// Output:
	// {"model":"deepseek-ai/DeepSeek-V3.1","system":"h200_sxm","engine":{"name":"sglang","settings":{"token_budget":"16384"}},"pools":[{"replicas":2,"layout":{"tp_size":8,"ep_size":8}}]}
	// <nil> TP=8 | EP=8
}

// A planner that also reads local files and the Hugging Face cache.
func ExamplePlanner() {
	planner := plimsoll.Planner{Dir: os.DirFS, ReadFile: os.ReadFile}
	if dir := plimsoll.HubCache(os.Getenv); dir != "" {
		planner.Hub = os.DirFS(dir)
	}
	_, err := planner.Predict(context.Background(),
		plimsoll.Deployment{Model: "Qwen/Qwen3-8B"}, plimsoll.Workload{Trace: "no-such-file.csv"}, plimsoll.Limits{})
	fmt.Println(errors.Is(err, os.ErrNotExist))
	// Output: true
}

// The names a deployment may use.
func ExampleModels() {
	for _, m := range plimsoll.Models() {
		if m.AliasOf == "" && m.Family == "gpt_oss" {
			fmt.Printf("%s: %.0f billion parameters\n", m.ID, float64(m.Parameters)/1e9)
		}
	}
	// Output:
	// openai/gpt-oss-120b: 117 billion parameters
	// openai/gpt-oss-20b: 21 billion parameters
	// openai/gpt-oss-safeguard-120b: 117 billion parameters
	// openai/gpt-oss-safeguard-20b: 21 billion parameters
}
