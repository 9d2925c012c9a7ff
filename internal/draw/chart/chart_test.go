package chart_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/golden"
	"github.com/plimsoll-project/plimsoll/internal/draw/chart"
	"github.com/plimsoll-project/plimsoll/internal/draw/scatter"
)

// sweep is a chart like those of a search: throughput over latency for growing batches of several layouts.
func sweep() scatter.Chart {
	c := scatter.Chart{
		Title:    "Throughput vs TPOT · 8×H200",
		XLabel:   "TPOT (ms)",
		YLabel:   "throughput (token/s)",
		Limits:   []scatter.Limit{{Name: "TPOT ≤ 50 ms", Vertical: true, At: 50}, {Name: "1 token/s", At: -1e9}},
		Marked:   "within the limits",
		Unmarked: "over a limit",
	}
	for i, name := range []string{"tp8", "tp4 dp2", `tp2 & <dp4> "ep8"`} {
		s := scatter.Series{Name: name}
		for batch := 4.0; batch <= 1024; batch *= 1.5 {
			tpot := 8 + 3*float64(i) + batch*(0.12-0.01*float64(i))
			s.Points = append(s.Points, scatter.Point{X: tpot, Y: 1000 * batch / tpot, Mark: tpot <= 50})
		}
		c.Series = append(c.Series, s)
	}
	return c
}

func write(t *testing.T, format string, charts ...scatter.Chart) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := chart.Write(&b, format, charts); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func decode(t *testing.T, data []byte) image.Image {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// One chart is 8 inches wide and 5 high plus 17/72 of an inch for each line of its legend, at 144 dots per inch; there are
// two in a row, and a row is as high as the highest of it.
func TestSize(t *testing.T) {
	const wide, high, line = 1152, 720, 34
	bare := scatter.Chart{Series: []scatter.Series{{Points: []scatter.Point{{X: 1, Y: 2}}}}}
	named := bare
	named.Series = []scatter.Series{{Name: "one", Points: bare.Series[0].Points}}
	named.Marked, named.Unmarked = "in", "out"
	for _, c := range []struct {
		charts []scatter.Chart
		want   image.Point
	}{
		{[]scatter.Chart{bare}, image.Pt(wide, high)},
		{[]scatter.Chart{named}, image.Pt(wide, high+2*line)},
		{[]scatter.Chart{named, bare, bare}, image.Pt(2*wide, 2*high+2*line)},
	} {
		config, err := png.DecodeConfig(bytes.NewReader(write(t, "png", c.charts...)))
		if err != nil {
			t.Fatal(err)
		}
		if got := image.Pt(config.Width, config.Height); got != c.want {
			t.Errorf("%d charts: want %v, got %v", len(c.charts), c.want, got)
		}
	}
}

// A filled point brings its colour into the picture in full, a hollow one only blended with the white.
func TestMarkedPointsAreFilled(t *testing.T) {
	blue := color.RGBA{0x00, 0x72, 0xb2, 0xff}
	for _, mark := range []bool{false, true} {
		c := scatter.Chart{Series: []scatter.Series{{Points: []scatter.Point{{X: 1, Y: 2, Mark: mark}}}}}
		img := decode(t, write(t, "png", c))
		full := 0
		for y := range img.Bounds().Dy() {
			for x := range img.Bounds().Dx() {
				if color.RGBAModel.Convert(img.At(x, y)) == blue {
					full++
				}
			}
		}
		// A circle with a radius of 3.4/72 inches has 145 dots, of which the rim takes some.
		if mark != (full > 50) {
			t.Errorf("mark=%t: %d dots of the full colour", mark, full)
		}
	}
}

// texts returns the contents of the text elements of an SVG, and fails for anything that is not XML.
func texts(data []byte) (out []string, err error) {
	d := xml.NewDecoder(bytes.NewReader(data))
	inside := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		switch token := token.(type) {
		case xml.StartElement:
			inside = token.Name.Local == "text"
		case xml.EndElement:
			inside = false
		case xml.CharData:
			if inside {
				out = append(out, string(token))
			}
		}
	}
}

func TestSVGHoldsTheLabels(t *testing.T) {
	svg := write(t, "svg", sweep(), scatter.Chart{Title: "nothing"})
	got, err := texts(svg)
	if err != nil {
		t.Fatal(err)
	}
	all := "\n" + strings.Join(got, "\n") + "\n"
	for _, want := range []string{
		"Throughput vs TPOT · 8×H200", "TPOT (ms)", "throughput (token/s)", "tp8", "tp4 dp2", `tp2 & <dp4> "ep8"`,
		"TPOT ≤ 50 ms", "1 token/s (out of view)", "within the limits", "over a limit",
		"nothing", "no points to plot", "20", "40", "2000",
	} {
		if !strings.Contains(all, "\n"+want+"\n") {
			t.Errorf("no %q in the texts:%s", want, all)
		}
	}
	if strings.Contains(string(svg), "Liberation Sans;") {
		t.Error("a font without one to fall back on")
	}
	if n := strings.Count(string(svg), "stroke-dasharray:5,3"); n != 3 { // the line, and two limits in the legend
		t.Errorf("want 3 dashed lines, got %d", n)
	}
}

// The whole picture as SVG, to be looked at when it changes.
func TestPicture(t *testing.T) {
	golden.Check(t, "testdata/sweep.svg", write(t, "svg", sweep()))
}

func TestSameBytes(t *testing.T) {
	for _, format := range chart.Formats() {
		first := write(t, format, sweep())
		if second := write(t, format, sweep()); !bytes.Equal(first, second) {
			t.Errorf("%s: the same charts give other bytes", format)
		}
	}
}

func TestRefusals(t *testing.T) {
	err := chart.Write(io.Discard, "gif", []scatter.Chart{sweep()})
	if want := `drawing a chart as "gif": the format is not one of png, svg`; err == nil || err.Error() != want {
		t.Errorf("want %s, got %v", want, err)
	}
	if err := chart.Write(io.Discard, "png", nil); err == nil {
		t.Error("no chart: want an error")
	}
	full := errors.New("disk full")
	for _, format := range chart.Formats() {
		if err := chart.Write(broken{full}, format, []scatter.Chart{sweep()}); !errors.Is(err, full) {
			t.Errorf("%s: want %v, got %v", format, full, err)
		}
	}
}

type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }

// Any points and texts give an SVG that is XML, without NaN and with every series in it, and always the same one.
func TestAnyChart(t *testing.T) {
	number := rapid.OneOf(
		rapid.Float64(),
		rapid.Float64Range(-10, 1000),
		rapid.SampledFrom([]float64{0, 1, math.NaN(), math.Inf(1), math.MaxFloat64, 5e-324, 1e300, -1e300, 1e-300}),
	)
	point := rapid.Custom(func(t *rapid.T) scatter.Point {
		return scatter.Point{X: number.Draw(t, "x"), Y: number.Draw(t, "y"), Mark: rapid.Bool().Draw(t, "mark")}
	})
	name := rapid.StringMatching(`[a-z0-9]{1,12}`)
	rapid.Check(t, func(t *rapid.T) {
		c := scatter.Chart{
			Title: rapid.String().Draw(t, "title"), XLabel: rapid.String().Draw(t, "xlabel"), YLabel: rapid.String().Draw(t, "ylabel"),
			Limits: []scatter.Limit{
				{Name: rapid.String().Draw(t, "limit"), Vertical: rapid.Bool().Draw(t, "vertical"), At: number.Draw(t, "at")},
			},
		}
		for range rapid.IntRange(0, 9).Draw(t, "series") {
			c.Series = append(c.Series, scatter.Series{
				Name: name.Draw(t, "name"), Points: rapid.SliceOfN(point, 0, 10).Draw(t, "points"),
			})
		}
		var one, two bytes.Buffer
		for _, b := range []*bytes.Buffer{&one, &two} {
			if err := chart.Write(b, "svg", []scatter.Chart{c}); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(one.Bytes(), two.Bytes()) {
			t.Error("the same chart gives other bytes")
		}
		got, err := texts(one.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		all := "\n" + strings.Join(got, "\n") + "\n"
		for _, s := range c.Series {
			if !strings.Contains(all, "\n"+s.Name+"\n") {
				t.Errorf("no %q in the texts:%s", s.Name, all)
			}
		}
		for _, wrong := range []string{"NaN,", ",NaN", "Inf,", ",+Inf", ",-Inf"} {
			if bytes.Contains(one.Bytes(), []byte(wrong)) {
				t.Errorf("%s in the picture", wrong)
			}
		}
	})
}

func TestLongNamesAreCut(t *testing.T) {
	long := strings.Repeat("a very long label ", 30)
	c := scatter.Chart{Title: long, XLabel: long, YLabel: long, Series: []scatter.Series{{Name: long, Points: []scatter.Point{{X: 1}}}}}
	got, err := texts(write(t, "svg", c))
	if err != nil {
		t.Fatal(err)
	}
	cut := 0
	for _, text := range got {
		if strings.HasSuffix(text, "…") {
			cut++
		}
	}
	if cut != 4 {
		t.Errorf("want 4 texts that end with …, got %q", got)
	}
}

// Bars are lines with caps in the colour of their series, under a name in the legend; what is out of view is cut off.
func TestBars(t *testing.T) {
	lines := func(bars ...scatter.Bar) int {
		c := sweep()
		c.Bars, c.Interval = bars, "80 % interval"
		text := string(write(t, "svg", c))
		if named := strings.Contains(text, "80 % interval"); named != (len(bars) > 0) {
			t.Errorf("%d bars: the legend's word for them: %v", len(bars), named)
		}
		return strings.Count(text, "<path")
	}
	none := lines()
	const key = 1 // the legend's piece of a line
	for _, c := range []struct {
		name string
		bar  scatter.Bar
		want int
	}{
		{"in view", scatter.Bar{X: 30, Y: 5000, Low: 25, High: 40}, none + key + 3},
		{"upright", scatter.Bar{X: 30, Y: 5000, Low: 4000, High: 6000, Vertical: true}, none + key + 3},
		{"one end out of view", scatter.Bar{X: 30, Y: 5000, Low: 25, High: 1e6}, none + key + 2},
		{"out of view", scatter.Bar{X: 30, Y: 5000, Low: 1e5, High: 1e6}, none + key},
		{"around a place out of view", scatter.Bar{X: 1e6, Y: 5000, Low: 25, High: 40}, none + key},
		{"no number", scatter.Bar{X: 30, Y: 5000, Low: math.NaN(), High: 40}, none + key},
	} {
		if got := lines(c.bar); got != c.want {
			t.Errorf("%s: want %d lines, got %d", c.name, c.want, got)
		}
	}
}
