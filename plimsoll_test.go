package plimsoll_test

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll"
)

// TestMistakes: bad input is an InputError that names its fields as JSON does.
func TestMistakes(t *testing.T) {
	t.Parallel()
	const qwen = "Qwen/Qwen3-32B"
	on := func(l plimsoll.Layout) plimsoll.Deployment {
		return plimsoll.Deployment{Model: qwen, Pools: []plimsoll.Pool{{Layout: l}}}
	}
	eight := plimsoll.Traffic{Concurrency: 8}
	none := func(string) fs.FS { return fstest.MapFS{} }
	for _, c := range []struct {
		d      plimsoll.Deployment
		w      plimsoll.Traffic
		l      plimsoll.Limits
		s      plimsoll.Sources
		text   string
		fields []string
	}{
		{text: "no model given", w: eight},
		{d: plimsoll.Deployment{Model: "Qwen/Qwen3-32C"}, w: eight, text: "Qwen/Qwen3-32B", fields: []string{"deployment.model"}},
		{d: plimsoll.Deployment{Model: "./mine"}, w: eight, text: "directories cannot be read", fields: []string{"deployment.model"}},
		{d: plimsoll.Deployment{Model: qwen, System: "h200_smx"}, w: eight, text: "nearest: h200_sxm", fields: []string{"deployment.system"}},
		{d: plimsoll.Deployment{Model: qwen, Engine: plimsoll.Engine{Name: "vlm"}}, w: eight, text: "nearest: vllm", fields: []string{"deployment.engine.name"}},
		{d: plimsoll.Deployment{Model: qwen, Engine: plimsoll.Engine{Settings: []string{"token_bugdet=1"}}}, w: eight, text: "nearest: token_budget"},
		{
			d: plimsoll.Deployment{Model: qwen, Formats: plimsoll.Formats{KV: "fp9"}}, w: eight,
			text: `deployment.formats.kv must be one of fp8, int8, bf16, bfloat16, got "fp9"; nearest: fp8`, fields: []string{"deployment.formats.kv"},
		},
		{d: plimsoll.Deployment{Model: qwen, Formats: plimsoll.Formats{Linear: "w8a8"}}, w: eight, text: "W8A8", fields: []string{"deployment.formats.linear"}},
		{d: on(plimsoll.Layout{TP: -1}), w: eight, text: "layout.tp must be", fields: []string{"deployment.pools.layout.tp"}},
		{
			d: on(plimsoll.Layout{TP: math.MaxInt, DP: math.MaxInt}), w: eight, text: "layout.tp must be",
			fields: []string{"deployment.pools.layout.tp", "deployment.pools.layout.dp"},
		},
		{d: plimsoll.Deployment{Model: qwen, Pools: []plimsoll.Pool{{Role: plimsoll.Decode}}}, w: eight, text: "pools", fields: []string{"deployment.pools"}},
		{
			d: plimsoll.Deployment{Model: "deepseek-ai/DeepSeek-V3", Pools: []plimsoll.Pool{
				{Role: plimsoll.Prefill, Replicas: -1, Layout: plimsoll.Layout{TP: 8}},
				{Role: plimsoll.Decode, Layout: plimsoll.Layout{TP: 8}, MTP: 1, AcceptanceRates: []float64{7}},
			}}, w: eight,
			text: "acceptance_rates must be between 0 and 1, got 7", fields: []string{"deployment.pools.replicas", "deployment.pools.acceptance_rates"},
		},
		{d: on(plimsoll.Layout{}), text: "give one of concurrency, rate and trace", fields: []string{"concurrency", "rate", "trace"}},
		{d: on(plimsoll.Layout{}), w: plimsoll.Traffic{Concurrency: -1}, text: "concurrency must be positive", fields: []string{"concurrency"}},
		{d: on(plimsoll.Layout{}), w: plimsoll.Traffic{Rate: math.NaN()}, text: "rate must be positive", fields: []string{"rate"}},
		{
			d: on(plimsoll.Layout{}), w: plimsoll.Traffic{Concurrency: 1, OutputLengths: &plimsoll.Distribution{Bins: []plimsoll.Bin{{Min: 2, Max: 1, Weight: 1}}}},
			text: "invalid bin",
		},
		{d: on(plimsoll.Layout{}), w: plimsoll.Traffic{Trace: "t.csv"}, text: "reading trace", fields: []string{"trace"}},
		{d: on(plimsoll.Layout{}), w: eight, l: plimsoll.Limits{Latency: -1}, text: "latency_ms must be positive", fields: []string{"limits.latency_ms"}},
		{s: plimsoll.Sources{Calibration: "c.yaml"}, d: on(plimsoll.Layout{}), w: eight, text: "reading calibration", fields: []string{"calibration"}},
		{s: plimsoll.Sources{PerfData: plimsoll.Tables{Dir: "tables"}}, d: on(plimsoll.Layout{}), w: eight, text: "directories cannot be read here", fields: []string{"perf_data.dir"}},
		{s: plimsoll.Sources{DeviceFile: "d.yaml"}, d: on(plimsoll.Layout{}), w: eight, text: "reading device_file", fields: []string{"device_file"}},
	} {
		planner := plimsoll.Planner{Dir: none}
		if strings.Contains(c.text, "directories cannot be read") {
			planner.Dir = nil
		}
		_, err := planner.Predict(t.Context(), plimsoll.PredictRequest{Deployment: c.d, Traffic: c.w, Limits: c.l, Sources: c.s})
		wrong, ok := errors.AsType[*plimsoll.InputError](err)
		if !ok || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%+v: want an InputError with %q, got %v", c.d, c.text, err)
			continue
		}
		if d := cmp.Diff(c.fields, wrong.Fields); d != "" {
			t.Errorf("%q: fields (-want +got):\n%s", err, d)
		}
		if c.s.Calibration != "" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the cause is lost: %v", err)
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
		engine := plimsoll.Engine{Name: s(), Version: s(), Settings: []string{s()}}
		limits := plimsoll.Limits{TTFT: plimsoll.Seconds(x()), TPOT: plimsoll.Seconds(x())}
		d := plimsoll.Deployment{Model: models.Draw(t, "model"), System: s(), Engine: engine, Formats: plimsoll.Formats{KV: s()}, Pools: []plimsoll.Pool{pool}}
		w := plimsoll.Traffic{Concurrency: min(8, n()), Rate: x(), Process: plimsoll.Arrival(n()), Requests: min(8, n()), Input: n(), Output: n(), LengthLow: x()}
		if n() == 1 {
			w.InputLengths = &plimsoll.Distribution{Bins: []plimsoll.Bin{{Min: n(), Max: n(), Weight: x()}}}
		}
		_, predicted := planner.Predict(context.Background(), plimsoll.PredictRequest{Deployment: d, Traffic: w, Limits: limits})
		q := plimsoll.OptimizeRequest{
			Model: d.Model, Devices: []string{d.System}, NumDevices: min(2, n()), Engine: engine, Input: n(), Output: n(), LengthLow: x(), Limits: limits,
			AcceptanceRates: []float64{x()},
		}
		q.Space.TP, q.Space.PP, q.Space.DCP, q.Space.MTP = []int{n()}, []int{n()}, []int{n()}, []int{n()}
		_, found := planner.Optimize(context.Background(), q)
		for _, err := range []error{predicted, found} {
			if _, ok := errors.AsType[*plimsoll.InputError](err); err != nil && !ok {
				t.Errorf("not an InputError: %v", err)
			}
		}
	})
}

func TestHubCache(t *testing.T) {
	t.Parallel()
	for want, env := range map[string]map[string]string{
		"":                          {},
		"/c":                        {"HF_HUB_CACHE": "/c", "HF_HOME": "/h", "HOME": "/u"},
		"/h/hub":                    {"HF_HOME": "/h", "HOME": "/u"},
		"/u/.cache/huggingface/hub": {"HOME": "/u", "USERPROFILE": "/w"},
		"/w/.cache/huggingface/hub": {"USERPROFILE": "/w"},
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
	d := plimsoll.Deployment{Model: "Qwen/Qwen3-8B"}
	var p plimsoll.Planner
	_, predict := p.Predict(ctx, plimsoll.PredictRequest{Deployment: d, Traffic: plimsoll.Traffic{Concurrency: 8}})
	_, step := p.Step(ctx, plimsoll.StepRequest{Deployment: d})
	_, plan := p.Plan(ctx, plimsoll.PlanRequest{Model: d.Model, Systems: []string{"h200_sxm"}, Devices: 2, Workloads: []plimsoll.Workload{{Input: 100, Output: 10}}})
	for _, err := range []error{predict, step, plan} {
		if _, ok := errors.AsType[*plimsoll.InputError](err); ok || !errors.Is(err, context.Canceled) {
			t.Errorf("want the context's error, got %v", err)
		}
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
