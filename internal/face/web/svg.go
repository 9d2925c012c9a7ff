package web

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
)

// The size of a drawing: pixels at full width.
const (
	width, height = 640, 300
	left, right   = 74, 18
	top, bottom   = 14, 42
)

// drawing turns a chart into SVG. Colours and fonts are those of the page's styles.
type drawing struct {
	chart *chart
	out   strings.Builder
}

func (c *chart) SVG() template.HTML {
	d := &drawing{chart: c}
	fmt.Fprintf(&d.out, `<svg class="plot" viewBox="0 0 %d %d" role="img" aria-label="%s">`, width, height, template.HTMLEscapeString(c.About))
	d.axes()
	for i := range c.Series {
		d.band(&c.Series[i])
	}
	d.limits()
	for i := range c.Series {
		d.line(&c.Series[i])
	}
	for i := range c.Marks {
		d.mark(&c.Marks[i])
	}
	d.out.WriteString("</svg>")
	return template.HTML(d.out.String()) // text in it is escaped
}

// part is the position of v along an axis, clipped to 0 to 1.
func (a *axis) part(v float64) float64 {
	low, high := a.Min, a.Max
	if a.Log {
		low, high, v = math.Log(low), math.Log(high), math.Log(max(v, 1e-300))
	}
	return min(max((v-low)/(high-low), 0), 1)
}

func (d *drawing) x(v float64) float64 {
	return left + d.chart.X.part(v)*(width-left-right)
}

func (d *drawing) y(v float64) float64 {
	return height - bottom - d.chart.Y.part(v)*(height-top-bottom)
}

func (d *drawing) axes() {
	c := d.chart
	for _, v := range c.Y.ticks(6) {
		y := d.y(v)
		fmt.Fprintf(&d.out, `<path class="grid" d="M%d %.1fH%d"/><text class="tick" x="%d" y="%.1f" text-anchor="end">%s</text>`,
			left, y, width-right, left-7, y+4, c.Y.label(v))
	}
	for _, v := range c.X.ticks(7) {
		x := d.x(v)
		fmt.Fprintf(&d.out, `<path class="grid" d="M%.1f %dV%d"/><text class="tick" x="%.1f" y="%d" text-anchor="middle">%s</text>`,
			x, top, height-bottom, x, height-bottom+17, c.X.label(v))
	}
	fmt.Fprintf(&d.out, `<path class="axis" d="M%d %dH%d"/><text class="title" x="%d" y="%d" text-anchor="end">%s</text>`,
		left, height-bottom, width-right, width-right, height-6, template.HTMLEscapeString(c.X.Title))
}

func (d *drawing) band(s *series) {
	if len(s.Low) == 0 || len(s.X) < 2 {
		return
	}
	fmt.Fprintf(&d.out, `<path class="band c%d" d="`, s.Colour)
	for i := range s.X {
		fmt.Fprintf(&d.out, "%s%.1f %.1f", letter(i), d.x(s.X[i]), d.y(s.High[i]))
	}
	for i, x := range slices.Backward(s.X) {
		fmt.Fprintf(&d.out, "L%.1f %.1f", d.x(x), d.y(s.Low[i]))
	}
	d.out.WriteString(`Z"/>`)
}

func letter(i int) string {
	if i == 0 {
		return "M"
	}
	return "L"
}

func (d *drawing) line(s *series) {
	class := fmt.Sprintf("line c%d", s.Colour)
	if s.Dash {
		class += " dash"
	}
	fmt.Fprintf(&d.out, `<path class="%s" d="`, class)
	for i := range s.X {
		if s.Step && i > 0 {
			fmt.Fprintf(&d.out, "H%.1f", d.x(s.X[i]))
		}
		fmt.Fprintf(&d.out, "%s%.1f %.1f", letter(i), d.x(s.X[i]), d.y(s.Y[i]))
	}
	d.out.WriteString(`"/>`)
	if s.Points {
		for i := range s.X {
			d.out.WriteString(glyph(s.Colour, d.x(s.X[i]), d.y(s.Y[i]), 3))
		}
	}
}

// glyph is the shape of a colour, so that series do not differ by colour alone.
func glyph(colour int, x, y, r float64) string {
	shape := ""
	switch (colour - 1) % colours {
	case 0:
		return fmt.Sprintf(`<circle class="dot c%d" cx="%.1f" cy="%.1f" r="%.1f"/>`, colour, x, y, r)
	case 1:
		shape = fmt.Sprintf("M%.1f %.1fh%.1fv%.1fh%.1fZ", x-r, y-r, 2*r, 2*r, -2*r)
	case 2:
		shape = fmt.Sprintf("M%.1f %.1fl%.1f %.1fh%.1fZ", x, y-1.2*r, 1.2*r, 2.2*r, -2.4*r)
	case 3:
		shape = fmt.Sprintf("M%.1f %.1fl%.1f %.1fl%.1f %.1fl%.1f %.1fZ", x, y-1.3*r, 1.3*r, 1.3*r, -1.3*r, 1.3*r, -1.3*r, -1.3*r)
	case 4:
		shape = fmt.Sprintf("M%.1f %.1fl%.1f %.1fh%.1fZ", x, y+1.2*r, 1.2*r, -2.2*r, -2.4*r)
	default:
		shape = fmt.Sprintf("M%.1f %.1fh%.1fM%.1f %.1fv%.1f", x-1.2*r, y, 2.4*r, x, y-1.2*r, 2.4*r)
		return fmt.Sprintf(`<path class="stroke c%d" d="%s"/>`, colour, shape)
	}
	return fmt.Sprintf(`<path class="dot c%d" d="%s"/>`, colour, shape)
}

func (d *drawing) limits() {
	for _, l := range d.chart.Limits {
		name := template.HTMLEscapeString(l.Name)
		if l.Vertical {
			x := d.x(l.At)
			fmt.Fprintf(&d.out, `<path class="limit" d="M%.1f %dV%d"/><text class="limit-name" x="%.1f" y="%d">%s</text>`,
				x, top, height-bottom, x+5, top+10, name)
			continue
		}
		y := d.y(l.At)
		fmt.Fprintf(&d.out, `<path class="limit" d="M%d %.1fH%d"/><text class="limit-name" x="%d" y="%.1f">%s</text>`,
			left, y, width-right, left+6, y-5, name)
	}
}

// mark draws a chosen point: its intervals, and a ring around its glyph.
func (d *drawing) mark(m *mark) {
	x, y := d.x(m.X), d.y(m.Y)
	if m.XHigh > m.XLow {
		fmt.Fprintf(&d.out, `<path class="error c%d" d="M%.1f %.1fH%.1f"/>`, m.Colour, d.x(m.XLow), y, d.x(m.XHigh))
	}
	if m.YHigh > m.YLow {
		fmt.Fprintf(&d.out, `<path class="error c%d" d="M%.1f %.1fV%.1f"/>`, m.Colour, x, d.y(m.YLow), d.y(m.YHigh))
	}
	fmt.Fprintf(&d.out, `<circle class="ring c%d" cx="%.1f" cy="%.1f" r="7"/>%s`, m.Colour, x, y, glyph(m.Colour, x, y, 3.4))
}
