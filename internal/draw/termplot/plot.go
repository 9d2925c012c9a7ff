package termplot

import (
	"fmt"
	"io"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/draw/scatter"
)

// Plot is a scatter plot and how to draw it. The zero value of a field means its default.
type Plot struct {
	scatter.Chart

	Width  int  // of the longest line; 40 at least, 100 if zero
	Height int  // lines without those of the legend; 10 at least, 24 if zero
	Color  bool // with the ANSI escape sequences of the six colours every terminal has
}

// size returns the width and height to draw. The upper bounds only keep a slip of the caller from taking all memory.
func (p *Plot) size() (width, height int) {
	width, height = p.Width, p.Height
	if width <= 0 {
		width = 100
	}
	if height <= 0 {
		height = 24
	}
	return min(max(width, 40), 1000), min(max(height, 10), 500)
}

// Render draws the plot: title, label of the y axis, the points between their axes, label of the x axis, legend.
// A plot without a point that can be drawn is one line that says so.
func (p *Plot) Render(w io.Writer) {
	width, height := p.size()
	xs, ys, ok := p.Axes()
	x, y := scale{xs}, scale{ys}
	if !ok {
		note := "no points to plot"
		if p.Title != "" {
			note = p.Title + ": " + note
		}
		fmt.Fprintln(w, string(fitted(note, width)))
		return
	}
	legend := p.legend(width, x, y)
	g := newGrid(width, height+len(legend), p.Color)
	area := p.frame(g, height, x, y)
	p.draw(g, area)
	for i, line := range legend {
		for _, e := range line {
			g.put(height+i, e.col, e.glyph, e.style)
			g.text(height+i, e.col+e.indent(), e.name, "")
		}
	}
	g.write(w)
}

// area is the part of the grid between the axes.
type area struct {
	top, left, rows, cols int
	x, y                  scale
}

// frame draws all but the points and the legend, and returns the place for the points.
func (p *Plot) frame(g *grid, height int, x, y scale) area {
	box := area{rows: height - 2, x: x, y: y} // the x axis and its numbers take two lines
	for _, line := range []struct{ text, style string }{{p.Title, bold}, {p.YLabel, ""}} {
		if line.text != "" {
			g.text(box.top, 0, fitted(line.text, g.cols), line.style)
			box.top++
			box.rows--
		}
	}
	if p.XLabel != "" {
		box.rows--
		label := fitted(p.XLabel, g.cols)
		g.text(height-1, g.cols-textWidth(label), label, "")
	}
	bottom := box.top + box.rows // the line of the x axis

	yticks := y.ticks(box.rows, max(2, box.rows*2/5), func([]tick) bool { return true })
	for _, t := range yticks {
		box.left = max(box.left, len(t.label)+1)
	}
	box.cols = g.cols - box.left - 1
	for row := range box.rows {
		g.put(box.top+row, box.left, up, faint)
	}
	for _, t := range yticks {
		row := bottom - 1 - t.at
		g.text(row, box.left-1-len(t.label), []rune(t.label), "")
		g.put(row, box.left, left, faint)
	}
	box.left++

	g.put(bottom, box.left-1, corner, faint)
	for col := range box.cols {
		g.put(bottom, box.left+col, along, faint)
	}
	xticks := x.ticks(box.cols, box.cols/6, func(ticks []tick) bool { return apart(ticks, g.cols, box.left) })
	for _, t := range xticks {
		g.put(bottom, box.left+t.at, below, faint)
		g.text(bottom+1, under(t, g.cols, box.left), []rune(t.label), "")
	}
	return box
}

// under returns the column where the label of a tick of the x axis starts: centred below the tick, inside the grid.
func under(t tick, cols, left int) int {
	return max(0, min(left+t.at-len(t.label)/2, cols-len(t.label)))
}

// apart reports whether two blanks or more are between the labels of the x axis.
func apart(ticks []tick, cols, left int) bool {
	for i := 1; i < len(ticks); i++ {
		if under(ticks[i], cols, left)-under(ticks[i-1], cols, left)-len(ticks[i-1].label) < 2 {
			return false
		}
	}
	return true
}

// draw puts the limits, over them the dots and over those the marked points.
func (p *Plot) draw(g *grid, box area) {
	for _, l := range p.Limits {
		switch {
		case l.Vertical && box.x.Holds(l.At):
			for row := range box.rows {
				g.put(box.top+row, box.left+box.x.at(l.At, box.cols), vertical, faint)
			}
		case !l.Vertical && box.y.Holds(l.At):
			for col := range box.cols {
				g.put(box.top+box.rows-1-box.y.at(l.At, box.rows), box.left+col, horizontal, faint)
			}
		}
	}
	for _, b := range p.Bars {
		p.bar(g, box, b)
	}
	p.dots(g, box)
	for i, s := range slices.Backward(p.Series) {
		glyph, style := p.mark(i)
		for _, pt := range s.Points {
			if pt.Mark && pt.Drawable() {
				row := box.top + box.rows - 1 - box.y.at(pt.Y, box.rows)
				g.put(row, box.left+box.x.at(pt.X, box.cols), glyph, style)
			}
		}
	}
}

// bar draws an interval.
func (p *Plot) bar(g *grid, box area, b scatter.Bar) {
	low, high, ok := b.In(box.x.Span, box.y.Span)
	if !ok {
		return
	}
	row := func(y float64) int { return box.top + box.rows - 1 - box.y.at(y, box.rows) }
	col := func(x float64) int { return box.left + box.x.at(x, box.cols) }
	if b.Vertical {
		for r := row(high); r <= row(low); r++ {
			g.put(r, col(b.X), up, color(b.Series))
		}
		return
	}
	for c := col(low); c <= col(high); c++ {
		g.put(row(b.Y), c, along, color(b.Series))
	}
}

// dots draws the points that are not marked.
func (p *Plot) dots(g *grid, box area) {
	// The bits of the Braille characters from U+2800 on, by the row from the bottom and the column of the dot.
	bits := [4][2]rune{{1 << 6, 1 << 7}, {1 << 2, 1 << 5}, {1 << 1, 1 << 4}, {1 << 0, 1 << 3}}
	braille := make([]rune, box.rows*box.cols)
	for i, s := range slices.Backward(p.Series) {
		for _, pt := range s.Points {
			if pt.Mark || !pt.Drawable() {
				continue
			}
			col, row := box.x.at(pt.X, 2*box.cols), box.y.at(pt.Y, 4*box.rows)
			cell := &braille[row/4*box.cols+col/2]
			*cell |= bits[row%4][col%2]
			g.put(box.top+box.rows-1-row/4, box.left+col/2, 0x2800|*cell, color(i))
		}
	}
}
