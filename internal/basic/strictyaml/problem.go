// Package strictyaml reads YAML files that people write by hand and says what is wrong with them, each mistake with its line.
//
// In: the text of a file. Out: the node of its one document, or problems, which [Problems] collects so that a user sees all
// of them at once. What could surprise is refused: bytes that are no text, a second document, keys given twice, and, unless a
// reader wants them, anchors and aliases. It does not know which keys a file has nor what they mean: device and workload do. Start at [Problems.Document].
package strictyaml

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Problem is one mistake in a file.
type Problem struct {
	File  string
	Line  int
	Field string // "memory.size_gib", "bins[2].weight" or the name of a column; "" for the line or the file as a whole
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

// Problems collects mistakes while a file is read.
type Problems struct {
	File   string // for messages
	Most   int    // bounds the report: past this a file is of another kind
	Quoted string // characters that put a value into quotes in a message, besides those of [Show]
	List   []*Problem
}

// Add adds a problem, unless there are enough.
func (ps *Problems) Add(line int, field, format string, args ...any) {
	if !ps.Full() {
		ps.List = append(ps.List, &Problem{
			File: ps.File, Line: max(line, 1), Field: field, Text: fmt.Sprintf(format, args...),
		})
	}
}

// Full reports whether no problem is taken any more.
func (ps *Problems) Full() bool { return len(ps.List) >= ps.Most }

// Err joins the problems in the order of their lines, or is nil.
func (ps *Problems) Err() error {
	slices.SortStableFunc(ps.List, func(a, b *Problem) int { return cmp.Compare(a.Line, b.Line) })
	errs := make([]error, len(ps.List))
	for i, p := range ps.List {
		errs[i] = p
	}
	return errors.Join(errs...)
}

// Show cuts what a user wrote to a bearable length and quotes it where needed, so
// that a message keeps to its line: a blank, a quote, what does not print, and
// the characters of also need it.
func Show(s, also string) string {
	const longest = 40
	if len(s) > longest {
		if r := []rune(s[:min(len(s), 4*longest+4)]); len(r) > longest {
			s = string(r[:longest]) + "…"
		}
	}
	odd := func(r rune) bool {
		return !strconv.IsPrint(r) || strings.ContainsRune(" \"'", r) || strings.ContainsRune(also, r)
	}
	if s == "" || strings.ContainsFunc(s, odd) {
		return strconv.Quote(s)
	}
	return s
}
