package device

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"
)

// maxFile bounds a profile file; a real one has one or two kilobytes.
const maxFile = 1 << 20

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
		Holds:    "profile",
		Largest:  maxFile,
		TooLarge: fmt.Sprintf("the file has %d bytes; a profile has at most %d", len(data), maxFile),
		Aliases:  "anchors and aliases (& and *) are not allowed in a profile",
		Mapping:  true,
	})
}
