package termplot_test

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/golden"
	"github.com/plimsoll-project/plimsoll/internal/draw/scatter"
	"github.com/plimsoll-project/plimsoll/internal/draw/termplot"
)

// sweep is a plot like those of a search: throughput over latency for growing batches of several layouts.
func sweep() termplot.Plot {
	p := termplot.Plot{Width: 64, Height: 18, Chart: scatter.Chart{
		Title:    "Throughput vs TPOT · 8×H200",
		XLabel:   "TPOT (ms)",
		YLabel:   "throughput (token/s)",
		Limits:   []scatter.Limit{{Name: "TPOT limit 50 ms", Vertical: true, At: 50}},
		Marked:   "within the limits",
		Unmarked: "over a limit",
	}}
	for i, name := range []string{"tp8", "tp4 dp2", "tp2 dp4", "tp8 · mtp 1", "tp4 dp2 · mtp 1", "tp2 dp4 · mtp 1", "tp1 dp8"} {
		s := scatter.Series{Name: name}
		for batch := 4.0; batch <= 1024; batch *= 1.5 {
			tpot := 8 + 3*float64(i) + batch*(0.12-0.01*float64(i))
			s.Points = append(s.Points, scatter.Point{X: tpot, Y: 1000 * batch / tpot, Mark: tpot <= 50})
		}
		p.Series = append(p.Series, s)
	}
	return p
}

func render(p termplot.Plot) string {
	var b bytes.Buffer
	p.Render(&b)
	return b.String()
}

func TestPictures(t *testing.T) {
	plain, color := sweep(), sweep()
	color.Color = true
	golden.Check(t, "testdata/plain.golden", []byte(render(plain)))
	golden.Check(t, "testdata/color.golden", []byte(render(color)))
	bars := sweep()
	bars.Interval = "80 % interval"
	bars.Bars = []scatter.Bar{
		{Series: 0, X: 45, Y: 6800, Low: 30, High: 70},
		{Series: 1, X: 90, Y: 7000, Low: 3000, High: 1e9, Vertical: true},
		{Series: 2, X: 45, Y: 6000, Low: 1e6, High: 1e9},        // out of view
		{Series: 2, X: 45, Y: 6000, Low: math.NaN(), High: 1e9}, // no number
		{Series: 2, X: 1e6, Y: 6000, Low: 30, High: 70},         // around a place out of view
	}
	golden.Check(t, "testdata/bars.golden", []byte(render(bars)))
}

func TestOddPictures(t *testing.T) {
	one := func(points ...scatter.Point) []scatter.Series {
		return []scatter.Series{{Name: "one", Points: points}}
	}
	long := strings.Repeat("a very long label ", 8)
	var b bytes.Buffer
	for _, c := range []struct {
		name  string
		chart scatter.Chart
	}{
		{"no points", scatter.Chart{Title: "Throughput"}},
		{"no points that can be drawn", scatter.Chart{Series: one(
			scatter.Point{X: math.NaN(), Y: 1}, scatter.Point{X: 1, Y: math.Inf(1)}, scatter.Point{X: 1e308, Y: 1},
		)}},
		{"one point", scatter.Chart{Series: one(scatter.Point{X: 1500, Y: 0.25, Mark: true})}},
		{"the origin", scatter.Chart{Series: one(scatter.Point{})}},
		{"equal x", scatter.Chart{Series: one(scatter.Point{X: 7, Y: 1}, scatter.Point{X: 7, Y: 2, Mark: true})}},
		{"equal y", scatter.Chart{Series: one(scatter.Point{X: 1, Y: -7}, scatter.Point{X: 2, Y: -7, Mark: true})}},
		{"huge and small", scatter.Chart{Series: one(scatter.Point{X: 3e-9, Y: 2e20}, scatter.Point{X: 4e-9, Y: 3e20})}},
		{"a narrow range far from zero", scatter.Chart{Series: one(
			scatter.Point{X: 1000001, Y: 2.5e6}, scatter.Point{X: 1000009, Y: 7.5e6, Mark: true},
		)}},
		{"long labels", scatter.Chart{
			Title: long, XLabel: long, YLabel: long, Marked: long,
			Series: []scatter.Series{{Name: long, Points: []scatter.Point{{X: 1, Y: 1}}}},
		}},
		{"a limit out of view", scatter.Chart{
			Series: one(scatter.Point{X: 1, Y: 1, Mark: true}, scatter.Point{X: 2, Y: 2}),
			Limits: []scatter.Limit{{Name: "far", Vertical: true, At: 100}, {Name: "near", At: 2.4}},
		}},
	} {
		fmt.Fprintf(&b, "---- %s\n%s\n", c.name, render(termplot.Plot{Chart: c.chart, Width: 40, Height: 10}))
	}
	golden.Check(t, "testdata/odd.golden", b.Bytes())
}

func TestDefaultSize(t *testing.T) {
	p := sweep()
	p.Width, p.Height, p.Limits, p.Marked, p.Unmarked = 0, 0, nil, "", ""
	p.Series = p.Series[:2]
	lines := strings.Split(strings.TrimSuffix(render(p), "\n"), "\n")
	widest := 0
	for _, line := range lines {
		widest = max(widest, cells(line))
	}
	if widest != 100 || len(lines) != 25 { // 24 and the legend
		t.Errorf("want 100×25, got %d×%d", widest, len(lines))
	}
}

// A marked point is seen whatever is drawn over the same place, and of two marked ones the one of the earlier series.
func TestMarkedAndEarlierOnTop(t *testing.T) {
	at := func(mark bool) []scatter.Point { return []scatter.Point{{X: 1, Y: 1, Mark: mark}} }
	var p termplot.Plot
	p.Series = []scatter.Series{{Points: at(false)}, {Points: at(true)}, {Points: at(true)}}
	if got := render(p); !strings.Contains(got, "■") || strings.Contains(got, "▲") {
		t.Errorf("want ■ alone, got\n%s", got)
	}
}

// names have letters that take two cells, none, or are not ASCII, and what must not reach a terminal.
func names() *rapid.Generator[string] {
	return rapid.StringOfN(rapid.SampledFrom([]rune("abcXYZ0189 ·×漢字\u0301\x1b\n\t…→é")), 0, 60, -1)
}

func numbers() *rapid.Generator[float64] {
	return rapid.OneOf(
		rapid.Float64(),
		rapid.Float64Range(-10, 1000),
		rapid.SampledFrom([]float64{0, 1, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, 5e-324, 1e300, -1e300, 1e-300}),
	)
}

func points(t *rapid.T) []scatter.Point {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) scatter.Point {
		return scatter.Point{X: numbers().Draw(t, "x"), Y: numbers().Draw(t, "y"), Mark: rapid.Bool().Draw(t, "mark")}
	}), 0, 30).Draw(t, "points")
}

func plots(t *rapid.T) termplot.Plot {
	p := termplot.Plot{
		Chart: scatter.Chart{
			Title: names().Draw(t, "title"), XLabel: names().Draw(t, "xlabel"), YLabel: names().Draw(t, "ylabel"),
			Marked: names().Draw(t, "marked"), Unmarked: names().Draw(t, "unmarked"),
		},
		Width:  rapid.IntRange(-10, 250).Draw(t, "width"),
		Height: rapid.IntRange(-10, 60).Draw(t, "height"),
		Color:  rapid.Bool().Draw(t, "color"),
	}
	for range rapid.IntRange(0, 9).Draw(t, "series") {
		p.Series = append(p.Series, scatter.Series{Name: names().Draw(t, "name"), Points: points(t)})
	}
	return p
}

// escape is what colours are made of.
var escape = regexp.MustCompile("\x1b\\[0(;[0-9]+)*m")

// cells returns how wide a line is on a terminal.
func cells(line string) (n int) {
	for _, r := range escape.ReplaceAllString(line, "") {
		n++
		if unicode.Is(unicode.Han, r) {
			n++
		}
	}
	return n
}

func TestLinesFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := plots(t)
		for range rapid.IntRange(0, 3).Draw(t, "limits") {
			p.Limits = append(p.Limits, scatter.Limit{
				Name: names().Draw(t, "limit"), Vertical: rapid.Bool().Draw(t, "vertical"), At: numbers().Draw(t, "at"),
			})
		}
		got := render(p)
		width := p.Width
		if width <= 0 {
			width = 100
		}
		for line := range strings.Lines(got) {
			line = strings.TrimSuffix(line, "\n")
			if n := cells(line); n > max(width, 40) {
				t.Errorf("width %d: line of %d cells: %q", width, n, line)
			}
			if strings.HasSuffix(line, " ") {
				t.Errorf("blank at the end of %q", line)
			}
		}
		if !p.Color && strings.Contains(got, "\x1b") || strings.Contains(escape.ReplaceAllString(got, ""), "\x1b") {
			t.Errorf("escape sequence that is not a colour of ours: %q", got)
		}
		if again := render(p); again != got {
			t.Errorf("the same plot differs:\n%s\n%s", got, again)
		}
	})
}

// The number of lines hangs on the size and the texts alone.
func TestLineCountIsFixed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := plots(t)
		dot := scatter.Series{Points: []scatter.Point{{X: 1, Y: 1}}}
		p.Series = append(p.Series, dot)
		first := strings.Count(render(p), "\n")
		for i := range p.Series {
			p.Series[i].Points = append(points(t), dot.Points...)
		}
		if second := strings.Count(render(p), "\n"); first != second {
			t.Errorf("want %d lines, got %d with other points", first, second)
		}
		height := p.Height
		if height <= 0 {
			height = 24
		}
		if first < max(height, 10) {
			t.Errorf("want at least %d lines, got %d", height, first)
		}
	})
}

func TestLegendNamesAllSeries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := plots(t)
		p.Title, p.XLabel, p.YLabel, p.Marked, p.Unmarked = "", "", "", "", ""
		for i := range p.Series {
			p.Series[i].Name = fmt.Sprintf("layout-%d-%d.", i, rapid.IntRange(0, 99).Draw(t, "n"))
		}
		p.Series = append(p.Series, scatter.Series{Name: "last", Points: []scatter.Point{{X: 1, Y: 1}}})
		got := escape.ReplaceAllString(render(p), "")
		glyphs := map[rune]bool{}
		for _, s := range p.Series {
			before, _, found := strings.Cut(got, " "+s.Name)
			if !found {
				t.Fatalf("no %q in\n%s", s.Name, got)
			}
			runes := []rune(before)
			glyphs[runes[len(runes)-1]] = true
		}
		if !p.Color && len(glyphs) != len(p.Series) {
			t.Errorf("want %d glyphs, got %d:\n%s", len(p.Series), len(glyphs), got)
		}
	})
}
