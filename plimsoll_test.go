package plimsoll_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"plimsoll"
	"plimsoll/internal/cli"
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
			"meta-llama/Llama-3.1-8B --system h100_sxm --engine trtllm --quantize-linear-action FP8 --quantize-attention-action FP8 --concurrency 4",
			plimsoll.Deployment{
				Model: "meta-llama/Llama-3.1-8B", System: "h100_sxm", Engine: plimsoll.Engine{Name: "trtllm"},
				Formats: plimsoll.Formats{Linear: "FP8", Attention: "FP8"},
			},
			plimsoll.Workload{Concurrency: 4},
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

// question is one whose plan has several layouts.
func question() plimsoll.Question {
	return plimsoll.Question{
		Model: "Qwen/Qwen3-30B-A3B", System: "h100_sxm", Devices: 4, Engine: plimsoll.Engine{Name: "sglang"},
		Lengths: plimsoll.Lengths{Input: 256, Output: 32, Low: 0.8},
		Limits:  plimsoll.Limits{TTFT: time.Second, TPOT: 15 * time.Millisecond},
	}
}

// TestPlanIsPredict feeds every option of a plan to Predict at its concurrency.
func TestPlanIsPredict(t *testing.T) {
	t.Parallel()
	long := question()
	long.Lengths = plimsoll.Lengths{InputBins: []plimsoll.Bin{{Min: 20000, Max: 20001, Weight: 1}}, Output: 16}
	long.Limits = plimsoll.Limits{TTFT: time.Minute, TPOT: 50 * time.Millisecond}
	for _, q := range []plimsoll.Question{question(), long} {
		planner := &plimsoll.Planner{}
		plan, err := planner.Plan(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Options) < 5 {
			t.Fatalf("want options for most of the 9 layouts, got %d", len(plan.Options))
		}
		for i := range plan.Options {
			o := &plan.Options[i]
			if i > 0 && o.OutputRate.Mean > plan.Options[i-1].OutputRate.Mean {
				t.Errorf("option %d carries more than the one before", i)
			}
			p, err := planner.Predict(t.Context(), o.Deployment, plimsoll.Workload{Concurrency: o.Concurrency, Lengths: q.Lengths}, q.Limits)
			if err != nil {
				t.Fatal(err)
			}
			got := plimsoll.Option{
				Deployment: o.Deployment, Concurrency: o.Concurrency, TTFT: p.TTFT.Time, TPOT: p.TPOT.Time,
				OutputRate: p.OutputRate, Chance: p.Chance, Basis: p.Basis, Binds: o.Binds,
			}
			if d := cmp.Diff(*o, got); d != "" {
				t.Errorf("%v (-plan +prediction):\n%s", o.Deployment.Pools[0].Layout, d)
			}
			if plan.Tier != p.Tier {
				t.Errorf("tier: plan %s, prediction %s", plan.Tier, p.Tier)
			}
		}
	}
}

// TestPlan holds the parts of a plan to what they promise.
func TestPlan(t *testing.T) {
	t.Parallel()
	q := question()
	var mu sync.Mutex
	last := plimsoll.Progress{}
	planner := &plimsoll.Planner{Progress: func(p plimsoll.Progress) {
		mu.Lock()
		defer mu.Unlock()
		last = p
	}}
	plan, err := planner.Plan(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if last.Done != last.Of || last.Of != 9 { // TP and EP of 1, 2 and 4
		t.Errorf("progress ends at %+v", last)
	}
	if n := len(plan.Options) + len(plan.Rejected); n != 9 {
		t.Errorf("want 9 layouts, got %d", n)
	}
	if best := plan.Best(); best.TPOT.Mean > q.Limits.TPOT || best.TTFT.Mean > q.Limits.TTFT || plan.Nearest != nil {
		t.Errorf("the best is over the limits: %+v", best)
	}
	for i := 1; i < len(plan.Frontier); i++ {
		a, b := &plan.Frontier[i-1], &plan.Frontier[i]
		if b.OutputRate >= a.OutputRate || b.TPOT >= a.TPOT {
			t.Errorf("the frontier does not fall: %+v, %+v", a, b)
		}
	}
	if plan.Safe == nil || plan.Safe.OutputRate > plan.Best().OutputRate.Mean {
		t.Fatalf("safe: %+v", plan.Safe)
	}
	p, err := planner.Predict(t.Context(), plan.Safe.Deployment,
		plimsoll.Workload{Concurrency: plan.Safe.Concurrency, Lengths: q.Lengths}, q.Limits)
	if err != nil {
		t.Fatal(err)
	}
	if p.Chance < 0.9 || p.OutputRate.Mean != plan.Safe.OutputRate {
		t.Errorf("the safe choice keeps its limits with %g, %g tokens/s of %g", p.Chance, p.OutputRate.Mean, plan.Safe.OutputRate)
	}

	q.Limits = plimsoll.Limits{TPOT: time.Microsecond}
	if plan, err = planner.Plan(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	if plan.Best() != nil || plan.Nearest == nil || plan.Nearest.TPOT <= q.Limits.TPOT || len(plan.Rejected) != 9 || plan.Rejected[0].Reason == "" {
		t.Errorf("limits that nothing keeps: %+v", plan)
	}
	q.Limits = plimsoll.Limits{TTFT: plan.Nearest.TTFT, TPOT: plan.Nearest.TPOT}
	if plan, err = planner.Plan(t.Context(), q); err != nil || plan.Best() == nil {
		t.Errorf("nothing keeps the nearest limits (%v)", err)
	}
}

// TestMistakes: bad input is an InputError that names its fields.
func TestMistakes(t *testing.T) {
	t.Parallel()
	const qwen = "Qwen/Qwen3-32B"
	on := func(l plimsoll.Layout) plimsoll.Deployment {
		return plimsoll.Deployment{Model: qwen, Pools: []plimsoll.Pool{{Layout: l}}}
	}
	eight := plimsoll.Workload{Concurrency: 8}
	none := func(string) ([]byte, error) { return nil, fs.ErrNotExist }
	for _, c := range []struct {
		planner plimsoll.Planner
		d       plimsoll.Deployment
		w       plimsoll.Workload
		l       plimsoll.Limits
		text    string
		fields  []string
	}{
		{text: "no model given", w: eight},
		{d: plimsoll.Deployment{Model: "Qwen/Qwen3-32C"}, w: eight, text: "Qwen/Qwen3-32B"},
		{d: plimsoll.Deployment{Model: "./mine"}, w: eight, text: "directories cannot be read"},
		{d: plimsoll.Deployment{Model: qwen, System: "h200_smx"}, w: eight, text: "nearest: h200_sxm"},
		{d: plimsoll.Deployment{Model: qwen, Engine: plimsoll.Engine{Name: "vlm"}}, w: eight, text: "nearest: vllm"},
		{
			d: plimsoll.Deployment{Model: qwen, Engine: plimsoll.Engine{Settings: map[string]string{"token_bugdet": "1"}}}, w: eight,
			text: "nearest: token_budget",
		},
		{d: plimsoll.Deployment{Model: qwen, Formats: plimsoll.Formats{KV: "fp9"}}, w: eight, text: "kv must be one of fp8, bf16", fields: []string{"kv"}},
		{d: plimsoll.Deployment{Model: qwen, Formats: plimsoll.Formats{Linear: "w8a8"}}, w: eight, text: "W8A8", fields: []string{"quantize_linear_action"}},
		{d: on(plimsoll.Layout{TP: -1}), w: eight, text: "tp_size must be", fields: []string{"tp_size"}},
		{d: on(plimsoll.Layout{TP: math.MaxInt, DP: math.MaxInt}), w: eight, text: "tp_size must be", fields: []string{"tp_size", "dp_size"}},
		{d: plimsoll.Deployment{Model: qwen, Pools: []plimsoll.Pool{{Role: plimsoll.Decode}}}, w: eight, text: "pools", fields: []string{"pools"}},
		{
			d: plimsoll.Deployment{Model: "deepseek-ai/DeepSeek-V3", Pools: []plimsoll.Pool{
				{Role: plimsoll.Prefill, Replicas: -1, Layout: plimsoll.Layout{TP: 8}},
				{Role: plimsoll.Decode, Layout: plimsoll.Layout{TP: 8}, MTP: 1, AcceptanceRates: []float64{7}},
			}}, w: eight,
			text: "mtp_acceptance_rates must be between 0 and 1, got 7", fields: []string{"replicas", "mtp_acceptance_rates"},
		},
		{d: on(plimsoll.Layout{}), text: "give one of concurrency, rate and trace", fields: []string{"concurrency", "rate", "trace"}},
		{d: on(plimsoll.Layout{}), w: plimsoll.Workload{Concurrency: -1}, text: "concurrency must be positive", fields: []string{"concurrency"}},
		{d: on(plimsoll.Layout{}), w: plimsoll.Workload{Rate: math.NaN()}, text: "rate must be positive", fields: []string{"rate"}},
		{d: on(plimsoll.Layout{}), w: plimsoll.Workload{Rate: 1, Arrival: "bursty"}, text: "arrival must be one of", fields: []string{"arrival"}},
		{
			d: on(plimsoll.Layout{}), w: plimsoll.Workload{Concurrency: 1, Lengths: plimsoll.Lengths{Input: 5, InputBins: []plimsoll.Bin{{1, 2, 1}}}},
			text: "not both", fields: []string{"input_length", "input_distribution"},
		},
		{
			d: on(plimsoll.Layout{}), w: plimsoll.Workload{Concurrency: 1, Lengths: plimsoll.Lengths{OutputBins: []plimsoll.Bin{{2, 1, 1}}}},
			text: "not a sound bin", fields: []string{"output_distribution"},
		},
		{d: on(plimsoll.Layout{}), w: plimsoll.Workload{Trace: "t.csv"}, text: "reads no files", fields: []string{"trace"}},
		{
			d: on(plimsoll.Layout{}), w: plimsoll.Workload{Trace: "t.csv", Lengths: plimsoll.Lengths{Input: 5}},
			text: "lengths of its own", fields: []string{"trace"},
		},
		{d: on(plimsoll.Layout{}), w: eight, l: plimsoll.Limits{Latency: -1}, text: "latency_limit must be positive", fields: []string{"latency_limit"}},
		{planner: plimsoll.Planner{Calibration: "c.yaml", ReadFile: none}, d: on(plimsoll.Layout{}), w: eight, text: "reading calibration", fields: []string{"calibration"}},
		{planner: plimsoll.Planner{PerfData: "tables"}, d: on(plimsoll.Layout{}), w: eight, text: "opens no directories", fields: []string{"perf_data"}},
		{planner: plimsoll.Planner{DeviceFile: "d.yaml"}, d: on(plimsoll.Layout{}), w: eight, text: "reads no files", fields: []string{"device_file"}},
	} {
		_, err := c.planner.Predict(t.Context(), c.d, c.w, c.l)
		wrong, ok := errors.AsType[*plimsoll.InputError](err)
		if !ok || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%+v: want an InputError with %q, got %v", c.d, c.text, err)
			continue
		}
		if d := cmp.Diff(c.fields, wrong.Fields); d != "" {
			t.Errorf("%q: fields (-want +got):\n%s", err, d)
		}
	}
	_, err := (&plimsoll.Planner{Calibration: "c.yaml", ReadFile: none}).Predict(t.Context(), on(plimsoll.Layout{}), eight, plimsoll.Limits{})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the cause is lost: %v", err)
	}
}

// TestMistakesOfQuestions are those only a plan can have.
func TestMistakesOfQuestions(t *testing.T) {
	t.Parallel()
	for text, change := range map[string]func(*plimsoll.Question){
		"no model given":                         func(q *plimsoll.Question) { q.Model = "" },
		"num_devices":                            func(q *plimsoll.Question) { q.Devices = -1 },
		"more than the":                          func(q *plimsoll.Question) { q.Devices = 1 << 20 },
		"unknown device":                         func(q *plimsoll.Question) { q.System = "nothing" },
		"unknown engine":                         func(q *plimsoll.Question) { q.Engine.Name = "nothing" },
		"engine setting \"x=y\"":                 func(q *plimsoll.Question) { q.Engine.Settings = map[string]string{"x": "y"} },
		"tp_sizes must be between 1 and":         func(q *plimsoll.Question) { q.Sizes.TP = []int{16} },
		"num_mtp_tokens must be between":         func(q *plimsoll.Question) { q.Sizes.MTP = []int{-1} },
		"latency_limit is not for plans":         func(q *plimsoll.Question) { q.Limits.Latency = time.Second },
		"output_distribution is not for plans":   func(q *plimsoll.Question) { q.OutputBins, q.Output = []plimsoll.Bin{{1, 2, 1}}, 0 },
		"ttft_limit must be positive":            func(q *plimsoll.Question) { q.Limits.TTFT = -1 },
		"input_length: tokens must be from 1 to": func(q *plimsoll.Question) { q.Input = 1 << 25 },
		"input_distribution: the weights":        func(q *plimsoll.Question) { q.Input, q.InputBins = 0, []plimsoll.Bin{{1, 2, 0}} },
	} {
		q := question()
		change(&q)
		_, err := new(plimsoll.Planner).Plan(t.Context(), q)
		if _, ok := errors.AsType[*plimsoll.InputError](err); !ok || !strings.Contains(err.Error(), text) {
			t.Errorf("want an InputError with %q, got %v", text, err)
		}
	}
}

// TestNothingPanics asks questions that mostly make no sense.
func TestNothingPanics(t *testing.T) {
	t.Parallel()
	numbers := rapid.SampledFrom([]int{math.MinInt, -1, 0, 0, 0, 1, 2, 3, 8, math.MaxInt})
	texts := rapid.SampledFrom([]string{"", "", "fp8", "both", "prefill", "decode", "vllm", "h100_sxm", "x=y", "\x00"})
	models := rapid.SampledFrom([]string{"", "Qwen/Qwen3-0.6B", "Qwen/Qwen3-30B-A3B", "..", "models--x"})
	reals := rapid.SampledFrom([]float64{0, 0, 0, -1, 0.5, 1, 1e9, math.NaN(), math.Inf(1)})
	planner := &plimsoll.Planner{}
	rapid.Check(t, func(t *rapid.T) {
		n := func() int { return numbers.Draw(t, "n") }
		s := func() string { return texts.Draw(t, "s") }
		x := func() float64 { return reals.Draw(t, "x") }
		layout := plimsoll.Layout{TP: n(), DP: n(), PP: n(), EP: n(), MoETP: n(), MoEDP: n(), DCP: n()}
		pool := plimsoll.Pool{Role: plimsoll.Role(s()), Replicas: n(), Layout: layout, MTP: n(), AcceptanceRates: []float64{x()}}
		lengths := plimsoll.Lengths{Input: n(), Output: n(), Low: x()}
		if n() == 1 {
			lengths.InputBins = []plimsoll.Bin{{n(), n(), x()}}
		}
		engine := plimsoll.Engine{Name: s(), Version: s(), Settings: map[string]string{s(): s()}}
		limits := plimsoll.Limits{TTFT: time.Duration(n()), TPOT: time.Duration(n())}
		d := plimsoll.Deployment{Model: models.Draw(t, "model"), System: s(), Engine: engine, Formats: plimsoll.Formats{KV: s()}, Pools: []plimsoll.Pool{pool}}
		w := plimsoll.Workload{Concurrency: min(8, n()), Rate: x(), Arrival: plimsoll.Arrival(s()), Requests: min(8, n()), Lengths: lengths}
		if _, err := planner.Predict(context.Background(), d, w, limits); err != nil {
			if _, ok := errors.AsType[*plimsoll.InputError](err); !ok {
				t.Errorf("not an InputError: %v", err)
			}
		}
		q := plimsoll.Question{
			Model: d.Model, System: d.System, Devices: min(2, n()), Engine: engine, Lengths: lengths, Limits: limits,
			Sizes: plimsoll.Sizes{TP: []int{n()}, PP: []int{n()}, DCP: []int{n()}, MTP: []int{n()}}, AcceptanceRates: []float64{x()},
		}
		if _, err := planner.Plan(context.Background(), q); err != nil {
			if _, ok := errors.AsType[*plimsoll.InputError](err); !ok {
				t.Errorf("not an InputError: %v", err)
			}
		}
	})
}

// TestJSON: questions can be written down and read back.
func TestJSON(t *testing.T) {
	t.Parallel()
	word := rapid.StringMatching(`[a-z0-9_./-]{0,8}`)
	size := rapid.IntRange(0, 64)
	settings := rapid.MapOfN(rapid.StringMatching(`[a-z_.]{1,8}`), word, 0, 3)
	engine := rapid.Custom(func(t *rapid.T) plimsoll.Engine {
		return plimsoll.Engine{Name: word.Draw(t, "name"), Version: word.Draw(t, "version"), Settings: full(settings.Draw(t, "settings"))}
	})
	lengths := rapid.Custom(func(t *rapid.T) plimsoll.Lengths {
		l := plimsoll.Lengths{Input: size.Draw(t, "input"), Output: size.Draw(t, "output"), Low: rapid.Float64Range(0, 1).Draw(t, "low")}
		for range rapid.IntRange(0, 2).Draw(t, "bins") {
			l.InputBins = append(l.InputBins, plimsoll.Bin{Min: size.Draw(t, "min"), Max: size.Draw(t, "max"), Weight: rapid.Float64().Draw(t, "weight")})
		}
		return l
	})
	limits := rapid.Custom(func(t *rapid.T) plimsoll.Limits { // up to a day, beyond which a float of milliseconds rounds nanoseconds
		ns := func() time.Duration { return time.Duration(rapid.Int64Range(0, 86_400_000_000_000).Draw(t, "ns")) }
		return plimsoll.Limits{TTFT: ns(), TPOT: ns(), Latency: ns()}
	})
	rapid.Check(t, func(t *rapid.T) {
		d := plimsoll.Deployment{
			Model: word.Draw(t, "model"), System: word.Draw(t, "system"), Engine: engine.Draw(t, "engine"),
			Formats:     plimsoll.Formats{Checkpoint: word.Draw(t, "checkpoint"), KV: word.Draw(t, "kv"), Linear: word.Draw(t, "linear"), MXFP4Group: size.Draw(t, "group")},
			LeastLoaded: rapid.Bool().Draw(t, "least"),
		}
		for range rapid.IntRange(0, 2).Draw(t, "pools") {
			d.Pools = append(d.Pools, plimsoll.Pool{
				Role: plimsoll.Role(word.Draw(t, "role")), Replicas: size.Draw(t, "replicas"), Settings: full(settings.Draw(t, "settings")), MTP: size.Draw(t, "mtp"),
				Layout: plimsoll.Layout{
					TP: size.Draw(t, "tp"), DP: size.Draw(t, "dp"), PP: size.Draw(t, "pp"), EP: size.Draw(t, "ep"),
					MoETP: size.Draw(t, "moe-tp"), MoEDP: size.Draw(t, "moe-dp"), DCP: size.Draw(t, "dcp"),
				},
			})
		}
		again(t, d)
		again(t, plimsoll.Workload{
			Concurrency: size.Draw(t, "concurrency"), Rate: rapid.Float64().Draw(t, "rate"), Trace: word.Draw(t, "trace"),
			Arrival: plimsoll.Gamma, Lengths: lengths.Draw(t, "lengths"), Seed: rapid.Uint64().Draw(t, "seed"),
		})
		again(t, plimsoll.Question{
			Model: d.Model, Devices: size.Draw(t, "devices"), Engine: d.Engine, Lengths: lengths.Draw(t, "lengths"),
			Limits: limits.Draw(t, "limits"), Sizes: plimsoll.Sizes{EP: []int{size.Draw(t, "ep")}},
		})
	})
}

// full is a map, nil without entries, as JSON leaves it out.
func full(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	return m
}

// again writes a value and reads it back.
func again[T any](t *rapid.T, want T) {
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got T
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("%s (-written +read):\n%s", text, d)
	}
}

func TestLimitsJSON(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(plimsoll.Limits{TTFT: 1500 * time.Millisecond, TPOT: 30 * time.Millisecond})
	if want := `{"ttft_limit":1500,"tpot_limit":30}`; err != nil || string(text) != want {
		t.Errorf("want %s, got %s (%v)", want, text, err)
	}
	var l plimsoll.Limits
	if err := json.Unmarshal([]byte(`{"tpot_limit":1e300,"ttft_limit":-1e300}`), &l); err != nil || l.TPOT != math.MaxInt64 || l.TTFT != math.MinInt64 {
		t.Errorf("beyond all durations: %+v (%v)", l, err)
	}
	if json.Unmarshal([]byte(`{"tpot_limit":"30ms"}`), &l) == nil {
		t.Error("a text is taken for a number")
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

func TestHubCache(t *testing.T) {
	t.Parallel()
	for want, env := range map[string]map[string]string{
		"":                          {},
		"/c":                        {"HF_HUB_CACHE": "/c", "HF_HOME": "/h", "HOME": "/u"},
		"/h/hub":                    {"HF_HOME": "/h", "HOME": "/u"},
		"/u/.cache/huggingface/hub": {"HOME": "/u"},
	} {
		if got := strings.ReplaceAll(plimsoll.HubCache(func(k string) string { return env[k] }), `\`, "/"); got != want {
			t.Errorf("want %q, got %q", want, got)
		}
	}
}

// TestCancelled: the error of a context is no mistake of the user's.
func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, predict := new(plimsoll.Planner).Predict(ctx, plimsoll.Deployment{Model: "Qwen/Qwen3-8B"}, plimsoll.Workload{Concurrency: 8}, plimsoll.Limits{})
	_, plan := new(plimsoll.Planner).Plan(ctx, question())
	for _, err := range []error{predict, plan} {
		if _, ok := errors.AsType[*plimsoll.InputError](err); ok || !errors.Is(err, context.Canceled) {
			t.Errorf("want the context's error, got %v", err)
		}
	}
}

// TestCatalog: every name that is listed can be used.
func TestCatalog(t *testing.T) {
	t.Parallel()
	planner := &plimsoll.Planner{}
	one := plimsoll.Workload{Concurrency: 1, Requests: 1, Lengths: plimsoll.Lengths{Input: 8, Output: 2}}
	for _, e := range plimsoll.Engines() {
		if _, err := planner.Predict(t.Context(), plimsoll.Deployment{Model: "Qwen/Qwen3-0.6B", Engine: e}, one, plimsoll.Limits{}); err != nil {
			t.Errorf("%+v: %v", e, err)
		}
	}
	for _, s := range plimsoll.Systems() {
		if _, err := planner.Predict(t.Context(), plimsoll.Deployment{Model: "Qwen/Qwen3-0.6B", System: s.Name}, one, plimsoll.Limits{}); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		if s.Memory <= 0 || s.Bandwidth <= 0 || s.Node < 1 || s.Devices < s.Node {
			t.Errorf("%+v", s)
		}
	}
	ids := map[string]bool{}
	for _, m := range plimsoll.Models() {
		if m.AliasOf == "" {
			ids[m.ID] = true
		}
		if m.Family == "" || m.AliasOf == "" && (m.Active <= 0 || m.Parameters < m.Active) {
			t.Errorf("%+v", m)
		}
	}
	if len(ids) < 50 {
		t.Errorf("%d models", len(ids))
	}
}

// TestReadme: the program the README shows is the example that runs as a test, and
// what it prints is what the README says.
func TestReadme(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("example_readme_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "```go\n")
	program, rest, ok := strings.Cut(rest, "```\n")
	_, rest, _ = strings.Cut(rest, "```text\n")
	prints, _, printed := strings.Cut(rest, "```\n")
	if !ok || !printed {
		t.Fatal("README.md shows no program, or not what it prints")
	}
	code, output, _ := strings.Cut(string(example), "\t// Output:\n")
	code = strings.NewReplacer("package plimsoll_test", "package main", "func Example()", "func main()").Replace(code) + "}\n"
	output = strings.ReplaceAll(strings.TrimSuffix(output, "}\n"), "\t// ", "")
	if d := cmp.Diff(code, program); d != "" {
		t.Errorf("README.md differs from example_readme_test.go (-example +README):\n%s", d)
	}
	if d := cmp.Diff(output, prints); d != "" {
		t.Errorf("README.md differs from what the example prints (-example +README):\n%s", d)
	}
}
