package ops_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/compat/ascend"
	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/ops/check"
	"github.com/plimsoll-project/plimsoll/internal/ops/configure"
	"github.com/plimsoll-project/plimsoll/internal/ops/estimate"
	"github.com/plimsoll-project/plimsoll/internal/ops/lint"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/recommend"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
	"github.com/plimsoll-project/plimsoll/internal/ops/support"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
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
			if f.Name != "_" {
				walk(f.Type, path+"."+f.Name, seen, visit)
			}
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
			if !f.IsExported() && !f.Anonymous && f.Name != "_" { // a blank field only carries a tag
				return "has the unexported field " + f.Name
			}
		}
	default:
	}
	switch t {
	case reflect.TypeFor[cost.Estimate](), reflect.TypeFor[cost.Bound]():
		return ""
	case reflect.TypeFor[engine.Profile](), reflect.TypeFor[graph.Spec](), reflect.TypeFor[graph.Graph](),
		reflect.TypeFor[ascend.Formulas](), reflect.TypeFor[search.Simulated](), reflect.TypeFor[search.Result]():
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
		reflect.TypeFor[step.Request](), reflect.TypeFor[simulate.Request](), reflect.TypeFor[optimize.Request](), reflect.TypeFor[plan.Request](),
		reflect.TypeFor[step.Response](), reflect.TypeFor[simulate.Response](), reflect.TypeFor[optimize.Response](), reflect.TypeFor[plan.Response](),
		reflect.TypeFor[configure.Response](), reflect.TypeFor[recommend.Response](), reflect.TypeFor[estimate.Response](),
		reflect.TypeFor[lint.Response](), reflect.TypeFor[check.Response](), reflect.TypeFor[support.Response](),
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
