// Package table sets rows of values in columns.
//
// In: a header and rows of any printable values. Out: lines of text without a frame, two blanks between columns, a rule under
// the header and where the caller puts one. It does not know colours, terminals or what the values mean. A column is as
// wide as its longest cell has characters, whatever the locale, so that the same rows give the same text everywhere.
// Start at [New].
package table

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// gap stands between two columns.
const gap = "  "

// Row is the cells of one line, printed as fmt.Sprint prints them.
type Row []any

// Writer collects rows. The zero value has every column aligned left.
type Writer struct {
	right  []int
	header []string
	rows   [][]string // nil is a rule
	widths []int
}

// New returns a table with the columns of the given numbers, counted from 1, aligned right.
func New(right ...int) *Writer { return &Writer{right: right} }

// AppendHeader sets the heads of the columns.
func (w *Writer) AppendHeader(r Row) { w.header = w.cells(r) }

// AppendRow adds a line. It may have fewer or more cells than the others.
func (w *Writer) AppendRow(r Row) { w.rows = append(w.rows, w.cells(r)) }

// AppendSeparator adds a rule, unless the last line is one or nothing has come before it.
func (w *Writer) AppendSeparator() {
	if n := len(w.rows); n > 0 && w.rows[n-1] != nil {
		w.rows = append(w.rows, nil)
	}
}

// cells prints a row's values and makes room for them.
func (w *Writer) cells(r Row) []string {
	out := make([]string, len(r))
	for i, v := range r {
		out[i] = fmt.Sprint(v)
		if i == len(w.widths) {
			w.widths = append(w.widths, 0)
		}
		w.widths[i] = max(w.widths[i], utf8.RuneCountInString(out[i]))
	}
	return out
}

// Render returns the lines, without blanks at their ends and without a rule at the end.
func (w *Writer) Render() string {
	wide := 0
	for _, n := range w.widths {
		wide += n + len(gap)
	}
	rule := strings.Repeat("─", wide)
	var lines []string
	if w.header != nil {
		lines = append(lines, w.line(w.header), rule)
	}
	rows := w.rows
	if n := len(rows); n > 0 && rows[n-1] == nil {
		rows = rows[:n-1]
	}
	for _, r := range rows {
		if r == nil {
			lines = append(lines, rule)
			continue
		}
		lines = append(lines, w.line(r))
	}
	return strings.Join(lines, "\n")
}

// line sets the cells of a row.
func (w *Writer) line(cells []string) string {
	var b strings.Builder
	for i, cell := range cells {
		pad := strings.Repeat(" ", w.widths[i]-utf8.RuneCountInString(cell))
		if slices.Contains(w.right, i+1) {
			b.WriteString(pad + cell + gap)
		} else {
			b.WriteString(cell + pad + gap)
		}
	}
	return strings.TrimRight(b.String(), " ")
}
