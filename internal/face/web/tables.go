package web

import (
	"fmt"
	"html/template"
	"strings"
)

// table is the data of a chart, for readers who cannot see it.
type table struct {
	Caption string
	Head    []string
	Rows    [][]string
}

// rows is the maximum number of rows in the table of a chart; the record has all of them.
const rows = 60

// tablesOf are the tables of a chart: one if its lines share their x values, else one for each.
func tablesOf(c *chart) []table {
	if shared(c) {
		t := table{Caption: c.Title, Head: []string{c.X.Title}}
		for i := range c.Series {
			t.Head = append(t.Head, headOf(c, &c.Series[i])...)
		}
		for j := range c.Series[0].X {
			row := []string{c.X.label(c.Series[0].X[j])}
			for i := range c.Series {
				row = append(row, cellsOf(c, &c.Series[i], j)...)
			}
			t.Rows = append(t.Rows, row)
		}
		t.Rows = thinned(t.Rows, rows)
		return []table{t}
	}
	out := make([]table, 0, len(c.Series))
	for i := range c.Series {
		s := &c.Series[i]
		t := table{Caption: s.Name, Head: append([]string{c.X.Title}, headOf(c, s)...)}
		for j := range s.X {
			t.Rows = append(t.Rows, append([]string{c.X.label(s.X[j])}, cellsOf(c, s, j)...))
		}
		out = append(out, t)
	}
	return out
}

func shared(c *chart) bool {
	if len(c.Series) == 0 || len(c.Series) > 3 {
		return false
	}
	for _, s := range c.Series[1:] {
		if len(s.X) != len(c.Series[0].X) {
			return false
		}
		for i := range s.X {
			if s.X[i] != c.Series[0].X[i] {
				return false
			}
		}
	}
	return true
}

func headOf(c *chart, s *series) []string {
	name := s.Name
	if !strings.Contains(c.Y.Title, name) && !strings.Contains(name, c.Y.Title) {
		name += ", " + c.Y.Title
	}
	if len(s.Low) > 0 {
		return []string{name, "80 % interval"}
	}
	return []string{name}
}

func cellsOf(c *chart, s *series, i int) []string {
	out := []string{c.Y.label(s.Y[i])}
	if len(s.Low) > 0 {
		out = append(out, c.Y.label(s.Low[i])+" to "+c.Y.label(s.High[i]))
	}
	return out
}

// sample is a piece of a line for the key of a chart.
func sample(s series) template.HTML {
	dash, points := "", ""
	if s.Dash {
		dash = " dash"
	}
	if s.Points {
		points = glyph(s.Colour, 13, 6, 3)
	}
	return template.HTML(fmt.Sprintf( // numbers and our own words
		`<svg class="sample" viewBox="0 0 26 12" aria-hidden="true"><path class="line c%d%s" d="M0 6H26"/>%s</svg>`, s.Colour, dash, points))
}
