package plimsoll_test

import (
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
	limits := plimsoll.Limits{TTFT: 1, TPOT: 15 * plimsoll.Millisecond}
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
			Deployment: c.Run, Limits: limits,
			Traffic: plimsoll.Traffic{Concurrency: c.Concurrency, Workloads: []plimsoll.Workload{load}},
		})
		if err != nil {
			t.Fatal(err)
		}
		got := []any{p.TTFT.Mean, p.TTFT.P95, p.TTFT.Low, p.TPOT.Mean, p.TPOT.P95, p.TPOT.High, p.OutputRate, *p.Chance, p.Basis, p.Tier, p.Request.Deployment.Devices()}
		want := []any{c.TTFT.Value, c.TTFT95.Value, c.TTFT.Low, c.TPOT.Value, c.TPOT95.Value, c.TPOT.High, c.Tokens.Value, *c.Chance, c.Basis, c.Tier, c.GPUs}
		near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Abs(a) }) // bounds are of seconds or of milliseconds
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
	mine := plimsoll.Sources{DeviceFile: "mine.yaml"}
	ask := func(system string) (*plimsoll.Prediction, error) {
		return planner.Predict(t.Context(), plimsoll.PredictRequest{
			Deployment: plimsoll.Deployment{Model: "./mine", System: system}, Sources: mine, Traffic: plimsoll.Traffic{Trace: "trace.csv"},
		})
	}
	p, err := ask("")
	if err != nil {
		t.Fatal(err)
	}
	if p.Finished != 2 || p.OutputInterval != nil || p.Device != "mine" {
		t.Errorf("want 2 requests and no interval, got %d and %+v on %s", p.Finished, p.OutputInterval, p.Device)
	}
	if _, err := ask("h100_sxm"); err == nil || !strings.Contains(err.Error(), "deployment.system h100_sxm is not the device of mine.yaml") {
		t.Errorf("a name beside the file: %v", err)
	}
	lengths, err := plimsoll.ReadLengths([]byte("bins:\n- {min_tokens: 1, max_tokens: 9, weight: 2}\n"), "l.yaml")
	if err != nil || !cmp.Equal([]plimsoll.Bin{{Min: 1, Max: 9, Weight: 2}}, lengths.Bins) {
		t.Errorf("bins: %v %v", err, lengths)
	}
	if _, err := plimsoll.ReadLengths(nil, "l.yaml"); err == nil {
		t.Error("an empty file has lengths")
	}
}
