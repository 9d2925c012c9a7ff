package schema

import (
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/plimsoll-project/plimsoll/internal/face/operation"
)

// expanded are the structs inside requests whose fields the brief schema of the first operation that has them spells out, to which others
// refer; of other structs it only names the fields.
var expanded = []string{"Workload", "Deployment", "Pool", "Space"} //nolint:gochecknoglobals // a table

// Brief is the schema of an operation's request for readers who pay for every word: types, first sentences of descriptions,
// and the names of rare fields. Whoever wants the rest asks for [Set.Request]. Requests are checked as strictly.
func (s *Set) Brief(table []operation.Operation, o *operation.Operation) *jsonschema.Schema {
	name, ok := s.names[o.Request]
	if !ok {
		return &jsonschema.Schema{Type: "object"}
	}
	b := briefer{s, o.Name, map[string]string{}, map[string]string{}}
	for i := range table {
		n := s.names[table[i].Request]
		if n == "" || b.tools[n] != "" {
			continue
		}
		b.tools[n] = table[i].Name
		for _, inside := range expanded {
			if s.whole(table[i].Request).Defs[inside] != nil && b.first[inside] == "" {
				b.first[inside] = table[i].Name
			}
		}
	}
	const few = 5 // fields that are as short as their mention
	if owner := b.tools[name]; owner != o.Name && len(s.defs[name].Properties) > few {
		return &jsonschema.Schema{Type: "object", Description: "arguments of " + owner, Required: s.defs[name].Required}
	}
	out := b.object(s.defs[name])
	out.Description = ""
	return out
}

// WithChoice adds a field that is one of some words.
func WithChoice[T ~string](s *jsonschema.Schema, name string, words ...T) {
	if s.Properties == nil {
		s.Properties = map[string]*jsonschema.Schema{}
	}
	p := &jsonschema.Schema{Type: "string"}
	for _, w := range words {
		p.Enum = append(p.Enum, w)
	}
	s.Properties[name] = p
	if len(s.PropertyOrder) > 0 {
		s.PropertyOrder = append(slices.Clip(s.PropertyOrder), name)
	}
}

// Object is the schema of an object with required fields, to which [WithChoice] adds them.
func Object(required ...string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", Required: required}
}

// briefer makes brief schemas.
type briefer struct {
	*Set

	tool  string            // the operation
	tools map[string]string // that of each request, by its definition
	first map[string]string // that which spells out a struct
}

// object is a struct with brief fields.
func (b *briefer) object(def *jsonschema.Schema) *jsonschema.Schema {
	out := &jsonschema.Schema{
		Type: "object", Description: firstSentence(def.Description), Required: def.Required,
		Properties: map[string]*jsonschema.Schema{}, PropertyOrder: def.PropertyOrder,
	}
	last := ""
	for _, name := range ordered(def) {
		p := b.field(def.Properties[name])
		for _, verb := range []string{" is ", " are "} { // "gpus is the number of GPUs" says its name twice
			p.Description = strings.TrimPrefix(p.Description, name+verb)
		}
		if p.Description == last { // one comment stands for several fields
			p.Description = ""
		} else if p.Description != "" {
			last = p.Description
		}
		out.Properties[name] = p
	}
	return out
}

// ordered are the properties of a struct in the order of its fields.
func ordered(def *jsonschema.Schema) []string {
	names := slices.Clone(def.PropertyOrder)
	for name := range def.Properties {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// field is a brief field.
func (b *briefer) field(p *jsonschema.Schema) *jsonschema.Schema {
	text := firstSentence(p.Description)
	if len(p.AnyOf) == 2 && p.AnyOf[1].Type == "null" { // it may be left out
		p = p.AnyOf[0]
	}
	if p.Ref != "" {
		name := strings.TrimPrefix(p.Ref, refPrefix)
		if tool := b.tools[name]; tool != "" {
			return &jsonschema.Schema{Type: "object", Description: "arguments of " + tool}
		}
		if first := b.first[name]; first != "" && first != b.tool {
			return &jsonschema.Schema{Type: "object", Description: strings.TrimPrefix(text+"; as in "+first, "; ")}
		}
		if slices.Contains(expanded, name) {
			out := b.object(b.defs[name])
			out.Description = text
			return out
		}
		return &jsonschema.Schema{Type: "object", Description: fieldsOf(text, b.defs[name])}
	}
	if len(p.Properties) > 0 {
		return &jsonschema.Schema{Type: "object", Description: fieldsOf(text, p)}
	}
	out := &jsonschema.Schema{Type: p.Type, Description: text}
	for _, w := range p.Enum {
		if w != "" { // the default
			out.Enum = append(out.Enum, w)
		}
	}
	if i := slices.IndexFunc(p.Types, func(t string) bool { return t != "null" }); i >= 0 {
		out.Type = p.Types[i]
	}
	if p.Items != nil {
		out.Items = b.field(p.Items)
	}
	if a := p.AdditionalProperties; a != nil && a.Not == nil {
		out.AdditionalProperties = b.field(a)
	}
	return out
}

// fieldsOf is a description with the names of the fields.
func fieldsOf(text string, def *jsonschema.Schema) string {
	return strings.TrimSpace(text + " {" + strings.Join(ordered(def), ", ") + "}")
}

// firstSentence is the beginning of a description.
func firstSentence(text string) string {
	if before, _, ok := strings.Cut(text, ". "); ok {
		return before
	}
	return strings.TrimSuffix(text, ".")
}
