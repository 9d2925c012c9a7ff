package chart

import "image/color"

// entry is one name of the legend. Before it there is a glyph, or a piece of a line: of a limit dashed, of a bar solid.
type entry struct {
	left   float64
	name   string
	dashed bool
	bar    bool
	series int
	tint   color.NRGBA
	filled bool
}

const (
	keyWidth = 18.0 // of the part before a name
	between  = 16.0 // columns
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
	return append(p.columns(names), p.columns(keys)...)
}

// columns spreads entries over lines, one below the other at equal distances.
func (p panel) columns(entries []entry) [][]entry {
	room, letters := width-2*margin, p.fonts.sans(textSize)
	var widest float64
	for i := range entries {
		e := &entries[i]
		e.name = letters.fit(e.name, room-keyWidth)
		widest = max(widest, keyWidth+letters.width(e.name))
	}
	perLine := max(1, int((room+between)/(widest+between)))
	var out [][]entry
	for i, e := range entries {
		if i%perLine == 0 {
			out = append(out, nil)
		}
		e.left = float64(i%perLine) * (widest + between)
		out[len(out)-1] = append(out[len(out)-1], e)
	}
	return out
}

// drawLegend draws the legend from top down.
func (p panel) drawLegend(on canvas, left, top float64) {
	for i, row := range p.legend {
		middle := top - (float64(i)+0.75)*lineStep
		for _, e := range row {
			x := left + e.left
			on.write(e.name, p.fonts.sans(textSize), point{x + keyWidth, middle - digits/2*textSize}, false)
			switch {
			case e.dashed:
				on.stroke(line(x, middle, x+keyWidth-5, middle), limitPen())
			case e.bar:
				on.stroke(line(x, middle, x+keyWidth-5, middle), barPen(grey()))
			default:
				drawGlyph(on, point{x + keyWidth/2 - 2, middle}, e.series, e.tint, e.filled)
			}
		}
	}
}
