package plimsoll_test

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll"
)

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
		{d: plimsoll.Deployment{Model: qwen, Formats: plimsoll.Formats{KV: "fp9"}}, w: eight, text: "kv must be one of fp8, int8, bf16", fields: []string{"kv"}},
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
			text: "invalid bin", fields: []string{"output_distribution"},
		},
		{d: on(plimsoll.Layout{}), w: plimsoll.Workload{Trace: "t.csv"}, text: "files cannot be read here", fields: []string{"trace"}},
		{
			d: on(plimsoll.Layout{}), w: plimsoll.Workload{Trace: "t.csv", Lengths: plimsoll.Lengths{Input: 5}},
			text: "its own lengths", fields: []string{"trace"},
		},
		{d: on(plimsoll.Layout{}), w: eight, l: plimsoll.Limits{Latency: -1}, text: "latency_limit must be positive", fields: []string{"latency_limit"}},
		{planner: plimsoll.Planner{Calibration: "c.yaml", ReadFile: none}, d: on(plimsoll.Layout{}), w: eight, text: "reading calibration", fields: []string{"calibration"}},
		{planner: plimsoll.Planner{PerfData: "tables"}, d: on(plimsoll.Layout{}), w: eight, text: "directories cannot be read here", fields: []string{"perf_data"}},
		{planner: plimsoll.Planner{DeviceFile: "d.yaml"}, d: on(plimsoll.Layout{}), w: eight, text: "files cannot be read here", fields: []string{"device_file"}},
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
