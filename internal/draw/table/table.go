// Package table sets rows of values in columns.
//
// In: the heads of columns and rows of any printable values. Out: lines of text, plain or in a frame, or CSV. It does not know
// terminals or what the values mean. A column is as wide as its longest cell has characters, whatever the locale, so that the
// same rows give the same text everywhere. Start at [New].
package table

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// gap stands between two columns.
const gap = "  "

// Table collects rows.
type Table struct {
	right  []bool
	header []string
	more   [][]string // further lines of the header
	least  []string   // heads of columns to drop first
	rows   [][]string // nil is a rule
	widths []int
}

// New returns a table with these columns; one whose head begins with ">" is aligned right.
func New(heads ...string) *Table {
	t := &Table{}
	for _, h := range heads {
		head, right := strings.CutPrefix(h, ">")
		t.header, t.right = append(t.header, head), append(t.right, right)
	}
	t.widen(t.header)
	return t
}

// Row adds a line of cells, printed as fmt.Sprint prints them; a list of texts is as many cells. It may have fewer or more
// cells than the others.
func (t *Table) Row(cells ...any) {
	var row []string
	for _, c := range cells {
		if several, ok := c.([]string); ok {
			row = append(row, several...)
			continue
		}
		row = append(row, fmt.Sprint(c))
	}
	t.widen(row)
	t.rows = append(t.rows, row)
}

// widen makes room for cells.
func (t *Table) widen(cells []string) {
	for i, c := range cells {
		if i == len(t.widths) {
			t.widths = append(t.widths, 0)
		}
		t.widths[i] = max(t.widths[i], utf8.RuneCountInString(c))
	}
}

// Rule adds a rule, unless the last line is one or nothing has come before it.
func (t *Table) Rule() {
	if n := len(t.rows); n > 0 && t.rows[n-1] != nil {
		t.rows = append(t.rows, nil)
	}
}

// String returns the lines without a frame: two blanks between columns, a rule under the header, no blanks at the ends of lines
// and no rule at the end.
func (t *Table) String() string {
	wide := 0
	for _, n := range t.widths {
		wide += n + len(gap)
	}
	rule := strings.Repeat("─", wide)
	lines := []string{t.line(t.header)}
	for _, h := range t.more {
		lines = append(lines, t.line(h))
	}
	lines = append(lines, rule)
	rows := t.rows
	if n := len(rows); n > 0 && rows[n-1] == nil {
		rows = rows[:n-1]
	}
	for _, r := range rows {
		if r == nil {
			lines = append(lines, rule)
			continue
		}
		lines = append(lines, t.line(r))
	}
	return strings.Join(lines, "\n")
}

// line sets the cells of a row.
func (t *Table) line(cells []string) string {
	var b strings.Builder
	for i, cell := range cells {
		pad := strings.Repeat(" ", t.widths[i]-utf8.RuneCountInString(cell))
		if i < len(t.right) && t.right[i] {
			b.WriteString(pad + cell + gap)
		} else {
			b.WriteString(cell + pad + gap)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// Aligned returns the lines with every column aligned right, one blank between columns and no rule.
func (t *Table) Aligned() string {
	var lines []string
	for _, row := range append([][]string{t.header}, t.rows...) {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = fmt.Sprintf("%*s", t.widths[i], cell)
		}
		lines = append(lines, strings.TrimRight(strings.Join(cells, " "), " "))
	}
	return strings.Join(lines, "\n")
}

// CSV writes the header and the rows as comma-separated values.
func (t *Table) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	return out.WriteAll(append([][]string{t.header}, t.rows...))
}
