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
	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/face/operation"
	"github.com/plimsoll-project/plimsoll/internal/ops/deploy"
	opsoptimize "github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
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
		if def := s.defs[s.names[o.Request]]; def != nil && def.Examples == nil {
			var example any
			if err := json.Unmarshal([]byte(o.Example), &example); err != nil {
				return nil, fmt.Errorf("the example of %s: %w", o.Name, err)
			}
			def.Examples = []any{example}
		}
	}
	return s, nil
}

// Request is the schema of an operation's request, with the definitions it refers to.
func (s *Set) Request(o *operation.Operation) *jsonschema.Schema { return s.whole(o.Request) }

// Parameter is a field of a request in the query of an address, as OpenAPI has it.
type Parameter struct {
	Name        string             `json:"name"`
	In          string             `json:"in"`
	Required    bool               `json:"required"`
	Description string             `json:"description"`
	Schema      *jsonschema.Schema `json:"schema"`
}

// Parameters are the fields of an operation's request, where it has no others inside.
func (s *Set) Parameters(o *operation.Operation) []Parameter {
	request := s.Request(o)
	var out []Parameter
	for _, name := range request.PropertyOrder {
		p := request.Properties[name].CloneSchemas()
		out = append(out, Parameter{name, "query", slices.Contains(request.Required, name), p.Description, p})
		p.Description = ""
	}
	return out
}

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

// describe adds the comments of the source, and what the tags of fields say.
func (s *Set) describe(t reflect.Type, out *jsonschema.Schema) {
	out.Description = s.words[typeName(t)]
	if asked(t) {
		out.Required = nil
	}
	for _, f := range reflect.VisibleFields(t) {
		p := out.Properties[field.JSON(f)]
		if p == nil || f.Anonymous {
			continue
		}
		if text := s.words[typeName(owner(t, f))+"."+f.Name]; text != "" {
			p.Description = text
		}
		facts := field.FactsOf(f)
		if facts.Required && asked(t) {
			out.Required = append(out.Required, field.JSON(f))
		}
		constrain(p, &facts, f.Type, asked(t))
	}
	groups := field.AnyOf(t)
	for _, group := range groups {
		one := &jsonschema.Schema{}
		for _, name := range group {
			one.AnyOf = append(one.AnyOf, &jsonschema.Schema{Required: []string{name}})
		}
		if len(groups) == 1 {
			out.AnyOf = one.AnyOf
		} else {
			out.AllOf = append(out.AllOf, one)
		}
	}
}

// constrain adds the facts of a field to its schema, in a request also the sizes of lists.
func constrain(p *jsonschema.Schema, x *field.Facts, t reflect.Type, asked bool) {
	one := p
	switch t.Kind() {
	case reflect.Slice:
		if p.Items == nil {
			break
		}
		one = p.Items
		if rules := operation.Rules(); asked {
			x = rules.Of(t.Elem(), x)
		}
		p.MinItems, p.MaxItems, p.UniqueItems = x.MinItems, x.MaxItems, x.Unique
	case reflect.Map:
		one = p.AdditionalProperties
		if asked {
			p.MaxProperties = new(operation.MaxNames)
		}
	default:
	}
	if x.Minimum != nil || x.Maximum != nil {
		bound(one, x)
	}
	one.MinLength = x.MinLength
	if x.Words != nil {
		one.Enum = nil
		for _, w := range x.Words {
			one.Enum = append(one.Enum, w)
		}
	}
}

// bound adds the range of a number, or of the number that a schema with alternatives has among them.
func bound(p *jsonschema.Schema, x *field.Facts) {
	for _, alternative := range p.AnyOf {
		if alternative.Type == "number" {
			p = alternative
		}
	}
	p.Minimum, p.ExclusiveMinimum, p.Maximum, p.ExclusiveMaximum = x.Minimum, nil, x.Maximum, nil
	if x.Above {
		p.Minimum, p.ExclusiveMinimum = nil, x.Minimum
	}
	if x.Below {
		p.Maximum, p.ExclusiveMaximum = nil, x.Maximum
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

// known are types whose JSON differs from their Go form.
func known() map[reflect.Type]*jsonschema.Schema {
	out := map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[traffic.Process](): {Type: "string"},
		reflect.TypeFor[cost.Bound]():      {Type: "string"},
		reflect.TypeFor[json.RawMessage](): {Type: "object"},
	}
	out[reflect.TypeFor[workload.Limits]()] = limits()
	return out
}

// limits is the schema of limits, whose JSON has another form.
func limits() *jsonschema.Schema {
	out := &jsonschema.Schema{
		Type: "object", AdditionalProperties: nothing(), Description: "Limits on latencies; an omitted latency has none.",
		Properties: map[string]*jsonschema.Schema{},
	}
	about := map[string]string{"ttft_ms": "time to first token", "tpot_ms": "time per output token", "latency_ms": "latency of a whole request"}
	for f := range reflect.TypeOf(workload.Limits{}.JSONForm()).Fields() {
		name := field.JSON(f)
		p := &jsonschema.Schema{Description: about[name] + ` in milliseconds, or "inf" for none`, AnyOf: []*jsonschema.Schema{{Type: "number"}, {Const: new(any("inf"))}}}
		facts := field.FactsOf(f)
		bound(p, &facts)
		out.Properties[name] = p
		out.PropertyOrder = append(out.PropertyOrder, name)
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
	for _, x := range slices.Concat(s.AnyOf, s.AllOf) {
		walk(x, visit)
	}
	walk(s.Items, visit)
	walk(s.AdditionalProperties, visit)
}
