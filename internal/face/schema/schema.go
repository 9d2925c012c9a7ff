package schema

import (
	_ "embed" // the descriptions
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/face/operation"
	"github.com/plimsoll-project/plimsoll/internal/launch/files"
	"github.com/plimsoll-project/plimsoll/internal/ops/deploy"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	opslint "github.com/plimsoll-project/plimsoll/internal/ops/lint"
	opsoptimize "github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	opsplan "github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	opssimulate "github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	opsstep "github.com/plimsoll-project/plimsoll/internal/ops/step"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
)

// Set is the JSON schemas of the requests and documents of a table. Each struct has one
// schema, to which others refer.
type Set struct {
	names map[reflect.Type]string
	defs  map[string]*jsonschema.Schema
	known map[reflect.Type]*jsonschema.Schema
	words map[string]string
}

// descriptions are the comments of the types and fields that JSON has; "go test -update" writes them from the source.
//
//go:embed descriptions.json
var descriptions []byte

// New makes the schemas of a table.
func New(table []operation.Operation) (*Set, error) {
	s := &Set{names: map[reflect.Type]string{}, defs: map[string]*jsonschema.Schema{}, known: known()}
	if err := json.Unmarshal(descriptions, &s.words); err != nil {
		return nil, fmt.Errorf("reading the descriptions of fields: %w", err)
	}
	for _, o := range table {
		for _, t := range []reflect.Type{o.Request, o.Response} {
			if err := s.add(t); err != nil {
				return nil, fmt.Errorf("the schema of %s: %w", o.Name, err)
			}
		}
	}
	return s, nil
}

// Request is the schema of an operation's request, with the definitions it refers to.
func (s *Set) Request(o *operation.Operation) *jsonschema.Schema { return s.whole(o.Request) }

// Response is the schema of its document.
func (s *Set) Response(o *operation.Operation) *jsonschema.Schema { return s.whole(o.Response) }

// Names are the definitions of an operation's request and document; the first is "" if the
// request has no fields.
func (s *Set) Names(o *operation.Operation) (request, response string) {
	return s.names[o.Request], s.names[o.Response]
}

// Definitions are all schemas by name, which refer to one another under a prefix.
func (s *Set) Definitions(prefix string) map[string]*jsonschema.Schema {
	out := map[string]*jsonschema.Schema{}
	for name, d := range s.defs {
		c := d.CloneSchemas()
		walk(c, func(x *jsonschema.Schema) { x.Ref = strings.Replace(x.Ref, refPrefix, prefix, 1) })
		out[name] = c
	}
	return out
}

const refPrefix = "#/$defs/"

// whole is the schema of a type with the definitions it needs.
func (s *Set) whole(t reflect.Type) *jsonschema.Schema {
	name, ok := s.names[t]
	if !ok {
		return &jsonschema.Schema{Type: "object", AdditionalProperties: nothing()}
	}
	out := s.defs[name].CloneSchemas()
	needed := map[string]*jsonschema.Schema{}
	var need func(*jsonschema.Schema)
	need = func(x *jsonschema.Schema) {
		n := strings.TrimPrefix(x.Ref, refPrefix)
		if x.Ref == "" || needed[n] != nil {
			return
		}
		needed[n] = s.defs[n].CloneSchemas()
		walk(needed[n], need)
	}
	walk(out, need)
	if len(needed) > 0 {
		out.Defs = needed
	}
	return out
}

// nothing is the schema that no value matches.
func nothing() *jsonschema.Schema { return &jsonschema.Schema{Not: &jsonschema.Schema{}} }

// add defines a type and those inside it.
func (s *Set) add(t reflect.Type) error {
	t = inner(t)
	if t.Kind() != reflect.Struct || t.Name() == "" || s.names[t] != "" || s.known[t] != nil {
		return nil
	}
	s.names[t] = s.name(t)
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous || !f.IsExported() || f.Tag.Get("json") == "-" {
			continue
		}
		if err := s.add(f.Type); err != nil {
			return err
		}
	}
	out, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: s.others(t)})
	if err != nil {
		return err
	}
	walk(out, nullable)
	s.describe(t, out)
	s.defs[s.names[t]] = out
	return nil
}

// inner is the type of the elements of a list, a map or a pointer.
func inner(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map || t.Kind() == reflect.Array {
		t = t.Elem()
	}
	return t
}

// others are the schemas of the types inside a type: references, except for embedded structs,
// whose fields are its own.
func (s *Set) others(t reflect.Type) map[reflect.Type]*jsonschema.Schema {
	out := maps.Clone(s.known)
	for other, name := range s.names {
		if other != t {
			out[other] = &jsonschema.Schema{Ref: refPrefix + name}
		}
	}
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous {
			delete(out, f.Type)
		}
	}
	return out
}

// name is a name that no other type has. Requests and responses are named after their operations.
func (s *Set) name(t reflect.Type) string {
	shared := []string{"Request", "Response", "Step", "Operator"} // names that several operations have
	name := t.Name()
	for slices.Contains(shared, name) || slices.Contains(slices.Collect(maps.Values(s.names)), name) {
		pkg := t.PkgPath()[strings.LastIndex(t.PkgPath(), "/")+1:]
		name = strings.ToUpper(pkg[:1]) + pkg[1:] + name
	}
	return name
}

// nullable corrects a reference that may be null; the library makes one that must be null.
func nullable(x *jsonschema.Schema) {
	if x.Ref != "" && slices.Equal(x.Types, []string{"null"}) {
		x.AnyOf, x.Ref, x.Types = []*jsonschema.Schema{{Ref: x.Ref}, {Type: "null"}}, "", nil
	}
}

// describe adds the comments of the source, and the required fields of a request.
func (s *Set) describe(t reflect.Type, out *jsonschema.Schema) {
	out.Description = s.words[typeName(t)]
	if asked(t) {
		out.Required = required()[t]
	}
	for _, f := range reflect.VisibleFields(t) {
		p := out.Properties[field.JSON(f)]
		if p == nil || f.Anonymous {
			continue
		}
		if text := s.words[typeName(owner(t, f))+"."+f.Name]; text != "" {
			p.Description = text
		}
	}
}

// owner is the struct that has a field, t or one embedded in it.
func owner(t reflect.Type, f reflect.StructField) reflect.Type {
	for _, i := range f.Index[:len(f.Index)-1] {
		t = t.Field(i).Type
	}
	return t
}

// typeName is a type as the comments have it: "ops.PlanRequest".
func typeName(t reflect.Type) string {
	return t.PkgPath()[strings.LastIndex(t.PkgPath(), "/")+1:] + "." + t.Name()
}

// asked reports whether a type is part of requests, in which omitted fields have defaults.
func asked(t reflect.Type) bool {
	switch t.PkgPath()[strings.LastIndex(t.PkgPath(), "/")+1:] {
	case "deployment", "search", "parallel", "workload", "prices", "graph":
		return true
	}
	return strings.HasSuffix(t.Name(), "Request") || t == reflect.TypeFor[session.Workload]() || t == reflect.TypeFor[opsoptimize.Draft]() || t == reflect.TypeFor[deploy.Site]()
}

// required lists the required fields of requests.
func required() map[reflect.Type][]string {
	return map[reflect.Type][]string{
		reflect.TypeFor[opsplan.Request]():       {"model", "workloads"},
		reflect.TypeFor[opsoptimize.Request]():   {"model", "output_length"},
		reflect.TypeFor[opsstep.Request]():       {"deployment"},
		reflect.TypeFor[opssimulate.Request]():   {"deployment"},
		reflect.TypeFor[deployment.Deployment](): {"model"},
	}
}

// known are types whose JSON differs from their Go form.
func known() map[reflect.Type]*jsonschema.Schema {
	limit := func(what string) *jsonschema.Schema {
		return &jsonschema.Schema{
			Description: what + " in milliseconds, or \"inf\" for none",
			AnyOf:       []*jsonschema.Schema{{Type: "number", ExclusiveMinimum: new(0.0)}, {Const: new(any("inf"))}},
		}
	}
	words := func(all ...any) *jsonschema.Schema { return &jsonschema.Schema{Type: "string", Enum: all} }
	return map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[workload.Limits](): {
			Type: "object", AdditionalProperties: nothing(), Description: "Limits on latencies; an omitted latency has none.",
			Properties: map[string]*jsonschema.Schema{
				"ttft_ms": limit("time to first token"), "tpot_ms": limit("time per output token"), "latency_ms": limit("latency of a whole request"),
			},
			PropertyOrder: []string{"ttft_ms", "tpot_ms", "latency_ms"},
		},
		reflect.TypeFor[sim.Process]():            words("poisson", "gamma", "constant"),
		reflect.TypeFor[experiment.ServingMode](): words(string(experiment.Aggregated), string(experiment.Disaggregated)),
		reflect.TypeFor[opsoptimize.Evaluation](): words(string(opsoptimize.ByFormulas), string(opsoptimize.BySimulation)),
		reflect.TypeFor[opslint.Severity]():       words(string(opslint.SevereError), string(opslint.SevereWarning), string(opslint.SevereHint)),
		reflect.TypeFor[deployment.Role]():        words(string(deployment.Both), string(deployment.Prefill), string(deployment.Decode)),
		reflect.TypeFor[deployment.Fusion]():      words(string(deployment.Compiled), string(deployment.Eager)),
		reflect.TypeFor[prices.Pricing]():         words(string(prices.Roofline), string(prices.Calibrated), string(prices.Surfaces)),
		reflect.TypeFor[formulas.Accounting]():    words(string(formulas.Documented), string(formulas.Steady)),
		reflect.TypeFor[files.Target]():           words(targets()...),
		reflect.TypeFor[cost.Bound]():             {Type: "string"},
		reflect.TypeFor[units.OrNull]():           {Types: []string{"null", "number"}},
		reflect.TypeFor[units.InMsOrNull]():       {Types: []string{"null", "number"}},
		reflect.TypeFor[units.CountOrNull]():      {Types: []string{"null", "integer"}},
	}
}

func targets() []any {
	var out []any
	for _, t := range files.Targets() {
		out = append(out, string(t))
	}
	return out
}

// walk visits a schema and all inside it.
func walk(s *jsonschema.Schema, visit func(*jsonschema.Schema)) {
	if s == nil {
		return
	}
	visit(s)
	for _, p := range s.Properties {
		walk(p, visit)
	}
	for _, x := range s.AnyOf {
		walk(x, visit)
	}
	walk(s.Items, visit)
	walk(s.AdditionalProperties, visit)
}
