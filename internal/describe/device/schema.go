package device

import _ "embed"

//go:embed profile.schema.json
var schema string

// Schema returns the JSON Schema (draft 2020-12) of a profile file, for editors
// and other programs. Parse checks the same and more: that a base exists, that
// nodes fit the links.
func Schema() []byte { return []byte(schema) }
