package device

import (
	_ "embed" // for the schema

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"
)

// maxProblems bounds the report: a file with more is not a profile.
const maxProblems = 50

//go:embed profile.schema.json
var schema string

// Schema returns the JSON Schema (draft 2020-12) of a profile file, for editors
// and other programs. Parse checks the same and more: that a base exists, that
// nodes fit the links.
func Schema() []byte { return []byte(schema) }

// Parse reads a profile. The file name is used in messages only. The error joins
// every problem found, one *strictyaml.Problem with its line each.
//
// A profile with "base: NAME" starts as a copy of that embedded profile and
// states only the differences: a price, a bandwidth, one level of links.
func Parse(data []byte, file string) (*Profile, error) {
	r := &reader{strictyaml.Problems{File: file, Most: maxProblems}}
	root := r.document(data)
	if root == nil {
		return nil, r.Err()
	}
	p := r.profile(root)
	if err := r.Err(); err != nil {
		return nil, err
	}
	return p, nil
}

// document decodes one YAML document whose root is a mapping; nil after failure.
func (r *reader) document(data []byte) *yaml.Node {
	return r.Document(data, strictyaml.Form{
		Holds:   "profile",
		Kind:    bound.Profile,
		Aliases: "anchors and aliases (& and *) are not allowed in a profile",
		Mapping: true,
	})
}

// show quotes what a user wrote where needed.
func show(s string) string { return strictyaml.Show(s, "") }
