package table

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// narrowest is how narrow a column of text may become before another column is dropped instead.
const narrowest = 14

// Least names columns in the order in which a narrow table drops them; others follow from the right. The first column stays.
func (t *Table) Least(heads ...string) *Table {
	t.least = heads
	return t
}

// fit is the table in at most width runes, the columns it kept, and the heads of those that it had to drop. Columns of words are
// wrapped first; edge is what a line has beside its columns, each what a column has beside its cells.
func (t *Table) fit(width, edge, each int) (fitted *Table, kept []int, hidden []string) {
	for i := range t.widths {
		kept = append(kept, i)
	}
	for {
		widths, ok := t.squeezed(kept, width-edge, each)
		if ok || len(kept) <= 1 {
			return t.only(kept, widths), kept, hidden
		}
		drop := t.last(kept)
		if head := t.head(kept[drop]); head != "" {
			hidden = append(hidden, head)
		}
		kept = slices.Delete(kept, drop, drop+1)
	}
}

// Fit returns the lines of the table in at most width runes, as [Table.String], and the heads of the columns that it had to
// drop. 0 = as wide as it is.
func (t *Table) Fit(width int) (lines string, hidden []string) {
	if width <= 0 || t.wide(len(gap)) <= width {
		return t.String(), nil
	}
	fitted, _, hidden := t.fit(width, 0, len(gap))
	return fitted.String(), hidden
}

// FitFramed is [Table.Fit] in a frame.
func (t *Table) FitFramed(width, bold int) (lines string, hidden []string) {
	const each = len(" | ")
	if width <= 0 || t.wide(each)+1 <= width {
		return t.Framed(bold), nil
	}
	fitted, kept, hidden := t.fit(width, 1, each)
	return fitted.Framed(slices.Index(kept, bold)), hidden
}

// wide is the width of a line.
func (t *Table) wide(each int) int {
	out := 0
	for _, w := range t.widths {
		out += w + each
	}
	return out
}

// head is the head of a column, "" for one without.
func (t *Table) head(i int) string {
	if i < len(t.header) {
		return t.header[i]
	}
	return ""
}

// last is the column to drop: the least, or the rightmost.
func (t *Table) last(kept []int) int {
	for _, head := range t.least {
		if i := slices.IndexFunc(kept, func(k int) bool { return k > 0 && t.head(k) == head }); i >= 0 {
			return i
		}
	}
	return len(kept) - 1
}

// squeezed are widths of columns that fit, the widest columns of words wrapped first; false if there are none.
func (t *Table) squeezed(kept []int, width, each int) ([]int, bool) {
	widths := slices.Clone(t.widths)
	for {
		sum, widest := 0, -1
		for _, i := range kept {
			sum += widths[i] + each
			if (i >= len(t.right) || !t.right[i]) && widths[i] > max(narrowest, t.word(i)) && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if sum <= width {
			return widths, true
		}
		if widest < 0 {
			return widths, false
		}
		widths[widest]--
	}
}

// word is the longest word of a column, which wrapping does not break.
func (t *Table) word(i int) int {
	out := 0
	for _, row := range append([][]string{t.header}, t.rows...) {
		if i < len(row) {
			for word := range strings.FieldsSeq(row[i]) {
				out = max(out, utf8.RuneCountInString(word))
			}
		}
	}
	return out
}

// only is the table of some columns, with the cells wrapped to widths.
func (t *Table) only(kept, widths []int) *Table {
	out := &Table{}
	for _, i := range kept {
		out.right = append(out.right, i < len(t.right) && t.right[i])
	}
	lines := func(row []string) [][]string {
		var all [][]string
		for k, i := range kept {
			if i >= len(row) {
				continue
			}
			cell := []string{row[i]}
			if utf8.RuneCountInString(row[i]) > widths[i] {
				cell = Wrap(row[i], widths[i])
			}
			for n, part := range cell {
				if n == len(all) {
					all = append(all, make([]string, len(kept)))
				}
				all[n][k] = part
			}
		}
		return all
	}
	head := lines(t.header)
	if len(head) > 0 {
		out.header = head[0]
		out.more = head[1:]
	}
	for _, h := range head {
		out.widen(h)
	}
	for _, row := range t.rows {
		if row == nil {
			out.rows = append(out.rows, nil)
			continue
		}
		for _, line := range lines(row) {
			out.widen(line)
			out.rows = append(out.rows, line)
		}
	}
	return out
}
