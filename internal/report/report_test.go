package report_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/app"
	"plimsoll/internal/calibration"
	"plimsoll/internal/device"
	"plimsoll/internal/golden"
	"plimsoll/internal/model"
	"plimsoll/internal/parallel"
	"plimsoll/internal/report"
)

// requests are steps on devices whose numbers are held to TensorCast's, so that
// the pictures change only with the way they are drawn.
func requests() map[string]*app.StepRequest {
	const a3 = "ATLAS_800_A3_752T_128G_DIE"
	return map[string]*app.StepRequest{
		"prefill": {
			Model: "Qwen/Qwen3-32B", Device: a3, Modelling: app.Modelling{Compile: new(true)},
			Layout: parallel.Layout{Devices: 8, TP: 8}, Queries: 2, QueryLength: 4096,
		},
		"decode": {
			Model: "deepseek-ai/DeepSeek-V3.1", Device: a3, Modelling: app.Modelling{Compile: new(true)}, Decode: true, MTP: 1, Multistream: true,
			Layout: parallel.Layout{Devices: 16, EP: 16}, Queries: 256, ContextLength: 4096, ReservedGiB: 2,
		},
	}
}

func respond(t *testing.T, name string) *app.StepResponse {
	t.Helper()
	var w app.World
	r, err := w.Step(requests()[name])
	if err != nil {
		t.Fatal(err)
	}
	r.Error, r.Basis = calibration.Error{Low: -0.4, High: 0.5}, "nothing"
	return r
}

func TestStepTable(t *testing.T) {
	for name := range requests() {
		var b bytes.Buffer
		report.Step(&b, respond(t, name))
		golden.Check(t, "testdata/step-"+name+".golden", b.Bytes())
		for line := range strings.Lines(b.String()) {
			if strings.TrimRight(line, " \n") != strings.TrimSuffix(line, "\n") {
				t.Errorf("%s: blanks at the end of %q", name, line)
			}
		}
	}
}

// TestStepSays: what only some steps have to say.
func TestStepSays(t *testing.T) {
	for _, c := range []struct {
		request app.StepRequest
		want    string
	}{
		{app.StepRequest{Model: "Qwen/Qwen3-32B", Device: "TEST_DEVICE", Queries: 1, Decode: true}, "decode of 1 request per DP rank, 1 new token each;"},
		{app.StepRequest{Model: "Qwen/Qwen3-32B", Device: "TEST_DEVICE", Queries: 1, Decode: true, ContextLength: 1_000_000}, "GiB short\n"},
		{app.StepRequest{Model: "Qwen/Qwen3-32B", Device: "TEST_DEVICE", Queries: 1, Decode: true, ReservedGiB: 1}, " + reserved 1.00 of 64.00 GiB"},
		{app.StepRequest{Model: "openai/gpt-oss-20b", Device: "h100", Queries: 1, Decode: true}, "linear layers bf16, experts mxfp4 w4a16, KV cache bf16, compiled, policy physical"},
		{app.StepRequest{Model: "deepseek-ai/DeepSeek-V4-Flash", Device: "h100", Queries: 1, Decode: true}, "Note            DeepSeek-V4's attention is"},
		{
			app.StepRequest{Model: "Qwen/Qwen2.5-VL-7B-Instruct", Device: "TEST_DEVICE", Queries: 1, QueryLength: 100, ImageHeight: 1080, ImageWidth: 1920},
			"2793 new tokens each, an image of 10764 patches (2691 tokens) each;",
		},
	} {
		var w app.World
		r, err := w.Step(&c.request)
		if err != nil {
			t.Error(err)
			continue
		}
		var b bytes.Buffer
		report.Step(&b, r)
		if !strings.Contains(b.String(), c.want) {
			t.Errorf("%s: want %q in\n%s", c.request.Model, c.want, &b)
		}
	}
}

// TestStepJSON holds the names of the fields, which are a promise, and their
// values to those of the response.
func TestStepJSON(t *testing.T) {
	var keys []string
	for name := range requests() {
		data, err := json.Marshal(report.NewStepJSON(respond(t, name)))
		if err != nil {
			t.Fatal(err)
		}
		var got any
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		collect(&keys, "", got)
	}
	slices.Sort(keys)
	golden.Check(t, "testdata/step-keys.golden", []byte(strings.Join(slices.Compact(keys), "\n")+"\n"))

	r := respond(t, "decode")
	j := report.NewStepJSON(r)
	sum := 0.0
	for _, o := range j.Operators {
		sum += o.TotalS
	}
	near := func(what string, want, got float64) {
		if math.Abs(got-want) > 1e-9*math.Abs(want) {
			t.Errorf("%s: want %g, got %g", what, want, got)
		}
	}
	near("operators", j.TotalS+j.HiddenS, sum)
	near("tokens", 256*2/j.TotalS/16, j.TokensPerSecond)
	near("memory", r.Device.Memory.GiB(), j.WeightsGiB+j.KVGiB+j.ActivationGiB+j.ReservedGiB+j.AvailableGiB)
}

// collect lists the paths to every value.
func collect(keys *[]string, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			collect(keys, path+"."+k, inner)
		}
	case []any:
		*keys = append(*keys, path+"[]")
		for _, inner := range v {
			collect(keys, path+"[]", inner)
		}
	default:
		*keys = append(*keys, path)
	}
}

// TestListsAreNeverNull: lists are lists even when they are empty.
func TestListsAreNeverNull(t *testing.T) {
	r := respond(t, "decode")
	r.Notes, r.Artefacts, r.Result.Operators = nil, nil, nil
	data, err := json.Marshal(report.NewStepJSON(r))
	if err != nil || strings.Contains(string(data), "null") {
		t.Errorf("%v: %s", err, data)
	}
}

type event struct {
	Name, Ph string
	Ts, Dur  float64
	Tid      int
}

// TestTrace: a trace is JSON, no two events of a lane overlap, and the last ends
// with the step.
func TestTrace(t *testing.T) {
	const rounding = 1e-6 // µs
	overlapped, serial := requests()["prefill"], requests()["decode"]
	overlapped.MatMulAllReduce, serial.Multistream = true, false
	for name, request := range map[string]*app.StepRequest{
		"prefill": requests()["prefill"], "decode": serial, "overlapped": overlapped,
	} {
		var w app.World
		r, err := w.Step(request)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := report.Trace(&b, r.Result); err != nil {
			t.Fatal(err)
		}
		var trace struct{ TraceEvents []event }
		if err := json.Unmarshal(b.Bytes(), &trace); err != nil {
			t.Fatal(err)
		}
		slices.SortStableFunc(trace.TraceEvents, func(a, b event) int { return cmp.Compare(a.Ts, b.Ts) })
		ends, layers, last := map[int]float64{}, 0, 0.0
		for _, e := range trace.TraceEvents {
			if e.Ph != "X" {
				continue
			}
			if e.Ts < ends[e.Tid]-rounding {
				t.Errorf("%s: %s begins at %g, in lane %d the one before ends at %g", name, e.Name, e.Ts, e.Tid, ends[e.Tid])
			}
			ends[e.Tid] = e.Ts + e.Dur
			last = max(last, ends[e.Tid])
			if strings.HasPrefix(e.Name, "layer ") {
				layers++
			}
		}
		if want := r.Result.Time.Us(); math.Abs(last-want) > rounding*want {
			t.Errorf("%s: ends at %g µs, the step at %g", name, last, want)
		}
		if layers != len(r.Model.Layers) {
			t.Errorf("%s: %d layers, want %d", name, layers, len(r.Model.Layers))
		}
	}
}

func TestCatalogs(t *testing.T) {
	m, err := model.Lookup("openai/gpt-oss-20b")
	if err != nil {
		t.Fatal(err)
	}
	d, err := device.Lookup("ATLAS_800_A2_313T_64G")
	if err != nil {
		t.Fatal(err)
	}
	facts, profile := m.Facts(), d.Facts()
	var b bytes.Buffer
	report.Model(&b, &facts)
	golden.Check(t, "testdata/model.golden", b.Bytes())
	b.Reset()
	report.Device(&b, &profile)
	golden.Check(t, "testdata/device.golden", b.Bytes())
	b.Reset()
	report.Devices(&b, []device.Facts{profile})
	report.Models(&b, []report.ModelRow{
		{ID: "b/long-name", Family: "f", Parameters: 32.8e9, Active: 3e9, KVBytes: 98304}, {ID: "B", AliasOf: "b/long-name"},
	})
	golden.Check(t, "testdata/lists.golden", b.Bytes())
}
