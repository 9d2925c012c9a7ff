package workload

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Problem is one mistake in a file of lengths.
type Problem struct {
	File  string
	Line  int
	Field string // "bins[2].weight" or the name of a column; "" for the line as a whole
	Text  string
}

// Error prints the problem as compilers do: "my.yaml:4: bins[0].weight: must be
// positive, got 0".
func (p *Problem) Error() string {
	if p.Field == "" {
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
	}
	return fmt.Sprintf("%s:%d: %s: %s", p.File, p.Line, p.Field, p.Text)
}

// maxProblems bounds the report: past this a file is of another kind, and
// reading it further helps nobody.
const maxProblems = 20

// problems collects mistakes while a file is read.
type problems struct {
	file string
	list []*Problem
}

func (ps *problems) add(line int, field, format string, args ...any) {
	if !ps.full() {
		ps.list = append(ps.list, &Problem{
			File: ps.file, Line: max(line, 1), Field: field, Text: fmt.Sprintf(format, args...),
		})
	}
}

func (ps *problems) full() bool { return len(ps.list) == maxProblems }

// err joins the problems in the order of their lines, or is nil.
func (ps *problems) err() error {
	slices.SortStableFunc(ps.list, func(a, b *Problem) int { return cmp.Compare(a.Line, b.Line) })
	errs := make([]error, len(ps.list))
	for i, p := range ps.list {
		errs[i] = p
	}
	return errors.Join(errs...)
}

// show quotes what a user wrote where needed, so that a message keeps to its
// line.
func show(s string) string {
	const longest = 40
	if len(s) > longest {
		if r := []rune(s[:min(len(s), 4*longest+4)]); len(r) > longest {
			s = string(r[:longest]) + "…"
		}
	}
	odd := func(r rune) bool { return !strconv.IsPrint(r) || strings.ContainsRune(" \"',", r) }
	if s == "" || strings.ContainsFunc(s, odd) {
		return strconv.Quote(s)
	}
	return s
}
