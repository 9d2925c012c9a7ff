package report

import (
	"strings"
	"unicode/utf8"
)

// pretty is a table in the style of the Ascend tools: a frame of +, - and |, one
// blank on each side, cells centred.
type pretty struct {
	header []string
	rows   [][]string
	bold   int // column printed bold on a terminal, -1 = none
}

// render returns the table's lines, joined.
func (p *pretty) render(color bool) string {
	widths := make([]int, len(p.header))
	for _, row := range append([][]string{p.header}, p.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	dashes := make([]string, len(widths))
	for i, w := range widths {
		dashes[i] = strings.Repeat("-", w+2)
	}
	rule := "+" + strings.Join(dashes, "+") + "+"
	line := func(cells []string) {
		b.WriteString("|")
		for i, cell := range cells {
			text := centre(cell, widths[i])
			if color && i == p.bold {
				text = strings.Replace(text, cell, "\x1b[1m"+cell+"\x1b[0m", 1)
			}
			b.WriteString(" " + text + " |")
		}
		b.WriteString("\n")
	}
	b.WriteString(rule + "\n")
	line(p.header)
	b.WriteString(rule + "\n")
	for _, row := range p.rows {
		line(row)
	}
	b.WriteString(rule)
	return b.String()
}

// centre pads a cell. With an odd number of blanks the extra one goes right of a
// cell of odd length and left of a cell of even length, as the vendor's library does.
func centre(cell string, width int) string {
	n := utf8.RuneCountInString(cell)
	left := (width - n) / 2
	right := width - n - left
	if left != right && n%2 == 0 {
		left, right = right, left
	}
	return strings.Repeat(" ", left) + cell + strings.Repeat(" ", right)
}
