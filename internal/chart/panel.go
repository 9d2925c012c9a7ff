package chart

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"plimsoll/internal/scatter"
)

// panel is one chart with its axes and legend worked out.
type panel struct {
	scatter.Chart
	x, y   scatter.Span
	empty  bool // no point can be drawn
	legend [][]entry
}

func newPanel(c scatter.Chart) panel {
	p := panel{Chart: c}
	x, y, ok := c.Axes()
	p.x, p.y, p.empty = x, y, !ok
	p.legend = p.entries()
	return p
}

func (p panel) height() vg.Length { return height + vg.Length(len(p.legend))*lineStep }

// draw draws the chart with a legend below it that has a part of the height to itself, so that the axes of charts side by
// side are level.
func (p panel) draw(c draw.Canvas, legend vg.Length) {
	p.drawLegend(c, c.Min.Y+legend)
	c = draw.Crop(c, 0, 0, legend+vg.Points(4), 0)

	room := width - 2*margin
	pl := plot.New()
	pl.BackgroundColor = nil // the page has one
	pl.Title.Text = fit(p.Title, bold(13), room)
	pl.Title.TextStyle.Font = bold(13).Font
	pl.Title.Padding = vg.Points(8)
	setAxis(&pl.X, p.x, fit(p.XLabel, sans(11), room))
	setAxis(&pl.Y, p.y, fit(p.YLabel, sans(11), height-2*margin))
	pl.Add(&plotter.Grid{Vertical: line(0.5, pale()), Horizontal: line(0.5, pale())}, p)
	pl.Draw(c)
}

func setAxis(a *plot.Axis, s scatter.Span, label string) {
	a.Min, a.Max = s.Lo, s.Hi
	a.Padding = 0
	a.LineStyle = line(0.8, grey())
	a.Label.Text = label
	a.Label.TextStyle.Font = sans(11).Font
	a.Label.Padding = vg.Points(4)
	a.Tick.Label.Font = sans(10).Font
	a.Tick.LineStyle = line(0.8, grey())
	a.Tick.Length = vg.Points(4)
	a.Tick.Marker = ticks{}
}

// Plot draws what is between the axes; gonum's plot calls it with that part of the canvas.
func (p panel) Plot(c draw.Canvas, _ *plot.Plot) {
	if p.empty {
		sty := sans(12)
		sty.Color, sty.XAlign, sty.YAlign = grey(), text.XCenter, text.YCenter
		c.FillText(sty, c.Center(), "no points to plot")
		return
	}
	for _, l := range p.Limits {
		switch {
		case l.Vertical && p.x.Holds(l.At):
			x := c.X(p.x.Part(l.At))
			c.StrokeLine2(dashes(), x, c.Min.Y, x, c.Max.Y)
		case !l.Vertical && p.y.Holds(l.At):
			y := c.Y(p.y.Part(l.At))
			c.StrokeLine2(dashes(), c.Min.X, y, c.Max.X, y)
		}
	}
	for _, b := range p.Bars {
		p.drawBar(c, b)
	}
	for _, filled := range []bool{false, true} {
		for i, s := range slices.Backward(p.Series) {
			for _, pt := range s.Points {
				if pt.Mark == filled && pt.Drawable() {
					at := vg.Point{X: c.X(p.x.Part(pt.X)), Y: c.Y(p.y.Part(pt.Y))}
					drawGlyph(c, at, i, hue(i), filled)
				}
			}
		}
	}
}

// drawBar draws an interval with a cap at each end that is in view.
func (p panel) drawBar(c draw.Canvas, b scatter.Bar) {
	low, high, ok := b.In(p.x, p.y)
	if !ok {
		return
	}
	at := vg.Point{X: c.X(p.x.Part(b.X)), Y: c.Y(p.y.Part(b.Y))}
	place := func(v float64) vg.Point {
		if b.Vertical {
			return vg.Point{X: at.X, Y: c.Y(p.y.Part(v))}
		}
		return vg.Point{X: c.X(p.x.Part(v)), Y: at.Y}
	}
	sty, from, to := bars(hue(b.Series)), place(low), place(high)
	c.StrokeLine2(sty, from.X, from.Y, to.X, to.Y)
	const half = 3 // of a cap
	across := vg.Point{X: 0, Y: half}
	if b.Vertical {
		across = vg.Point{X: half, Y: 0}
	}
	for _, tip := range []struct{ end, seen float64 }{{b.Low, low}, {b.High, high}} {
		if tip.end == tip.seen {
			e := place(tip.end)
			c.StrokeLine2(sty, e.X-across.X, e.Y-across.Y, e.X+across.X, e.Y+across.Y)
		}
	}
}

func bars(tint color.NRGBA) draw.LineStyle {
	tint.A = 0x90
	return line(1.1, tint)
}

func line(points float64, c color.Color) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: vg.Points(points)}
}

func dashes() draw.LineStyle {
	return draw.LineStyle{Color: grey(), Width: vg.Points(1), Dashes: []vg.Length{vg.Points(5), vg.Points(3)}}
}

func grey() color.NRGBA { return color.NRGBA{0x55, 0x55, 0x55, 0xff} }
func pale() color.NRGBA { return color.NRGBA{0xe3, 0xe3, 0xe3, 0xff} }
