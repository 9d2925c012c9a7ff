package ops_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
)

// walk calls visit for a type and every type that values of it hold, with the path
// to each; it goes no deeper where visit says so.
func walk(t reflect.Type, path string, seen map[reflect.Type]bool, visit func(reflect.Type, string) bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	if !visit(t, path) {
		return
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		walk(t.Elem(), path, seen, visit)
	case reflect.Map:
		walk(t.Key(), path+"[key]", seen, visit)
		walk(t.Elem(), path, seen, visit)
	case reflect.Struct:
		for f := range t.Fields() {
			walk(f.Type, path+"."+f.Name, seen, visit)
		}
	default:
	}
}

// notPlain says why a type is none that could cross a wire and be understood
// without what it was computed from; "" where it is.
func notPlain(t reflect.Type) string {
	const module = "github.com/plimsoll-project/plimsoll/internal/"
	switch t.Kind() {
	case reflect.Func, reflect.Chan, reflect.Interface, reflect.UnsafePointer, reflect.Uintptr:
		return "a " + t.Kind().String()
	case reflect.Struct:
		for f := range t.Fields() {
			if !f.IsExported() && !f.Anonymous {
				return "has the unexported field " + f.Name
			}
		}
	default:
	}
	switch t {
	case reflect.TypeFor[cost.Estimate](), reflect.TypeFor[cost.Bound]():
		return ""
	case reflect.TypeFor[engine.Profile](), reflect.TypeFor[graph.Spec](), reflect.TypeFor[graph.Graph](),
		reflect.TypeFor[search.Formulas](), reflect.TypeFor[search.Simulated](), reflect.TypeFor[search.Result]():
		return "what answers are computed from"
	}
	switch strings.TrimPrefix(t.PkgPath(), module) {
	case "model", "cost", "perfdata":
		return "of a package answers are computed with"
	}
	return ""
}

// TestResponsesArePlain: requests and responses can cross a wire.
func TestResponsesArePlain(t *testing.T) {
	t.Parallel()
	for _, r := range []reflect.Type{
		reflect.TypeFor[step.Request](), reflect.TypeFor[simulate.Request](), reflect.TypeFor[optimize.Request](),
		reflect.TypeFor[step.Response](), reflect.TypeFor[simulate.Response](), reflect.TypeFor[optimize.Response](),
	} {
		n := 0
		walk(r, r.Name(), map[reflect.Type]bool{}, func(t2 reflect.Type, path string) bool {
			n++
			why := notPlain(t2)
			if why != "" {
				t.Errorf("%s: %s is no plain value: %s", path, t2, why)
			}
			return why == ""
		})
		if n < 10 {
			t.Errorf("%s: walked %d types only", r.Name(), n)
		}
	}
	for _, bad := range []reflect.Type{
		reflect.TypeFor[graph.Spec](), reflect.TypeFor[engine.Profile](), reflect.TypeFor[cost.Coster](), reflect.TypeFor[func()](),
		reflect.TypeFor[struct{ hidden int }](),
	} {
		if notPlain(bad) == "" {
			t.Errorf("%s is taken for a plain value", bad)
		}
	}
}

// answers are responses with as much in them as there can be.
func answers(t *testing.T) map[string]any {
	t.Helper()
	var w session.Session
	layout := parallel.Layout{Devices: 2, TP: 2}
	step, err := step.Run(t.Context(), &w, step.Request{
		Deployment: deployment.Deployment{
			Model: "Qwen/Qwen3-30B-A3B", System: "h200_sxm", Engine: deployment.Engine{Name: "vllm"}, Pools: []deployment.Pool{{Layout: layout}},
		},
		Decode: true, Queries: 8, ContextLength: 100,
	})
	if err != nil {
		t.Fatal(err)
	}
	simulated, err := simulate.Run(t.Context(), &w, simulate.Request{
		Deployment: deployment.Deployment{
			Model: "Qwen/Qwen3-8B", Pools: []deployment.Pool{{Role: deployment.Prefill}, {Role: deployment.Decode, Layout: layout}},
		},
		Traffic: simulate.Traffic{Rate: 20, Process: sim.Gamma, Variation: 2, Requests: 40, InputLengths: workload.Builtin(), Output: 16},
		Limits:  workload.Limits{TTFT: 1}, Records: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	found, err := optimize.Run(t.Context(), &w, optimize.Request{
		Model: "Qwen/Qwen3-30B-A3B", Devices: []string{"h200_sxm", "TEST_DEVICE"}, NumDevices: 8, Input: 1000, Output: 100,
		PDRatio: true, PrefillDevices: 2, DecodeDevices: 4, Limits: workload.Limits{TTFT: 10, TPOT: 50 * units.Millisecond},
		Space: search.Space{TP: []int{}}, BatchRange: []int{1, 16}, Explain: true, Traces: true, ReservedGiB: new(0.0),
	})
	if err != nil {
		t.Fatal(err)
	}
	if step.Engine == nil || len(simulated.Result.Records) == 0 || len(found.Explanations) < 2 || len(found.Traces) == 0 || len(found.Devices[0].Ratio.Pairs) == 0 {
		t.Fatal("something is missing in the examples")
	}
	return map[string]any{"step": step, "simulate": simulated, "optimize": found}
}

// TestResponsesRoundTrip: nothing is lost on a wire. What JSON has comes back as it was;
// encoding/gob has all of a response, also what documents leave out.
func TestResponsesRoundTrip(t *testing.T) {
	t.Parallel()
	for name, r := range answers(t) {
		data, err := json.Marshal(r)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		back := reflect.New(reflect.TypeOf(r).Elem())
		if err := json.Unmarshal(data, back.Interface()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		again, err := json.Marshal(back.Interface())
		if d := cmp.Diff(string(data), string(again)); err != nil || d != "" {
			t.Errorf("%s as JSON: %v (-sent +received):\n%s", name, err, d)
		}
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(r); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		back = reflect.New(reflect.TypeOf(r).Elem())
		if err := gob.NewDecoder(&b).Decode(back.Interface()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		zero := cmpopts.IgnoreFields(optimize.Request{}, "ReservedGiB") // a pointer to zero
		if d := cmp.Diff(r, back.Interface(), cmpopts.EquateEmpty(), zero); d != "" {
			t.Errorf("%s as gob (-sent +received):\n%s", name, d)
		}
	}
}
