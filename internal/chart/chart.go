package chart

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"plimsoll/internal/scatter"
)

// Formats returns the names of the formats that [Write] knows.
func Formats() []string { return []string{"png", "svg"} }

const (
	width    = 8 * vg.Inch // of one chart
	height   = 5 * vg.Inch // of one chart without its legend
	perRow   = 2
	dpi      = 144 // of a PNG; one and a half times what a plain screen has, so that the text stays sharp on a finer one
	margin   = 14 * vg.Length(1)
	lineStep = 17 * vg.Length(1) // between the lines of the legend
)

// Write draws the charts into one picture, two side by side and the next two below them.
func Write(w io.Writer, format string, charts []scatter.Chart) error {
	if !slices.Contains(Formats(), format) {
		return fmt.Errorf("drawing a chart as %q: the format is not one of %s", format, strings.Join(Formats(), ", "))
	}
	if len(charts) == 0 {
		return fmt.Errorf("drawing a chart as %s: there is no chart to draw", format)
	}
	if err := encode(w, format, arrange(charts)); err != nil {
		return fmt.Errorf("drawing a chart as %s: %w", format, err)
	}
	return nil
}

// sheet is the picture: the charts, and for each row of them how high it is.
type sheet struct {
	panels  []panel
	columns int
	heights []vg.Length
}

func arrange(charts []scatter.Chart) sheet {
	s := sheet{columns: min(len(charts), perRow)}
	for i, c := range charts {
		p := newPanel(c)
		s.panels = append(s.panels, p)
		if i%s.columns == 0 {
			s.heights = append(s.heights, 0)
		}
		row := &s.heights[len(s.heights)-1]
		*row = max(*row, p.height())
	}
	return s
}

func (s sheet) size() (w, h vg.Length) {
	for _, row := range s.heights {
		h += row
	}
	return vg.Length(s.columns) * width, h
}

func (s sheet) draw(on vg.CanvasSizer) {
	page := draw.New(on)
	top := page.Max.Y
	for i, p := range s.panels {
		column, row := i%s.columns, i/s.columns
		left := vg.Length(column) * width
		p.draw(draw.Canvas{Canvas: page.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: left + margin, Y: top - s.heights[row] + margin},
			Max: vg.Point{X: left + width - margin, Y: top - margin},
		}}, s.heights[row]-height)
		if column == s.columns-1 {
			top -= s.heights[row]
		}
	}
}

func encode(w io.Writer, format string, s sheet) error {
	wide, high := s.size()
	if format == "png" {
		canvas := vgimg.NewWith(vgimg.UseWH(wide, high), vgimg.UseDPI(dpi))
		s.draw(canvas)
		_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(w)
		return err
	}
	canvas := vgsvg.New(wide, high)
	canvas.SetColor(color.White)
	canvas.Fill(vg.Rectangle{Max: vg.Point{X: wide, Y: high}}.Path()) // a PNG is white already
	s.draw(canvas)
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return err
	}
	// Few machines have the font by this name, and its metrics are those of Arial. A label cannot hold the sought text,
	// because the quotation mark in it would be escaped.
	const family = `style="font-family:Liberation Sans`
	_, err := w.Write(bytes.ReplaceAll(b.Bytes(), []byte(family+";"), []byte(family+",Arial,Helvetica,sans-serif;")))
	return err
}
