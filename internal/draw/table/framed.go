package table

import (
	"strings"
	"unicode/utf8"
)

// Framed returns the lines in the style of the Ascend tools: a frame of +, - and |, one blank on each side, cells centred. The
// column of the number bold, from 0, is in bold letters for a terminal; -1 = none.
func (t *Table) Framed(bold int) string {
	dashes := make([]string, len(t.widths))
	for i, w := range t.widths {
		dashes[i] = strings.Repeat("-", w+2)
	}
	rule := "+" + strings.Join(dashes, "+") + "+"
	line := func(cells []string) string {
		var b strings.Builder
		b.WriteString("|")
		for i, cell := range cells {
			text := Centre(cell, t.widths[i])
			if i == bold {
				text = strings.Replace(text, cell, "\x1b[1m"+cell+"\x1b[0m", 1)
			}
			b.WriteString(" " + text + " |")
		}
		return b.String()
	}
	lines := []string{rule, line(t.header)}
	for _, h := range t.more {
		lines = append(lines, line(h))
	}
	lines = append(lines, rule)
	for _, row := range t.rows {
		lines = append(lines, line(row))
	}
	return strings.Join(append(lines, rule), "\n")
}

// Centre pads a cell. With an odd number of blanks the extra one goes right of a cell of odd length and left of a cell of even
// length, as the vendor's library does.
func Centre(cell string, width int) string {
	n := utf8.RuneCountInString(cell)
	left := (width - n) / 2
	right := width - n - left
	if left != right && n%2 == 0 {
		left, right = right, left
	}
	return strings.Repeat(" ", left) + cell + strings.Repeat(" ", right)
}
