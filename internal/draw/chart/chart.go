package chart

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/draw/scatter"
)

// Formats returns the names of the formats that [Write] knows.
func Formats() []string { return []string{"png", "svg"} }

const (
	width    = 8 * 72.0 // of one chart
	height   = 5 * 72.0 // of one chart without its legend
	perRow   = 2
	dpi      = 144 // of a PNG; one and a half times what a plain screen has, so that the text stays sharp on a finer one
	margin   = 14.0
	lineStep = 17.0 // between the lines of the legend
)

// Write draws the charts into one picture, two side by side and the next two below them.
func Write(w io.Writer, format string, charts []scatter.Chart) error {
	if !slices.Contains(Formats(), format) {
		return fmt.Errorf("drawing a chart as %q: the format is not one of %s", format, strings.Join(Formats(), ", "))
	}
	if len(charts) == 0 {
		return fmt.Errorf("drawing a chart as %s: there is no chart to draw", format)
	}
	letters, err := newFonts()
	if err == nil {
		err = encode(w, format, arrange(charts, letters))
	}
	if err != nil {
		return fmt.Errorf("drawing a chart as %s: %w", format, err)
	}
	return nil
}

// sheet is the picture: the charts, and for each row of them how high it is.
type sheet struct {
	panels  []panel
	columns int
	heights []float64
}

func arrange(charts []scatter.Chart, letters fonts) sheet {
	s := sheet{columns: min(len(charts), perRow)}
	for i, c := range charts {
		p := newPanel(c, letters)
		s.panels = append(s.panels, p)
		if i%s.columns == 0 {
			s.heights = append(s.heights, 0)
		}
		row := &s.heights[len(s.heights)-1]
		*row = max(*row, p.height())
	}
	return s
}

func (s sheet) size() (wide, high float64) {
	for _, row := range s.heights {
		high += row
	}
	return float64(s.columns) * width, high
}

func (s sheet) draw(on canvas) {
	_, top := s.size()
	for i, p := range s.panels {
		column, row := i%s.columns, i/s.columns
		left := float64(column) * width
		p.draw(on, box{
			Min: point{left + margin, top - s.heights[row] + margin},
			Max: point{left + width - margin, top - margin},
		}, s.heights[row]-height)
		if column == s.columns-1 {
			top -= s.heights[row]
		}
	}
}

func encode(w io.Writer, format string, s sheet) error {
	wide, high := s.size()
	if format == "png" {
		on := newRaster(wide, high, dpi)
		s.draw(on)
		return on.writeTo(w)
	}
	on := newSVG(wide, high)
	s.draw(on)
	return on.writeTo(w)
}
