package plimsoll_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	type request = plimsoll.PredictRequest
	on := func(l plimsoll.Layout) request {
		return request{Deployment: plimsoll.Deployment{Model: qwen, Pools: []plimsoll.Pool{{Layout: l}}}, Concurrency: 8}
	}
	of := func(d plimsoll.Deployment) request { return request{Deployment: d, Concurrency: 8} }
	with := func(more string) request {
		r := on(plimsoll.Layout{})
		r.More = json.RawMessage(more)
		return r
	}
	none := func(string) fs.FS { return fstest.MapFS{} }
	for _, c := range []struct {
		r      request
		text   string
		fields []string
	}{
		{r: of(plimsoll.Deployment{}), text: "no model given"},
		{r: of(plimsoll.Deployment{Model: "Qwen/Qwen3-32C"}), text: "Qwen/Qwen3-32B", fields: []string{"deployment.model"}},
		{r: of(plimsoll.Deployment{Model: "./mine"}), text: "directories cannot be read", fields: []string{"deployment.model"}},
		{r: of(plimsoll.Deployment{Model: qwen, System: "h200_smx"}), text: "nearest: h200_sxm", fields: []string{"deployment.system"}},
		{r: of(plimsoll.Deployment{Model: qwen, Engine: plimsoll.Engine{Name: "vlm"}}), text: "nearest: vllm", fields: []string{"deployment.engine.name"}},
		{r: of(plimsoll.Deployment{Model: qwen, Engine: plimsoll.Engine{Settings: []string{"token_bugdet=1"}}}), text: "nearest: token_budget"},
		{
			r:    of(plimsoll.Deployment{Model: qwen, More: json.RawMessage(`{"formats": {"kv": "fp9"}}`)}),
			text: `deployment.formats.kv must be one of fp8, int8, bf16, bfloat16, got "fp9"; nearest: fp8`, fields: []string{"deployment.formats.kv"},
		},
		{r: of(plimsoll.Deployment{Model: qwen, More: json.RawMessage(`{"formatz": {}}`)}), text: "unknown field deployment.formatz", fields: []string{"deployment.formatz"}},
		{r: on(plimsoll.Layout{TP: -1}), text: "layout.tp must be", fields: []string{"deployment.pools.layout.tp"}},
		{
			r: on(plimsoll.Layout{TP: math.MaxInt, DP: math.MaxInt}), text: "layout.tp must be",
			fields: []string{"deployment.pools.layout.tp", "deployment.pools.layout.dp"},
		},
		{r: of(plimsoll.Deployment{Model: qwen, Pools: []plimsoll.Pool{{Role: plimsoll.Decode}}}), text: "pools", fields: []string{"deployment.pools"}},
		{
			r: of(plimsoll.Deployment{Model: "deepseek-ai/DeepSeek-V3", Pools: []plimsoll.Pool{
				{Role: plimsoll.Prefill, Replicas: -1, Layout: plimsoll.Layout{TP: 8}},
				{Role: plimsoll.Decode, Layout: plimsoll.Layout{TP: 8}, More: json.RawMessage(`{"mtp": 1, "acceptance_rates": [7]}`)},
			}}),
			text: "acceptance_rates must be between 0 and 1, got 7", fields: []string{"deployment.pools.replicas", "deployment.pools.acceptance_rates"},
		},
		{r: request{Deployment: on(plimsoll.Layout{}).Deployment}, text: "give one of concurrency, rate and trace", fields: []string{"concurrency", "rate", "trace"}},
		{r: request{Deployment: on(plimsoll.Layout{}).Deployment, Concurrency: -1}, text: "concurrency must be positive", fields: []string{"concurrency"}},
		{r: request{Deployment: on(plimsoll.Layout{}).Deployment, Rate: math.NaN()}, text: "NaN"},
		{r: request{Deployment: on(plimsoll.Layout{}).Deployment, Trace: "t.csv"}, text: "reading trace", fields: []string{"trace"}},
		{r: with(`{"output_distribution": {"bins": [{"min_tokens": 2, "max_tokens": 1, "weight": 1}]}}`), text: "invalid bin"},
		{r: with(`{"limits": {"latency_ms": -1}}`), text: "latency_ms must be positive", fields: []string{"limits.latency_ms"}},
		{r: with(`{"limits": {"tpot": 50}}`), text: "unknown field limits.tpot with value 50; nearest: tpot_ms", fields: []string{"limits.tpot"}},
		{r: with(`{"calibration": "c.yaml"}`), text: "reading calibration", fields: []string{"calibration"}},
		{r: with(`{"device_file": "d.yaml"}`), text: "reading device_file", fields: []string{"device_file"}},
		{r: with(`[1]`), text: "JSON"},
	} {
		planner := plimsoll.Planner{Dir: none}
		if strings.Contains(c.text, "directories cannot be read") {
			planner.Dir = nil
		}
		_, err := planner.Predict(t.Context(), c.r)
		wrong, ok := errors.AsType[*plimsoll.InputError](err)
		if !ok || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%+v: want an InputError with %q, got %v", c.r, c.text, err)
			continue
		}
		if d := cmp.Diff(c.fields, wrong.Fields()); d != "" {
			t.Errorf("%q: fields (-want +got):\n%s", err, d)
		}
		if strings.Contains(c.text, "reading calibration") && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the cause is lost: %v", err)
		}
	}
	var planner plimsoll.Planner
	_, err := planner.Call(t.Context(), "stap", json.RawMessage(`{}`))
	if wrong, ok := errors.AsType[*plimsoll.InputError](err); !ok || len(wrong.Mistakes) != 1 || wrong.Mistakes[0].Nearest != "step" {
		t.Errorf("an unknown operation: %v", err)
	}
	_, err = planner.Call(t.Context(), "step", json.RawMessage(`{"decod": true}`))
	if wrong, ok := errors.AsType[*plimsoll.InputError](err); !ok || wrong.Mistakes[0].Nearest != "decode" {
		t.Errorf("a misspelt field: %v", err)
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
		more := func(format string, a ...any) json.RawMessage { return fmt.Appendf(nil, format, a...) }
		pool := plimsoll.Pool{Role: plimsoll.Role(s()), Replicas: n(), Layout: layout, More: more(`{"mtp": %d, "acceptance_rates": [%g]}`, n(), x())}
		limits := plimsoll.Limits{TTFT: plimsoll.Milliseconds(x()), TPOT: plimsoll.Milliseconds(x())}
		d := plimsoll.Deployment{
			Model: models.Draw(t, "model"), System: s(), Engine: plimsoll.Engine{Name: s(), Version: s(), Settings: []string{s()}}, Pools: []plimsoll.Pool{pool},
			More: more(`{"formats": {"kv": %q}}`, s()),
		}
		_, predicted := planner.Predict(context.Background(), plimsoll.PredictRequest{
			Deployment: d, Concurrency: min(8, n()), Rate: x(), Requests: min(8, n()), Input: n(), Output: n(), LengthLow: x(), Limits: limits,
		})
		_, found := planner.Call(context.Background(), "optimize", more(
			`{"model": %q, "devices": [%q], "num_devices": %d, "input_length": %d, "output_length": %d, "tp_sizes": [%d], "pp_sizes": [%d]}`,
			d.Model, d.System, min(2, n()), n(), n(), n(), n()))
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
	_, predict := p.Predict(ctx, plimsoll.PredictRequest{Deployment: d, Concurrency: 8})
	_, step := p.Call(ctx, "step", json.RawMessage(`{"deployment": {"model": "Qwen/Qwen3-8B"}, "decode": true}`))
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
