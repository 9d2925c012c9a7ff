package plimsoll_test

import (
	"encoding/json"
	"io/fs"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll"
)

// TestPlanIsPredict feeds every contender of a plan to Predict at its concurrency.
func TestPlanIsPredict(t *testing.T) {
	t.Parallel()
	var progress int
	planner := &plimsoll.Planner{Progress: func(plimsoll.Progress) { progress++ }}
	limits := plimsoll.Limits{TTFT: 1000, TPOT: 15}
	load := plimsoll.Workload{Input: 600, Output: 8, LengthLow: 0.8}
	plan, err := planner.Plan(t.Context(), plimsoll.PlanRequest{
		Model: "Qwen/Qwen3-30B-A3B", Systems: []string{"h200_sxm"}, Devices: 2, Engines: []string{"vllm", "sglang"}, Workloads: []plimsoll.Workload{load},
		Limits: limits, NoChanges: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Contenders) != 4 || progress == 0 {
		t.Fatalf("want two engines in two modes, got %d contenders after %d reports of progress", len(plan.Contenders), progress)
	}
	for _, c := range plan.Contenders {
		p, err := planner.Predict(t.Context(), plimsoll.PredictRequest{
			Deployment: c.Deployment, Limits: limits, Concurrency: c.Concurrency, Workloads: []plimsoll.Workload{load},
		})
		if err != nil {
			t.Fatal(err)
		}
		got := []any{float64(p.TTFT.Mean), float64(p.TTFT.Low), float64(p.TPOT.Mean), float64(p.TPOT.High), p.Tokens.Value, *p.Judged.Chance, p.Basis, p.Tier}
		want := []any{c.Mean.TTFT.Value, c.Mean.TTFT.Low, c.Mean.TPOT.Value, c.Mean.TPOT.High, c.Tokens.Value, *c.Judged.Chance, c.Basis, c.Tier}
		near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(a) }) // of ten digits
		if d := cmp.Diff(want, got, near); d != "" {
			t.Errorf("%s (-plan +prediction):\n%s", c.Name, d)
		}
	}
}

// TestUsersFiles: models, devices, traces and lengths of the user's.
func TestUsersFiles(t *testing.T) {
	t.Parallel()
	const config = `{"architectures":["Qwen3ForCausalLM"],"model_type":"qwen3","hidden_size":1024,"intermediate_size":2048,"num_hidden_layers":4,
"num_attention_heads":8,"num_key_value_heads":8,"head_dim":128,"vocab_size":1000,"max_position_embeddings":4096,"torch_dtype":"bfloat16","hidden_act":"silu"}`
	files := fstest.MapFS{
		"config.json": {Data: []byte(config)}, "mine.yaml": {Data: []byte("base: h200_sxm\nname: mine\n")},
		"trace.csv": {Data: []byte("arrival_s,input_tokens,output_tokens\n0,100,10\n0.5,200,20\n")},
	}
	planner := &plimsoll.Planner{
		Dir: func(string) fs.FS { return files },
	}
	mine := json.RawMessage(`{"device_file": "mine.yaml"}`)
	ask := func(system string) (*plimsoll.Prediction, error) {
		return planner.Predict(t.Context(), plimsoll.PredictRequest{
			Deployment: plimsoll.Deployment{Model: "./mine", System: system}, More: mine, Trace: "trace.csv",
		})
	}
	p, err := ask("")
	if err != nil {
		t.Fatal(err)
	}
	if p.Finished != 2 || !strings.Contains(string(p.JSON), `"device":"mine"`) {
		t.Errorf("want 2 requests, got %d of %s", p.Finished, p.JSON)
	}
	if _, err := ask("h100_sxm"); err == nil || !strings.Contains(err.Error(), "deployment.system h100_sxm is not the device of mine.yaml") {
		t.Errorf("a name beside the file: %v", err)
	}
}

// TestLintFiles: files are given with their content, and a finding names its file and line.
func TestLintFiles(t *testing.T) {
	t.Parallel()
	l, err := new(plimsoll.Planner).Lint(t.Context(), plimsoll.LintRequest{
		Files:  []plimsoll.File{{Path: "run.sh", Data: []byte("#!/bin/sh\nvllm serve Qwen/Qwen3-8B --tensor-parallel-sizes 2\n")}},
		System: "h200_sxm", Static: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Findings) == 0 || l.Findings[0].File != "run.sh" || l.Findings[0].Line != 2 || l.Findings[0].Code != "PL001" {
		t.Errorf("%+v", l.Findings)
	}
}
