package plimsoll_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/plimsoll-project/plimsoll"
)

// The fewest devices for a rate, aggregated and disaggregated, at the 95th percentile, with costs.
func ExamplePlanner_Plan() {
	var planner plimsoll.Planner
	plan, err := planner.Plan(context.Background(), plimsoll.PlanRequest{
		Model: "Qwen/Qwen3-8B", Systems: []string{"h100_sxm"}, Rate: 20, Engines: []string{"vllm"},
		Workloads:  []plimsoll.Workload{{Input: 2000, Output: 200, LengthLow: 0.8}},
		Limits:     plimsoll.Limits{TTFT: 1000, TPOT: 30},
		Percentile: 95, Prices: map[string]float64{"h100_sxm": 2}, NoChanges: true,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range plan.Contenders {
		fmt.Printf("%s: %s, %d GPUs, $%.0f per month\n", c.Mode, c.InWords, c.GPUs, c.Cost.PerMonth)
	}
	// Output:
	// agg: 2 replicas of one GPU, 2 GPUs, $2993 per month
	// disagg: 1 prefill of one GPU, 1 decode of one GPU, 2 GPUs, $2989 per month
}

// If nothing meets the limits, a plan names the nearest limits that can be met.
func ExamplePlanner_Plan_nearest() {
	var planner plimsoll.Planner
	plan, err := planner.Plan(context.Background(), plimsoll.PlanRequest{
		Model: "meta-llama/Llama-3.1-70B", Systems: []string{"h200_sxm"}, Devices: 2, Modes: []plimsoll.Mode{plimsoll.Aggregated},
		Engines: []string{"vllm"}, Workloads: []plimsoll.Workload{{Input: 1024, Output: 256}}, Limits: plimsoll.Limits{TPOT: 1}, NoChanges: true,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Answer.Meets, plan.Answer.Nearest.TPOT > 1)
	fmt.Println("nearest:", plan.Contenders[0].InWords, "at concurrency", plan.Contenders[0].Concurrency)
	// Output:
	// false true
	// nearest: 1 replica of TP=2 at concurrency 1
}

// One deployment under a closed loop of requests.
func ExamplePlanner_Predict() {
	var planner plimsoll.Planner
	p, err := planner.Predict(context.Background(), plimsoll.PredictRequest{
		Deployment: plimsoll.Deployment{
			Model: "Qwen/Qwen3-32B", System: "h200_sxm", Engine: plimsoll.Engine{Name: "vllm"},
			Pools: []plimsoll.Pool{{Layout: plimsoll.Layout{TP: 4}}},
		},
		Concurrency: 64, Input: 1024, Output: 1024, LengthLow: 0.8,
		Limits: plimsoll.Limits{TTFT: 1000, TPOT: 25},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("TPOT between 8 and 20 ms:", p.TPOT.Low > 8 && p.TPOT.High < 20)
	fmt.Println("95th percentile above the mean:", p.TPOT.P95 > p.TPOT.Mean)
	fmt.Println("limits met:", *p.Judged.Chance > 0.95)
	// Output:
	// TPOT between 8 and 20 ms: true
	// 95th percentile above the mean: true
	// limits met: true
}

// Disaggregated: separate prefill and decode replicas, requests at a rate.
func ExamplePlanner_Predict_disaggregated() {
	var planner plimsoll.Planner
	p, err := planner.Predict(context.Background(), plimsoll.PredictRequest{
		Deployment: plimsoll.Deployment{
			Model: "Qwen/Qwen3-32B", Engine: plimsoll.Engine{Name: "sglang"},
			Pools: []plimsoll.Pool{
				{Role: plimsoll.Prefill, Layout: plimsoll.Layout{TP: 2}},
				{Role: plimsoll.Decode, Replicas: 2, Layout: plimsoll.Layout{TP: 4}},
			},
		},
		Rate: 4, Requests: 200, Input: 2048, Output: 128,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Finished, "requests, 95 % of the first tokens within a second:", p.TTFT.P95 < 1000)
	// Output: 200 requests, 95 % of the first tokens within a second: true
}

// What a launch command will do.
func ExamplePlanner_Lint() {
	var planner plimsoll.Planner
	l, err := planner.Lint(context.Background(), plimsoll.LintRequest{
		Command: "vllm serve Qwen/Qwen3-32B --tensor-parallel-size 2 --max-num-seqs 100000", System: "h200_sxm",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(l.Engine, "on", l.Devices, "devices")
	for _, f := range l.Findings {
		fmt.Println(f.Severity, f.Where)
	}
	// Output:
	// vllm on 2 devices
	// error --gpu-memory-utilization
}

// The files that run a given deployment with Docker Compose.
func ExamplePlanner_Files() {
	var planner plimsoll.Planner
	made, err := planner.Files(context.Background(), plimsoll.FilesRequest{
		Deployment: plimsoll.Deployment{
			Model: "Qwen/Qwen3-32B", System: "h200_sxm", Engine: plimsoll.Engine{Name: "vllm"}, Pools: []plimsoll.Pool{{Layout: plimsoll.Layout{TP: 2}}},
		},
		Input: 1024, Output: 256, Concurrency: 32, Targets: []string{"compose"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range made.Files {
		fmt.Println(f.Path, len(f.Data) > 0)
	}
	// Output:
	// compose/compose.yaml true
}

// Where the time of one decode step goes: any question of the HTTP API, in its JSON.
func ExamplePlanner_Call() {
	var planner plimsoll.Planner
	answer, err := planner.Call(context.Background(), "step", json.RawMessage(`{
		"deployment": {"model": "Qwen/Qwen3-32B", "system": "h200_sxm", "pools": [{"layout": {"devices": 2, "tp": 2}}]},
		"num_queries": 32, "context_length": 2048, "decode": true
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	var step struct {
		Layout    string            `json:"layout"`
		Operators []json.RawMessage `json:"operators"`
	}
	fmt.Println(json.Unmarshal(answer, &step), step.Layout, len(step.Operators), "operators")
	// Output: <nil> TP=2 | PP=1 | DP=1 12 operators
}

// Mistakes name the fields to correct.
func ExampleInputError() {
	var planner plimsoll.Planner
	_, err := planner.Predict(context.Background(), plimsoll.PredictRequest{
		Deployment:  plimsoll.Deployment{Model: "Qwen/Qwen3-32B", Pools: []plimsoll.Pool{{Layout: plimsoll.Layout{TP: 7}}}},
		Concurrency: 8,
	})
	if wrong, ok := errors.AsType[*plimsoll.InputError](err); ok {
		fmt.Println(wrong)
		fmt.Println(wrong.Fields())
	}
	// Output:
	// deployment.pools.layout.tp 7 does not divide the model's 64 attention heads
	// [deployment.pools.layout.tp]
}

// A deployment is written as the JSON that the command line, the HTTP API and MCP read.
func ExampleDeployment() {
	d := plimsoll.Deployment{
		Model: "deepseek-ai/DeepSeek-V3.1", System: "h200_sxm",
		Engine: plimsoll.Engine{Name: "sglang", Settings: []string{"token_budget=16384"}},
		Pools:  []plimsoll.Pool{{Replicas: 2, Layout: plimsoll.Layout{TP: 8, EP: 8}}},
		More:   json.RawMessage(`{"formats": {"kv": "fp8"}}`),
	}
	text, err := json.Marshal(d)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(text))
	var again plimsoll.Deployment
	fmt.Println(json.Unmarshal(text, &again), again.Pools[0].Layout.TP, string(again.More))
	// Output:
	// {"engine":{"name":"sglang","settings":["token_budget=16384"]},"formats":{"kv":"fp8"},"model":"deepseek-ai/DeepSeek-V3.1","pools":[{"replicas":2,"layout":{"tp":8,"ep":8}}],"system":"h200_sxm"}
	// <nil> 8 {"formats":{"kv":"fp8"}}
}

// A planner that also reads local files and the Hugging Face cache.
func ExamplePlanner() {
	planner := plimsoll.Planner{Dir: os.DirFS}
	if dir := plimsoll.HubCache(os.Getenv); dir != "" {
		planner.Hub = os.DirFS(dir)
	}
	_, err := planner.Predict(context.Background(), plimsoll.PredictRequest{
		Deployment: plimsoll.Deployment{Model: "Qwen/Qwen3-8B"}, Trace: "no-such-file.csv",
	})
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

// The systems of a vendor.
func ExampleSystems() {
	for _, s := range plimsoll.Systems() {
		if s.Generation == "hopper" && s.Memory > 140e9 {
			fmt.Println(s.Name, s.Node, "per node")
		}
	}
	// Output:
	// gh200_144gb 1 per node
	// h200_nvl 8 per node
	// h200_sxm 8 per node
	// h20_141gb 8 per node
}

// The newest settings of an engine.
func ExampleEngines() {
	for _, e := range plimsoll.Engines() {
		if e.Name == "vllm" {
			fmt.Println(e.Name, "from", e.Version)
			break
		}
	}
	// Output: vllm from 0.28
}
