package ops_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/check"
	"github.com/plimsoll-project/plimsoll/internal/ops/configure"
	"github.com/plimsoll-project/plimsoll/internal/ops/estimate"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/lint"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/recommend"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
	"github.com/plimsoll-project/plimsoll/internal/ops/support"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// answered runs an operation.
func answered[Request, Response any](t *testing.T, w *session.Session, run func(context.Context, *session.Session, Request) (*Response, error), r Request) *Response {
	t.Helper()
	out, err := run(t.Context(), w, r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// small is an experiment that takes little time.
func small() experiment.Experiment {
	return experiment.Experiment{
		Name: "small", Model: "Qwen/Qwen3-8B", System: "h200_sxm", Devices: 2, Engine: deployment.Engine{Name: "vllm"}, Input: 1000, Output: 20,
		Limits: workload.Limits{TTFT: 500 * units.Millisecond, TPOT: 15 * units.Millisecond},
	}
}

// alone is a model on one device.
func alone() simulate.Request {
	r := simulate.Request{Deployment: deployment.Deployment{
		Model: "Qwen/Qwen3-8B", System: "h200_sxm", Engine: deployment.Engine{Name: "vllm"}, Pools: []deployment.Pool{{Role: deployment.Both, Replicas: 1}},
	}}
	r.Concurrency, r.Requests, r.Input, r.Output = 8, 16, 1024, 64
	return r
}

// checked compares a simulated run with the prediction for another length.
func checked(t *testing.T, input int) *check.Response {
	t.Helper()
	run := alone()
	run.Input = input
	data, err := json.Marshal(answered(t, world(), simulate.Run, run))
	if err != nil {
		t.Fatal(err)
	}
	w := (&session.Session{}).Over(func(string) ([]byte, bool) { return data, true })
	return answered(t, w, check.Run, check.Request{File: "run.json", Expected: alone()})
}

// full are responses with as much in them as there can be.
func full(t *testing.T) map[string]any {
	t.Helper()
	e, w := small(), &session.Session{Memo: &session.Memo{Size: 10_000}}
	layout := parallel.Layout{Devices: 2, TP: 2}
	out := map[string]any{}
	stepped := answered(t, w, step.Run, step.Request{
		Deployment: deployment.Deployment{
			Model: "Qwen/Qwen3-30B-A3B", System: "h200_sxm", Engine: deployment.Engine{Name: "vllm"}, Pools: []deployment.Pool{{Layout: layout}},
		},
		Decode: true, Queries: 8, ContextLength: 100,
	})
	simulated := answered(t, w, simulate.Run, simulate.Request{
		Deployment: deployment.Deployment{
			Model: "Qwen/Qwen3-8B", Pools: []deployment.Pool{{Role: deployment.Prefill}, {Role: deployment.Decode, Layout: layout}},
		},
		Traffic: simulate.Traffic{Rate: 20, Process: traffic.Gamma, Variation: 2, Requests: 40, InputLengths: workload.Builtin(), Output: 16},
		Limits:  workload.Limits{TTFT: 1}, Records: true,
	})
	found := answered(t, w, optimize.Run, optimize.Request{
		Model: "Qwen/Qwen3-30B-A3B", Devices: []string{"h200_sxm", "TEST_DEVICE"}, NumDevices: 8, Input: 1000, Output: 20,
		PDRatio: true, PrefillDevices: 2, DecodeDevices: 4, Limits: workload.Limits{TTFT: 10, TPOT: 50 * units.Millisecond},
		Space: search.Space{TP: []int{}}, BatchRange: []int{1, 16}, Explain: true, Traces: true, ReservedGiB: new(0.0),
	})
	planned := answered(t, w, plan.Run, plan.Request{
		Model: e.Model, Systems: []string{e.System}, Daily: []float64{5, 60}, Engines: []string{"vllm"}, Modes: []experiment.ServingMode{experiment.Aggregated},
		Limits: e.Limits, Workloads: []session.Workload{{Input: 1000, Output: 20}},
	})
	estimated := answered(t, w, estimate.Run, estimate.Request{Experiment: e, Workers: estimate.Workers{Batch: 8}, Steps: true})
	linted := answered(t, w, lint.Run, lint.Request{Command: "vllm serve Qwen/Qwen3-8B --max-num-seqs 16 --nonsense", System: "h200_sxm"})
	compared := checked(t, 8192)
	if stepped.Engine == nil || len(simulated.Result.Records) == 0 || len(found.Explanations) < 2 || len(found.Traces) == 0 || len(found.Devices[0].Ratio.Pairs) == 0 ||
		len(planned.Changes) == 0 || planned.Day == nil || len(estimated.Pools[0].Steps) == 0 || len(linted.Better) == 0 || len(linted.Findings) == 0 || len(compared.Runs[0].Causes) == 0 {
		t.Fatal("something is missing in the examples")
	}
	out["step"], out["simulate"], out["optimize"], out["plan"] = stepped, simulated, found, planned
	out["estimate"], out["lint"], out["check"] = estimated, linted, compared
	out["configure"] = answered(t, w, configure.Run, configure.Request{Experiments: []experiment.Experiment{e}, How: experiment.How{Top: 2}})
	out["recommend"] = answered(t, w, recommend.Run, recommend.Request{Experiments: []experiment.Experiment{e}, Rate: 40})
	out["support"] = answered(t, w, support.Run, support.Request{Model: e.Model, Systems: []string{e.System}})
	return out
}

// empty are responses with as little in them as there can be.
func empty(t *testing.T) map[string]any {
	t.Helper()
	e, wrong, w := small(), small(), world()
	e.Limits, wrong.Model = workload.Limits{TPOT: units.Microsecond}, "none"
	both := []experiment.Experiment{e, wrong}
	return map[string]any{
		"step":     answered(t, w, step.Run, step.Request{Deployment: deployment.Deployment{Model: e.Model, System: e.System}, QueryLength: 16}),
		"simulate": answered(t, w, simulate.Run, alone()),
		"optimize": answered(t, w, optimize.Run, optimize.Request{
			Model: e.Model, Devices: []string{"TEST_DEVICE"}, NumDevices: 1, Input: 1000, Output: 20, Limits: e.Limits,
		}),
		"plan": answered(t, w, plan.Run, plan.Request{
			Model: e.Model, Systems: []string{e.System}, Devices: 1, Engines: []string{"vllm"}, Modes: []experiment.ServingMode{experiment.Aggregated},
			Limits: e.Limits, Workloads: []session.Workload{{Input: 1000, Output: 20}}, NoChanges: true,
		}),
		"estimate":  answered(t, w, estimate.Run, estimate.Request{Experiment: e, Workers: estimate.Workers{Batch: 8}}),
		"lint":      answered(t, w, lint.Run, lint.Request{Command: "vllm serve Qwen/Qwen3-235B-A22B", System: "h200_sxm"}),
		"check":     checked(t, 1024),
		"configure": answered(t, w, configure.Run, configure.Request{Experiments: both}),
		"recommend": answered(t, w, recommend.Run, recommend.Request{Experiments: both, Rate: 40}),
		"support":   answered(t, w, support.Run, support.Request{Model: e.Model, Systems: []string{e.System}}),
	}
}

// offWire says that JSON leaves a field out.
func offWire(f *reflect.StructField) bool { return f.Tag.Get("json") == "-" }

// lost is what differs in a response that JSON has carried, but for the fields that JSON leaves out.
func lost(sent any, data []byte) string {
	back := reflect.New(reflect.TypeOf(sent).Elem()).Interface()
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(back); err != nil {
		return err.Error()
	}
	left := cmp.FilterPath(func(p cmp.Path) bool {
		if len(p) < 2 {
			return false
		}
		f, ok := p.Last().(cmp.StructField)
		if !ok {
			return false
		}
		field, ok := p.Index(-2).Type().FieldByName(f.Name())
		return ok && offWire(&field)
	}, cmp.Ignore())
	// A duration has several values with the same milliseconds.
	ms := cmp.Comparer(func(a, b units.InMs) bool { return a.Ms() == b.Ms() })
	return cmp.Diff(sent, back, left, ms)
}

// TestResponsesRoundTrip: nothing is lost on a wire. JSON gives back every field that it has, and tells apart what is left
// out and what is zero or empty; encoding/gob has all of a response, also what JSON leaves out.
func TestResponsesRoundTrip(t *testing.T) {
	t.Parallel()
	for name, r := range full(t) {
		lists(t, name, r)
		data, err := json.Marshal(r)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := lost(r, data); d != "" {
			t.Errorf("%s as JSON (-sent +received):\n%s", name, d)
		}
		spoilt(t, name, r, data)
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(r); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		back := reflect.New(reflect.TypeOf(r).Elem())
		if err := gob.NewDecoder(&b).Decode(back.Interface()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		zero := cmp.FilterValues(func(a, b *float64) bool { return a != nil && *a == 0 && b == nil }, cmp.Ignore()) // gob has no pointer to zero
		if d := cmp.Diff(r, back.Interface(), cmpopts.EquateEmpty(), zero); d != "" {
			t.Errorf("%s as gob (-sent +received):\n%s", name, d)
		}
	}
}

// spoilt: each field of a response that is missing on the wire is found to be lost, unless it was empty.
func spoilt(t *testing.T, name string, r any, data []byte) {
	t.Helper()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	for key, value := range fields {
		if text := string(value); text == "null" || text == "0" || text == "false" || text == `""` {
			continue
		}
		delete(fields, key)
		less, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		if lost(r, less) == "" {
			t.Errorf("%s: nobody misses %s", name, key)
		}
		fields[key] = value
	}
}

// nils lists the lists of a value that JSON has as null, and counts the empty ones.
func nils(v reflect.Value, path string, bad *[]string, empties *int) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			nils(v.Elem(), path, bad, empties)
		}
	case reflect.Slice:
		for i := range v.Len() {
			nils(v.Index(i), fmt.Sprintf("%s[%d]", path, i), bad, empties)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			tag := f.Tag.Get("json")
			if offWire(&f) || !f.IsExported() || strings.HasSuffix(v.Type().Name(), "Request") {
				continue
			}
			at := path + "." + f.Name
			if x := v.Field(i); x.Kind() == reflect.Slice && !strings.Contains(tag, ",omit") {
				if x.IsNil() {
					*bad = append(*bad, at)
				} else if x.Len() == 0 {
					*empties++
				}
			}
			nils(v.Field(i), at, bad, empties)
		}
	default:
	}
}

// lists refuses lists that JSON has as null, and counts the empty ones.
func lists(t *testing.T, name string, r any) (empties int) {
	t.Helper()
	var bad []string
	nils(reflect.ValueOf(r), name, &bad, &empties)
	if len(bad) > 0 {
		t.Errorf("null instead of a list: %s", strings.Join(bad, ", "))
	}
	return empties
}

// TestListsAreNeverNull: lists of responses are lists even when they are empty.
func TestListsAreNeverNull(t *testing.T) {
	t.Parallel()
	for name, r := range empty(t) {
		if lists(t, name, r) == 0 && name != "support" { // it has a row for every system
			t.Errorf("%s: no list is empty, which shows nothing", name)
		}
	}
	type inner struct{ List []int }
	var bad []string
	var none int
	nils(reflect.ValueOf(&struct{ Rows []inner }{[]inner{{nil}}}), "r", &bad, &none)
	if len(bad) != 1 || bad[0] != "r.Rows[0].List" {
		t.Errorf("a null list is not seen: %q", bad)
	}
}
