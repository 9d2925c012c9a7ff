package plimsoll_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"math"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll"
	"github.com/plimsoll-project/plimsoll/internal/face/cli"
)

// simulate is what "plimsoll simulate --json" prints for a command line.
func simulate(t *testing.T, line string) map[string]any {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := cli.Main(&cli.Env{
		Args:  append(strings.Fields("simulate "+line), "--json"),
		Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr,
		Getenv: func(string) string { return "" }, WorkDir: t.TempDir(), Now: time.Now,
	})
	if code != 0 {
		t.Fatalf("plimsoll simulate %s: exit %d: %s", line, code, stderr.String())
	}
	var out map[string]any
	if err := json.Unmarshal(stdout.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// document is a prediction as the command's document has it.
func document(p *plimsoll.Prediction) map[string]any {
	ms := func(d time.Duration) any { return float64(d) / 1e6 }
	times := func(d *plimsoll.Distribution) any {
		return map[string]any{
			"mean": ms(d.Mean), "low80": ms(d.Low), "high80": ms(d.High),
			"p50": ms(d.P50), "p90": ms(d.P90), "p95": ms(d.P95), "p99": ms(d.P99), "max": ms(d.Max),
		}
	}
	const gib = 1 << 30
	out := map[string]any{
		"device": p.Deployment.System, "engine": p.Deployment.Engine.Name,
		"requests": float64(p.Requests), "finished": float64(p.Finished), "refused": float64(p.Refused), "duration_s": p.Duration.Seconds(),
		"ttft_ms": times(&p.TTFT), "tpot_ms": times(&p.TPOT), "itl_ms": times(&p.ITL), "latency_ms": times(&p.Latency),
		"requests_per_s": p.RequestRate, "input_tokens_per_s": p.InputRate, "output_tokens_per_s": p.OutputRate.Mean,
		"goodput_per_s": p.Goodput, "good_share": p.GoodShare, "chance_within_limits": p.Chance,
		"kv_tokens": float64(p.Memory.KVTokens), "kv_use_mean": p.KVMean, "kv_use_peak": p.KVPeak,
		"utilization": p.Busy, "preemptions": float64(p.Preemptions), "interval_basis": p.Basis, "tier": p.Tier,
		"memory": map[string]any{
			"device_gib": float64(p.Memory.Device) / gib, "weights_gib": float64(p.Memory.Weights) / gib,
			"activation_gib": float64(p.Memory.Activations) / gib, "workspace_gib": float64(p.Memory.Workspace) / gib,
			"kv_gib": float64(p.Memory.KV) / gib,
		},
		"energy": map[string]any{"joules_per_output_token": p.JoulesPerToken, "watts_per_device": p.WattsPerDevice},
	}
	if p.OutputRate.High > 0 {
		out["output_tokens_per_s_80"] = map[string]any{"low": p.OutputRate.Low, "high": p.OutputRate.High}
	}
	return out
}

// shared drops what only the second document says.
func shared(want, all map[string]any) map[string]any {
	out := map[string]any{}
	for key, w := range want {
		inner, nested := w.(map[string]any)
		if a, ok := all[key].(map[string]any); ok && nested {
			out[key] = shared(inner, a)
			continue
		}
		if a, ok := all[key]; ok {
			out[key] = a
		}
	}
	return out
}

// TestPredictIsSimulate holds predictions to what the command prints: to a
// nanosecond, a byte, and the last digit of everything else.
func TestPredictIsSimulate(t *testing.T) {
	t.Parallel()
	limits := plimsoll.Limits{TTFT: time.Second, TPOT: 20 * time.Millisecond}
	for _, c := range []struct {
		command string
		d       plimsoll.Deployment
		w       plimsoll.Workload
	}{
		{
			"Qwen/Qwen3-32B --tp-size 4 --concurrency 16 --input-length 512 --output-length 64 --length-ratio-low 0.8 --seed 7",
			plimsoll.Deployment{Model: "Qwen/Qwen3-32B", Pools: []plimsoll.Pool{{Layout: plimsoll.Layout{TP: 4}}}},
			plimsoll.Workload{Concurrency: 16, Lengths: plimsoll.Lengths{Input: 512, Output: 64, Low: 0.8}, Seed: 7},
		},
		{
			"deepseek-ai/DeepSeek-V3 --system b200_sxm --engine sglang --set token_budget=4096 --dp-size 8 --ep-size 8 --replicas 2 --least-loaded " +
				"--num-mtp-tokens 1 --mtp-acceptance-rates 0.7 --prefill-replicas 1 --prefill-tp-size 8 --prefill-dp-size 1 " +
				"--prefill-set token_budget=16384 --rate 3 --arrival gamma --arrival-variation 2 --num-prompts 40 --input-length 256 --output-length 32",
			plimsoll.Deployment{
				Model: "deepseek-ai/DeepSeek-V3", System: "b200_sxm", LeastLoaded: true,
				Engine: plimsoll.Engine{Name: "sglang", Settings: map[string]string{"token_budget": "4096"}},
				Pools: []plimsoll.Pool{
					{
						Role: plimsoll.Prefill, Layout: plimsoll.Layout{TP: 8, EP: 8}, Settings: map[string]string{"token_budget": "16384"},
						MTP: 1, AcceptanceRates: []float64{0.7},
					},
					{Role: plimsoll.Decode, Replicas: 2, Layout: plimsoll.Layout{DP: 8, EP: 8}, MTP: 1, AcceptanceRates: []float64{0.7}},
				},
			},
			plimsoll.Workload{
				Rate: 3, Arrival: plimsoll.Gamma, Variation: 2, Requests: 40, Lengths: plimsoll.Lengths{Input: 256, Output: 32},
			},
		},
		{
			"meta-llama/Llama-3.1-8B --system h100_sxm --engine trtllm --quantize-linear-action FP8 --quantize-attention-action FP8 --concurrency 4 --prefix-length 500",
			plimsoll.Deployment{
				Model: "meta-llama/Llama-3.1-8B", System: "h100_sxm", Engine: plimsoll.Engine{Name: "trtllm"},
				Formats: plimsoll.Formats{Linear: "FP8", Attention: "FP8"},
			},
			plimsoll.Workload{Concurrency: 4, Prefix: 500},
		},
	} {
		p, err := new(plimsoll.Planner).Predict(t.Context(), c.d, c.w, limits)
		if err != nil {
			t.Fatalf("%s: %v", c.command, err)
		}
		got := document(p)
		want := shared(got, simulate(t, c.command+" --ttft-limit 1000 --tpot-limit 20"))
		near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Max(1, 1e-6*math.Abs(a)) })
		if d := cmp.Diff(want, got, near); d != "" {
			t.Errorf("%s (-command +package):\n%s", c.command, d)
		}
	}
}

// TestFiles: models, devices, traces and lengths of the user's.
func TestFiles(t *testing.T) {
	t.Parallel()
	const config = `{"architectures":["Qwen3ForCausalLM"],"model_type":"qwen3","hidden_size":1024,"intermediate_size":2048,"num_hidden_layers":4,
"num_attention_heads":8,"num_key_value_heads":8,"head_dim":128,"vocab_size":1000,"max_position_embeddings":4096,"torch_dtype":"bfloat16","hidden_act":"silu"}`
	files := map[string]string{
		"mine.yaml": "base: h200_sxm\nname: mine\n", "trace.csv": "arrival_s,input_tokens,output_tokens\n0,100,10\n0.5,200,20\n",
	}
	planner := &plimsoll.Planner{
		Dir: func(string) fs.FS { return fstest.MapFS{"config.json": {Data: []byte(config)}} },
		ReadFile: func(name string) ([]byte, error) {
			if text, ok := files[name]; ok {
				return []byte(text), nil
			}
			return nil, fs.ErrNotExist
		},
		DeviceFile: "mine.yaml",
	}
	p, err := planner.Predict(t.Context(), plimsoll.Deployment{Model: "./mine"}, plimsoll.Workload{Trace: "trace.csv"}, plimsoll.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if p.Finished != 2 || p.OutputRate.High != 0 {
		t.Errorf("want 2 requests and no interval, got %d and %+v", p.Finished, p.OutputRate)
	}
	plan, err := planner.Plan(t.Context(), plimsoll.Question{Model: "./mine", Lengths: plimsoll.Lengths{Input: 64, Output: 8}})
	if err != nil {
		t.Fatal(err)
	}
	if d := plan.Best().Deployment; d.System != "mine" || d.Model != "./mine" {
		t.Errorf("planned for %s on %s", d.Model, d.System)
	}
	if _, err := planner.Plan(t.Context(), plimsoll.Question{Model: "./mine", System: "h100_sxm"}); err == nil || !strings.Contains(err.Error(), "system h100_sxm is not the device of mine.yaml") {
		t.Errorf("a name beside the file: %v", err)
	}
	bins, err := plimsoll.ReadLengths([]byte("bins:\n- {min_tokens: 1, max_tokens: 9, weight: 2}\n"), "l.yaml")
	if d := cmp.Diff([]plimsoll.Bin{{1, 9, 2}}, bins); err != nil || d != "" {
		t.Errorf("bins: %v %s", err, d)
	}
	if _, err := plimsoll.ReadLengths(nil, "l.yaml"); err == nil {
		t.Error("an empty file has lengths")
	}
}
