package operation_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/face/operation"
	opsoptimize "github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	opsplan "github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	opssimulate "github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	opsstep "github.com/plimsoll-project/plimsoll/internal/ops/step"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// number is a field of a request that holds a number.
type number struct {
	path  []string // an element of a list is "0"
	facts field.Facts
	whole bool
}

// numbers of a type and those inside it.
func numbersOf(t reflect.Type, path []string, facts field.Facts) []number {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if form, ok := reflect.TypeAssert[field.Form](reflect.Zero(t)); ok {
		t = reflect.TypeOf(form.JSONForm())
	}
	switch k := t.Kind(); {
	case t == reflect.TypeFor[json.RawMessage](), t == reflect.TypeFor[traffic.Process]():
		return nil
	case k == reflect.Struct:
		var out []number
		for _, f := range reflect.VisibleFields(t) {
			if name := field.JSON(f); name != "" && name != "-" && f.IsExported() {
				out = append(out, numbersOf(f.Type, append(slices.Clone(path), name), field.FactsOf(f))...)
			}
		}
		return out
	case k == reflect.Slice:
		return numbersOf(t.Elem(), append(slices.Clone(path), "0"), facts)
	case k == reflect.Map:
		return numbersOf(t.Elem(), append(slices.Clone(path), "h200_sxm"), facts)
	case k >= reflect.Int && k <= reflect.Float64:
		return []number{{path, facts, k < reflect.Float32}}
	}
	return nil
}

// with is a value with another one at a path.
func with(v any, path []string, to any) any {
	if len(path) == 0 {
		return to
	}
	if path[0] == "0" {
		list, _ := v.([]any)
		var first any
		if len(list) > 0 {
			first = list[0]
		}
		return []any{with(first, path[1:], to)}
	}
	out := map[string]any{}
	if old, ok := v.(map[string]any); ok {
		maps.Copy(out, old)
	}
	out[path[0]] = with(out[path[0]], path[1:], to)
	return out
}

// beside are the values that a field needs beside it.
func beside() map[string]string {
	return map[string]string{
		"session": `{"turns":1,"first":1,"output":1}`, "bins": `[{"min_tokens":0,"max_tokens":100000000,"weight":1}]`,
		"api_price": `{"usd_per_million_input_tokens":1,"usd_per_million_output_tokens":1}`,
		"plan":      operation.Lookup(operation.Table(), "plan").Example,
	}
}

// depends reports whether a bound that a check names depends on other fields, or on the model.
func depends(name string) bool {
	return strings.HasSuffix(name, "prefix") || name == "num_hidden_layers_override"
}

// asked is a request with a number in its place, and what that needs.
func (x *number) asked(t *testing.T, example string, n float64) []byte {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(example), &v); err != nil {
		t.Fatal(err)
	}
	for i, name := range x.path {
		if text, ok := beside()[name]; ok {
			var needed any
			if err := json.Unmarshal([]byte(text), &needed); err != nil {
				t.Fatal(err)
			}
			v = with(v, x.path[:i+1], needed)
		}
	}
	data, err := json.Marshal(with(v, x.path, n))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// name is a path as mistakes have it, without indexes.
func (x *number) name() string {
	return strings.Join(slices.DeleteFunc(slices.Clone(x.path), func(s string) bool { return s == "0" }), ".")
}

// checkOnly is what an operation says of a request before any work.
func checkOnly(request any) error {
	w := &session.Session{}
	var err error
	switch r := request.(type) {
	case opsplan.Request:
		_, _, err = opsplan.Check(w, r)
	case opsoptimize.Request:
		_, err = opsoptimize.Check(w, r)
	case opssimulate.Request:
		_, err = opssimulate.Prepare(w, &r)
	case opsstep.Request:
		err = opsstep.Check(w, r)
	}
	return err
}

// TestBounds: every number of a request has bounds. What is outside is refused for its form; what is on a bound is not, and what operations
// check says the same: of values inside the bounds they refuse none by itself.
func TestBounds(t *testing.T) {
	t.Parallel()
	alone := regexp.MustCompile(`^[\w.\[\]]+ must be `)
	index := regexp.MustCompile(`\[\d+\]`)
	for _, o := range operation.Table() {
		for _, x := range numbersOf(o.Request, nil, field.Facts{}) {
			least, most := x.facts.Minimum, x.facts.Maximum
			if least == nil || most == nil {
				t.Errorf("%s: %s has no bounds: %+v", o.Name, x.name(), x.facts)
				continue
			}
			for _, n := range []float64{*least - 1, *most + max(1, *most*1e-9)} {
				_, err := o.Decode(x.asked(t, o.Example, n))
				var wrong *document.InputError
				if !errors.As(err, &wrong) || !wrong.Form || !slices.ContainsFunc(wrong.Fields, func(f string) bool { return index.ReplaceAllString(f, "") == x.name() }) {
					t.Errorf("%s with %s %g: %v", o.Name, x.name(), n, err)
				}
			}
			for _, n := range []float64{*least, *most} {
				if n == *least && x.facts.Above {
					n = min(1e-3, *most)
				}
				if n == *most && x.facts.Below {
					n = *most * (1 - 1e-6)
				}
				request, err := o.Decode(x.asked(t, o.Example, n))
				var wrong *document.InputError
				if errors.As(err, &wrong) && wrong.Form {
					t.Errorf("%s with %s %g: %v", o.Name, x.name(), n, err)
				}
				if err != nil {
					continue
				}
				for _, m := range document.Mistakes(checkOnly(request), o.Name) {
					if len(m.Fields) == 1 && index.ReplaceAllString(m.Fields[0], "") == x.name() && alone.MatchString(m.Detail) && !depends(x.name()) {
						t.Errorf("%s with %s %g: %s", o.Name, x.name(), n, m.Detail)
					}
				}
			}
		}
	}
}

// TestEnums: the words in the tags of fields are those that their checks know.
func TestEnums(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][2][]string{
		"routing of a deployment": {field.EnumOf[deployment.Deployment]("Routing"), sim.RoutingNames()},
		"routing of a plan":       {field.EnumOf[opsplan.Request]("Routing"), sim.RoutingNames()},
		"gemm":                    {field.EnumOf[deployment.Formats]("GEMM"), dtype.WeightFormats()},
		"moe":                     {field.EnumOf[deployment.Formats]("MoE"), dtype.WeightFormats()},
	} {
		if !slices.Equal(c[0], c[1]) {
			t.Errorf("%s: %v, want %v", name, c[0], c[1])
		}
	}
	for _, policy := range field.EnumOf[deployment.Modelling]("Policy") {
		if _, err := opssimulate.Prepare(&session.Session{}, &opssimulate.Request{
			Deployment: deployment.Deployment{Model: "Qwen/Qwen3-0.6B", Modelling: deployment.Modelling{Policy: policy}}, Traffic: opssimulate.Traffic{Concurrency: 1},
		}); err != nil {
			t.Errorf("policy %s: %v", policy, err)
		}
	}
}

// TestExamples: the example of every operation is answered, soon.
func TestExamples(t *testing.T) {
	t.Parallel()
	d := operation.NewRunner(environment(), operation.Capacity{})
	for _, o := range operation.Table() {
		request, err := o.Decode([]byte(o.Example))
		if err == nil {
			_, err = d.Run(t.Context(), &o, request, nil)
		}
		if err != nil {
			t.Errorf("%s: %v", o.Name, err)
		}
	}
	for _, name := range []string{"plan", "optimize"} {
		o := operation.Lookup(operation.Table(), "validate")
		request, err := o.Decode(fmt.Appendf(nil, `{%q: %s}`, name, operation.Lookup(operation.Table(), name).Example))
		if err != nil {
			t.Fatal(err)
		}
		out, err := d.Run(t.Context(), o, request, nil)
		if v, ok := out.(*operation.Validation); err != nil || !ok || !v.Ready {
			t.Errorf("%s: %+v %v", name, out, err)
		}
	}
}
