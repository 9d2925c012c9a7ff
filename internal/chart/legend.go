package chart

import (
	"image/color"
	"sort"
	"unicode"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// entry is one name of the legend. Before it there is a glyph, or a piece of a line: of a limit dashed, of a bar solid.
type entry struct {
	left   vg.Length
	name   string
	dashed bool
	bar    bool
	series int
	tint   color.NRGBA
	filled bool
}

const (
	keyWidth = 18 * vg.Length(1) // of the part before a name
	gap      = 16 * vg.Length(1) // between columns
	textSize = 10
)

// entries returns the lines of the legend: series and limits in columns, and below them what filled and hollow mean.
func (p panel) entries() [][]entry {
	var names []entry
	for i, s := range p.Series {
		if s.Name != "" {
			names = append(names, entry{name: s.Name, series: i, tint: hue(i), filled: true})
		}
	}
	for _, l := range p.Limits {
		if l.Name == "" {
			continue
		}
		s, name := p.y, l.Name
		if l.Vertical {
			s = p.x
		}
		if p.empty || !s.Holds(l.At) {
			name += " (out of view)"
		}
		names = append(names, entry{name: name, dashed: true})
	}
	var keys []entry
	if p.Marked != "" {
		keys = append(keys, entry{name: p.Marked, tint: grey(), filled: true})
	}
	if p.Unmarked != "" {
		keys = append(keys, entry{name: p.Unmarked, tint: grey()})
	}
	if p.Interval != "" && len(p.Bars) > 0 {
		keys = append(keys, entry{name: p.Interval, bar: true})
	}
	return append(columns(names), columns(keys)...)
}

// columns spreads entries over lines, one below the other at equal distances.
func columns(entries []entry) [][]entry {
	room := width - 2*margin
	var widest vg.Length
	for i := range entries {
		e := &entries[i]
		e.name = fit(e.name, sans(textSize), room-keyWidth)
		widest = max(widest, keyWidth+sans(textSize).Width(e.name))
	}
	perLine := max(1, int((room+gap)/(widest+gap)))
	var out [][]entry
	for i, e := range entries {
		if i%perLine == 0 {
			out = append(out, nil)
		}
		e.left = vg.Length(i%perLine) * (widest + gap)
		out[len(out)-1] = append(out[len(out)-1], e)
	}
	return out
}

// drawLegend draws the legend from top down.
func (p panel) drawLegend(c draw.Canvas, top vg.Length) {
	sty := sans(textSize)
	sty.YAlign = text.YCenter
	for i, row := range p.legend {
		y := top - (vg.Length(i)+0.75)*lineStep
		for _, e := range row {
			x := c.Min.X + e.left
			c.FillText(sty, vg.Point{X: x + keyWidth, Y: y}, e.name)
			middle := y - vg.Points(1.2) // of the small letters; YCenter counts what hangs below the line
			switch {
			case e.dashed:
				c.StrokeLine2(dashes(), x, middle, x+keyWidth-5, middle)
			case e.bar:
				c.StrokeLine2(bars(grey()), x, middle, x+keyWidth-5, middle)
			default:
				drawGlyph(c, vg.Point{X: x + keyWidth/2 - 2, Y: middle}, e.series, e.tint, e.filled)
			}
		}
	}
}

func sans(size float64) text.Style {
	return text.Style{
		Color:   color.Black,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(size)},
		Handler: plot.DefaultTextHandler,
	}
}

func bold(size float64) text.Style {
	sty := sans(size)
	sty.Font.Weight = xfont.WeightBold
	return sty
}

// fit makes a text printable on one line of a width, and says by its last character when it had to be cut.
func fit(s string, sty text.Style, room vg.Length) string {
	var clean []rune
	for _, r := range s {
		if !unicode.IsPrint(r) {
			r = ' ' // line breaks; and XML has no way to write control characters
		}
		clean = append(clean, r)
	}
	const end = "…"
	if sty.Width(string(clean)) <= room {
		return string(clean)
	}
	tooLong := func(n int) bool { return sty.Width(string(clean[:n+1])+end) > room }
	return string(clean[:sort.Search(len(clean)-1, tooLong)]) + end
}
