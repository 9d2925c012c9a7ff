package plimsoll_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll"
	"github.com/plimsoll-project/plimsoll/internal/face/cli"
	"github.com/plimsoll-project/plimsoll/internal/ops/lint"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
)

// TestDeploymentIsWhole: a deployment is written and read back with all that this package does not name.
func TestDeploymentIsWhole(t *testing.T) {
	t.Parallel()
	word, size := rapid.StringMatching(`[a-z0-9_./-]{1,8}`), rapid.IntRange(0, 64)
	rapid.Check(t, func(t *rapid.T) {
		d := plimsoll.Deployment{
			Model: word.Draw(t, "model"), System: word.Draw(t, "system"),
			Engine: plimsoll.Engine{Name: word.Draw(t, "name"), Version: word.Draw(t, "version"), Settings: []string{word.Draw(t, "setting")}},
		}
		if rapid.Bool().Draw(t, "more") {
			d.More = json.RawMessage(`{"formats":{"kv":"fp8"},"routing":"llm-d"}`)
		}
		for range rapid.IntRange(0, 2).Draw(t, "pools") {
			p := plimsoll.Pool{Role: plimsoll.Role(word.Draw(t, "role")), Replicas: size.Draw(t, "replicas"), Layout: plimsoll.Layout{TP: size.Draw(t, "tp"), EP: size.Draw(t, "ep")}}
			if rapid.Bool().Draw(t, "more") {
				p.More = json.RawMessage(`{"mtp":1}`)
			}
			d.Pools = append(d.Pools, p)
		}
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var got plimsoll.Deployment
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(d, got); diff != "" {
			t.Fatalf("%s (-written +read):\n%s", text, diff)
		}
	})
}

// TestFieldsAreThere: every field of an answer, and of what it holds, is a field of the JSON that it is read from.
func TestFieldsAreThere(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]reflect.Type{
		{reflect.TypeFor[plimsoll.Plan](), reflect.TypeFor[plan.Response]()},
		{reflect.TypeFor[plimsoll.Prediction](), reflect.TypeFor[simulate.Response]()},
		{reflect.TypeFor[plimsoll.Lint](), reflect.TypeFor[lint.Response]()},
	} {
		there(t, c[0].Name(), c[0], c[1])
	}
}

// there wants the fields of a type among those of another one.
func there(t *testing.T, path string, ours, whole reflect.Type) {
	t.Helper()
	for ours.Kind() == reflect.Pointer || ours.Kind() == reflect.Slice {
		ours = ours.Elem()
	}
	for whole.Kind() == reflect.Pointer || whole.Kind() == reflect.Slice {
		whole = whole.Elem()
	}
	if ours.Kind() != reflect.Struct || ours == reflect.TypeFor[plimsoll.Deployment]() || ours == reflect.TypeFor[plimsoll.Limits]() {
		return
	}
	all := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(whole) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		all[name] = f.Type
	}
	for _, f := range reflect.VisibleFields(ours) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch of, ok := all[name]; {
		case name == "-":
		case !ok:
			t.Errorf("%s.%s: the answer has no field %q", path, f.Name, name)
		default:
			there(t, path+"."+f.Name, f.Type, of)
		}
	}
}

// TestOneWireForm: what this package asks and answers is, byte by byte, what the command line reads and prints.
func TestOneWireForm(t *testing.T) {
	t.Parallel()
	r := plimsoll.PredictRequest{
		Deployment: plimsoll.Deployment{
			Model: "deepseek-ai/DeepSeek-V3", System: "b200_sxm",
			Engine: plimsoll.Engine{Name: "sglang", Settings: []string{"token_budget=4096"}},
			Pools: []plimsoll.Pool{
				{Role: plimsoll.Prefill, Layout: plimsoll.Layout{TP: 8, EP: 8}, Settings: []string{"token_budget=16384"}},
				{Role: plimsoll.Decode, Replicas: 2, Layout: plimsoll.Layout{DP: 8, EP: 8}, More: json.RawMessage(`{"mtp": 1, "acceptance_rates": [0.7]}`)},
			},
			More: json.RawMessage(`{"routing": "least-loaded", "formats": {"kv": "fp8"}}`),
		},
		Rate: 3, Requests: 40, Input: 256, Output: 32, Limits: plimsoll.Limits{TTFT: 1000, TPOT: 20},
		More: json.RawMessage(`{"arrival": "gamma", "arrival_variation": 2}`),
	}
	p, err := new(plimsoll.Planner).Predict(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	deployed, err := json.Marshal(r.Deployment)
	if err != nil {
		t.Fatal(err)
	}
	got := simulated(t, deployed, "--rate 3 --arrival gamma --arrival-variation 2 --num-prompts 40 --input-length 256 --output-length 32 --ttft-limit 1000 --tpot-limit 20")
	var want bytes.Buffer
	if err := json.Indent(&want, p.JSON, "", "  "); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(lines(want.String()), lines(got)); d != "" {
		t.Errorf("-package +command:\n%s", d)
	}
}

// lines are those of a document but for its command, which only faces have.
func lines(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, `  "command":`) {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

// simulated runs the command with a file of a deployment.
func simulated(t *testing.T, deployment []byte, flags string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := cli.Main(&cli.Env{
		Args:  append([]string{"simulate", "--deployment", "-", "--json"}, strings.Fields(flags)...),
		Stdin: bytes.NewReader(deployment), Stdout: &stdout, Stderr: &stderr,
		Getenv: func(string) string { return "" }, WorkDir: t.TempDir(), Now: time.Now,
	})
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr.String())
	}
	return stdout.String()
}
