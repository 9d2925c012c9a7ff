package device

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Problem is one mistake in a profile file.
type Problem struct {
	File  string
	Line  int
	Field string // "memory.size_gib"; "" for the file as a whole
	Text  string
}

// Error prints the problem as compilers do: "my.yaml:12: memory.size_gib: must
// be positive, got -3".
func (p *Problem) Error() string {
	if p.Field == "" {
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
	}
	return fmt.Sprintf("%s:%d: %s: %s", p.File, p.Line, p.Field, p.Text)
}

// maxProblems bounds the report: past this a file is not a profile.
const maxProblems = 50

// problems collects mistakes while a file is read to its end.
type problems struct {
	file string
	list []*Problem
}

func (ps *problems) add(line int, field, format string, args ...any) {
	if len(ps.list) < maxProblems {
		ps.list = append(ps.list, &Problem{
			File: ps.file, Line: max(line, 1), Field: field, Text: fmt.Sprintf(format, args...),
		})
	}
}

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
	if r := []rune(s); len(r) > longest {
		s = string(r[:longest]) + "…"
	}
	plain := func(r rune) bool { return !strconv.IsPrint(r) || strings.ContainsRune(" \"'", r) }
	if s == "" || strings.ContainsFunc(s, plain) {
		return strconv.Quote(s)
	}
	return s
}
