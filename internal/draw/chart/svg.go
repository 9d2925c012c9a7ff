package chart

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"strings"
)

// svg writes a picture as SVG.
type svg struct {
	b      bytes.Buffer
	height float64
}

// newSVG begins a picture of a size, white.
func newSVG(wide, high float64) *svg {
	s := &svg{height: high}
	fmt.Fprintf(&s.b, `<?xml version="1.0"?>
<svg width="%[1]gpt" height="%[2]gpt" viewBox="0 0 %[1]g %[2]g" xmlns="http://www.w3.org/2000/svg">
`, wide, high)
	s.fill(box{Max: point{wide, high}}.outline(), white())
	return s
}

// writeTo ends the picture and writes it.
func (s *svg) writeTo(w io.Writer) error {
	s.b.WriteString("</svg>\n")
	_, err := s.b.WriteTo(w)
	return err
}

func (s *svg) fill(sh shape, tint color.NRGBA) {
	s.path(sh, "fill:"+colour(tint)+opacity("fill", tint))
}

func (s *svg) stroke(sh shape, p pen) {
	style := "fill:none;stroke:" + colour(p.tint) + opacity("stroke", p.tint) + fmt.Sprintf(";stroke-width:%.5g", p.width)
	if p.dash > 0 {
		style += fmt.Sprintf(";stroke-dasharray:%g,%g", p.dash, p.gap)
	}
	s.path(sh, style)
}

// path writes a shape. A circle is two arcs, because one that ends where it starts is none.
func (s *svg) path(sh shape, style string) {
	s.b.WriteString(`<path d="`)
	if at := sh.corners[0]; sh.radius > 0 {
		y := s.height - at.Y
		fmt.Fprintf(&s.b, "M%.5[1]g,%.5[3]gA%.5[4]g,%.5[4]g 0 1 1 %.5[2]g,%.5[3]gA%.5[4]g,%.5[4]g 0 1 1 %.5[1]g,%.5[3]g",
			at.X+sh.radius, at.X-sh.radius, y, sh.radius)
	} else {
		for i, c := range sh.corners {
			fmt.Fprintf(&s.b, "%c%.5g,%.5g", "ML"[min(i, 1)], c.X, s.height-c.Y)
		}
	}
	if sh.closed {
		s.b.WriteString("Z")
	}
	fmt.Fprintf(&s.b, "\" style=\"%s\"/>\n", style)
}

// write names the font that the texts were measured in; few machines have it by this name, and its metrics are Arial's.
func (s *svg) write(text string, l lettering, at point, upright bool) {
	weight := "normal"
	if l.bold {
		weight = "bold"
	}
	fmt.Fprintf(&s.b, `<text x="%.5g" y="%.5g"`, at.X, s.height-at.Y)
	if upright {
		fmt.Fprintf(&s.b, ` transform="rotate(-90,%.5g,%.5g)"`, at.X, s.height-at.Y)
	}
	fmt.Fprintf(&s.b, ` style="font-family:Liberation Sans,Arial,Helvetica,sans-serif;font-weight:%s;font-size:%gpx;fill:%s">%s</text>`+"\n",
		weight, l.size, colour(l.tint), strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text))
}

// colour is a colour as CSS writes it, without its opacity.
func colour(c color.NRGBA) string { return fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B) }

// opacity is the property of a colour that is not quite opaque.
func opacity(of string, c color.NRGBA) string {
	if c.A == 0xff {
		return ""
	}
	return fmt.Sprintf(";%s-opacity:%.3g", of, float64(c.A)/0xff)
}
