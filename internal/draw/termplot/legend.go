package termplot

import (
	"strings"
)

// entry is one name of the legend: a glyph, and after it what it stands for.
type entry struct {
	col   int
	glyph rune
	style string
	name  []rune
}

// indent is how far the name is from the start of the entry.
func (e entry) indent() int {
	if e.glyph == ' ' {
		return 0
	}
	return 2
}

func (e entry) width() int { return e.indent() + textWidth(e.name) }

// legend returns the entries of each line: series and limits in columns, and below them what solid and dotted mean.
func (p *Plot) legend(width int, x, y scale) [][]entry {
	var names []entry
	for i, s := range p.Series {
		if s.Name != "" {
			glyph, style := p.mark(i)
			names = append(names, entry{glyph: glyph, style: style, name: fitted(s.Name, width-2)})
		}
	}
	for _, l := range p.Limits {
		if l.Name == "" {
			continue
		}
		glyph, a, name := horizontal, y, l.Name
		if l.Vertical {
			glyph, a = vertical, x
		}
		if !a.Holds(l.At) {
			name += " (out of view)"
		}
		names = append(names, entry{glyph: glyph, style: faint, name: fitted(name, width-2)})
	}
	out := columns(names, width)
	var key []string
	if p.Marked != "" {
		key = append(key, "solid: "+p.Marked)
	}
	if p.Unmarked != "" {
		key = append(key, "dot: "+p.Unmarked)
	}
	if p.Interval != "" && len(p.Bars) > 0 {
		key = append(key, "line: "+p.Interval)
	}
	if key != nil {
		out = append(out, []entry{{glyph: ' ', name: fitted(strings.Join(key, "   "), width)}})
	}
	return out
}

// columns spreads entries over lines, one below the other at equal distances.
func columns(entries []entry, width int) [][]entry {
	const gap = 3
	widest := 0
	for _, e := range entries {
		widest = max(widest, e.width())
	}
	perLine := max(1, (width+gap)/(widest+gap))
	var out [][]entry
	for i, e := range entries {
		if i%perLine == 0 {
			out = append(out, nil)
		}
		e.col = i % perLine * (widest + gap)
		out[len(out)-1] = append(out[len(out)-1], e)
	}
	return out
}

// mark returns the glyph and style of the marked points of a series. Colours tell six series apart, glyphs the next six and
// so on; without colours each series has its own glyph.
func (p *Plot) mark(series int) (glyph rune, style string) {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	glyphs := []rune("●■▲◆▼★" + letters)
	n := series
	if p.Color {
		n /= colors
	}
	return glyphs[n%len(glyphs)], bold + ";" + color(series)
}
