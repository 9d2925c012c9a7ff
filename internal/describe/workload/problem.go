package workload

import "github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"

// Problem is one mistake in a file of lengths.
type Problem = strictyaml.Problem

const (
	// maxProblems bounds the report: a file with more is of another kind.
	maxProblems = 20
	// quoted puts a value into quotes in a message, where values are listed.
	quoted = ","
)

// problems collects mistakes while a file is read.
type problems struct{ strictyaml.Problems }

func newProblems(file string) *problems {
	return &problems{strictyaml.Problems{File: file, Most: maxProblems, Quoted: quoted}}
}

// show quotes what a user wrote where needed.
func show(s string) string { return strictyaml.Show(s, quoted) }
