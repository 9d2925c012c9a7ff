package device

import "github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"

// maxProblems bounds the report: a file with more is not a profile.
const maxProblems = 50

// show quotes what a user wrote where needed.
func show(s string) string { return strictyaml.Show(s, "") }
