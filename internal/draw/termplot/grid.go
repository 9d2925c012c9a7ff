package termplot

import (
	"io"
	"strings"
)

// The parameters of ANSI escape sequences (ECMA-48, "select graphic rendition").
const (
	bold  = "1"
	faint = "2"
)

// color returns the colour of a series. Of the eight colours every terminal has, black and white are left out, since one
// of them is the background; blue comes last because it is hard to read on black.
func color(series int) string {
	return []string{"36", "33", "35", "32", "31", "34"}[series%colors]
}

const colors = 6

// What the axes and limits are drawn with.
const (
	up, left, corner, along, below = '│', '┤', '└', '─', '┬'
	vertical, horizontal           = '┊', '┈'
)

// grid is the characters of the picture. A wide character is in its first cell, the second one then holds covered.
type grid struct {
	cols, rows int
	cells      []cell
	color      bool
}

type cell struct {
	glyph rune
	style string
}

const covered rune = -1

func newGrid(cols, rows int, color bool) *grid {
	g := &grid{cols: cols, rows: rows, cells: make([]cell, cols*rows), color: color}
	for i := range g.cells {
		g.cells[i].glyph = ' '
	}
	return g
}

// put sets one cell.
func (g *grid) put(row, col int, glyph rune, style string) {
	g.cells[row*g.cols+col] = cell{glyph, style}
}

// text sets the cells from (row, col) on.
func (g *grid) text(row, col int, text []rune, style string) {
	for _, r := range text {
		g.put(row, col, r, style)
		col++
		if runeWidth(r) == 2 {
			g.put(row, col, covered, style)
			col++
		}
	}
}

// write prints the lines without blanks at their ends. Styles do not reach over the end of a line, so that a pager or a
// copied part shows the right colours.
func (g *grid) write(w io.Writer) {
	var b strings.Builder
	for row := range g.rows {
		cells := g.cells[row*g.cols : (row+1)*g.cols]
		for len(cells) > 0 && cells[len(cells)-1].glyph == ' ' {
			cells = cells[:len(cells)-1]
		}
		style := ""
		for _, c := range cells {
			if c.glyph == covered {
				continue
			}
			if g.color && c.style != style && c.glyph != ' ' {
				b.WriteString("\x1b[0")
				if c.style != "" {
					b.WriteString(";" + c.style)
				}
				b.WriteByte('m')
				style = c.style
			}
			b.WriteRune(c.glyph)
		}
		if style != "" {
			b.WriteString("\x1b[0m")
		}
		b.WriteByte('\n')
	}
	_, _ = io.WriteString(w, b.String())
}
