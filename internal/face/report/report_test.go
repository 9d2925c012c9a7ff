package report_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/golden"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// requests are steps on devices whose numbers are compared with TensorCast's, so that
// the pictures change only with the way they are drawn.
func requests() map[string]step.Request {
	const a3 = "ATLAS_800_A3_752T_128G_DIE"
	compiled := deployment.Modelling{Fusion: deployment.Compiled}
	return map[string]step.Request{
		"prefill": {
			Deployment: deployment.Deployment{
				Model: "Qwen/Qwen3-32B", System: a3, Modelling: compiled,
				Pools: []deployment.Pool{{Layout: parallel.Layout{Devices: 8, TP: 8}}},
			},
			Queries: 2, QueryLength: 4096,
		},
		"decode": {
			Deployment: deployment.Deployment{
				Model: "deepseek-ai/DeepSeek-V3.1", System: a3, Modelling: compiled,
				Pools: []deployment.Pool{{Layout: parallel.Layout{Devices: 16, EP: 16}, MTP: 1}},
			},
			Decode: true, Multistream: true, Queries: 256, ContextLength: 4096, ReservedGiB: 2,
		},
	}
}

// evaluate is the answer to a request.
func evaluate(t *testing.T, r step.Request) *step.Response {
	t.Helper()
	var w session.Session
	out, err := step.Run(t.Context(), &w, r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func respond(t *testing.T, name string) *step.Response {
	t.Helper()
	r := evaluate(t, requests()[name])
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
	one := func(model, device string, r step.Request) step.Request {
		r.Deployment = deployment.Deployment{Model: model, System: device}
		return r
	}
	const qwen, plain = "Qwen/Qwen3-32B", "TEST_DEVICE"
	for _, c := range []struct {
		request step.Request
		want    string
	}{
		{one(qwen, plain, step.Request{Queries: 1, Decode: true}), "decode step, 1 request per DP rank, 1 new token each;"},
		{one(qwen, plain, step.Request{Queries: 1000, Decode: true, ContextLength: 10_000}), "GiB short\n"},
		{one(qwen, plain, step.Request{Queries: 1, Decode: true, ReservedGiB: 1}), " + reserved 1.00 of 64.00 GiB"},
		{one("openai/gpt-oss-20b", "h100", step.Request{Queries: 1, Decode: true}), "linear layers bf16, experts mxfp4 w4a16, KV cache bf16, compiled, policy physical"},
		{one("deepseek-ai/DeepSeek-V4-Flash", "h100", step.Request{Queries: 1, Decode: true}), "Note            DeepSeek-V4's attention is"},
		{
			one("Qwen/Qwen2.5-VL-7B-Instruct", plain, step.Request{Queries: 1, QueryLength: 100, ImageHeight: 1080, ImageWidth: 1920}),
			"2,793 new tokens each, 1 image of 10,764 patches (2,691 tokens) each;",
		},
	} {
		var b bytes.Buffer
		report.Step(&b, evaluate(t, c.request))
		if !strings.Contains(b.String(), c.want) {
			t.Errorf("%s: want %q in\n%s", c.request.Deployment.Model, c.want, &b)
		}
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
	overlapped.Deployment.Modelling.MatMulAllReduce, serial.Multistream = true, false
	for name, request := range map[string]step.Request{
		"prefill": requests()["prefill"], "decode": serial, "overlapped": overlapped,
	} {
		r := evaluate(t, request)
		var b bytes.Buffer
		if err := report.Trace(&b, &r.Result); err != nil {
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
		m, err := model.Lookup(r.Model)
		if err != nil {
			t.Fatal(err)
		}
		if layers != len(m.Layers) {
			t.Errorf("%s: %d layers, want %d", name, layers, len(m.Layers))
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
	report.Device(&b, &profile, device.Datasheet)
	golden.Check(t, "testdata/device.golden", b.Bytes())
	b.Reset()
	report.Devices(&b, []device.Facts{profile})
	report.Models(&b, []report.ModelRow{
		{ID: "b/long-name", Family: "f", Parameters: 32.8e9, Active: 3e9, KVBytes: 98304}, {ID: "B", AliasOf: "b/long-name"},
	})
	golden.Check(t, "testdata/lists.golden", b.Bytes())
}
