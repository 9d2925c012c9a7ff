package chart

import (
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/draw/scatter"
)

// panel is one chart with its axes and legend worked out.
type panel struct {
	scatter.Chart
	fonts  fonts
	x, y   scatter.Span
	empty  bool // no point can be drawn
	legend [][]entry
}

func newPanel(c scatter.Chart, letters fonts) panel {
	p := panel{Chart: c, fonts: letters}
	x, y, ok := c.Axes()
	p.x, p.y, p.empty = x, y, !ok
	p.legend = p.entries()
	return p
}

func (p panel) height() float64 { return height + float64(len(p.legend))*lineStep }

// Sizes of letters and lines around the plot, in points.
const (
	titleSize = 13.0
	labelSize = 11.0
	tickSize  = 10.0
	tickMark  = 4.0
	apart     = 4.0 // a label from what it labels
	axisLine  = 0.8
)

// draw draws the chart with a legend below it that has a part of the height to itself, so that the axes of charts side by
// side are level.
func (p panel) draw(on canvas, in box, legend float64) {
	p.drawLegend(on, in.Min.X, in.Min.Y+legend)
	in.Min.Y += legend + apart

	room := width - 2*margin
	title := p.fonts.strong(titleSize)
	centred(on, title, title.fit(p.Title, room), point{(in.Min.X + in.Max.X) / 2, in.Max.Y - ascent*titleSize}, false)
	if p.Title != "" {
		in.Max.Y -= title.height() + 2*apart
	}

	xTicks, yTicks := ticks(p.x), ticks(p.y)
	plot := p.inner(in, xTicks, yTicks)
	p.drawX(on, in, plot, xTicks)
	p.drawY(on, in, plot, yTicks)
	p.drawPoints(on, plot)
}

// inner returns what the axes leave for the points. The last labels may need more room than the axis they belong to.
func (p panel) inner(in box, xTicks, yTicks []tick) box {
	label, numbers := p.fonts.sans(labelSize), p.fonts.sans(tickSize)
	plot := in
	plot.Min.X += p.yLabelWidth() + widest(numbers, yTicks) + blank*tickSize + tickMark + axisLine/2
	plot.Min.Y += numbers.height() + tickMark + axisLine/2
	if p.XLabel != "" {
		plot.Min.Y += label.height() + apart
	}
	for _, t := range xTicks {
		if part := p.x.Part(t.at); part > 0 {
			reach := in.Max.X - numbers.width(t.label)/2
			plot.Max.X = min(plot.Max.X, plot.Min.X+(reach-plot.Min.X)/part)
		}
	}
	for _, t := range yTicks {
		if part := p.y.Part(t.at); part > 0 {
			reach := in.Max.Y - digits/2*tickSize
			plot.Max.Y = min(plot.Max.Y, plot.Min.Y+(reach-plot.Min.Y)/part)
		}
	}
	return plot
}

// yLabelWidth is the room of the label beside the y axis.
func (p panel) yLabelWidth() float64 {
	if p.YLabel == "" {
		return 0
	}
	return p.fonts.sans(labelSize).height() + descent*labelSize + apart
}

func widest(l lettering, ticks []tick) (wide float64) {
	for _, t := range ticks {
		wide = max(wide, l.width(t.label))
	}
	return wide
}

// centred writes a text with its middle at a place.
func centred(on canvas, l lettering, text string, at point, upright bool) {
	if text == "" {
		return
	}
	half := l.width(text) / 2
	if upright {
		at.Y -= half
	} else {
		at.X -= half
	}
	on.write(text, l, at, upright)
}

// drawX draws the x axis below the plot, and a pale line up from each tick.
func (p panel) drawX(on canvas, in, plot box, marks []tick) {
	label, numbers := p.fonts.sans(labelSize), p.fonts.sans(tickSize)
	centred(on, label, label.fit(p.XLabel, width-2*margin), point{plot.X(0.5), in.Min.Y + descent*labelSize}, false)
	axis := plot.Min.Y - axisLine/2
	for _, t := range marks {
		x := plot.X(p.x.Part(t.at))
		on.stroke(line(x, plot.Min.Y, x, plot.Max.Y), pen{width: 0.5, tint: pale()})
		on.stroke(line(x, axis-tickMark, x, axis), pen{width: axisLine, tint: grey()})
		centred(on, numbers, t.label, point{x, axis - tickMark - ascent*tickSize}, false)
	}
	on.stroke(line(plot.Min.X-axisLine, axis, plot.Max.X, axis), pen{width: axisLine, tint: grey()})
}

// drawY draws the y axis left of the plot, and a pale line across from each tick.
func (p panel) drawY(on canvas, in, plot box, marks []tick) {
	label, numbers := p.fonts.sans(labelSize), p.fonts.sans(tickSize)
	centred(on, label, label.fit(p.YLabel, height-2*margin), point{in.Min.X + ascent*labelSize, plot.Y(0.5)}, true)
	axis := plot.Min.X - axisLine/2
	for _, t := range marks {
		y := plot.Y(p.y.Part(t.at))
		on.stroke(line(plot.Min.X, y, plot.Max.X, y), pen{width: 0.5, tint: pale()})
		on.stroke(line(axis-tickMark, y, axis, y), pen{width: axisLine, tint: grey()})
		on.write(t.label, numbers, point{axis - tickMark - blank*tickSize - numbers.width(t.label), y - digits/2*tickSize}, false)
	}
	on.stroke(line(axis, plot.Min.Y-axisLine, axis, plot.Max.Y), pen{width: axisLine, tint: grey()})
}

// drawPoints draws what is between the axes.
func (p panel) drawPoints(on canvas, plot box) {
	if p.empty {
		letters := p.fonts.sans(12)
		letters.tint = grey()
		centred(on, letters, "no points to plot", point{plot.X(0.5), plot.Y(0.5)}, false)
		return
	}
	for _, l := range p.Limits {
		switch {
		case l.Vertical && p.x.Holds(l.At):
			x := plot.X(p.x.Part(l.At))
			on.stroke(line(x, plot.Min.Y, x, plot.Max.Y), limitPen())
		case !l.Vertical && p.y.Holds(l.At):
			y := plot.Y(p.y.Part(l.At))
			on.stroke(line(plot.Min.X, y, plot.Max.X, y), limitPen())
		}
	}
	for i := range p.Bars {
		p.drawBar(on, plot, &p.Bars[i])
	}
	for _, filled := range []bool{false, true} {
		for i, s := range slices.Backward(p.Series) {
			for _, pt := range s.Points {
				if pt.Mark == filled && pt.Drawable() {
					at := point{plot.X(p.x.Part(pt.X)), plot.Y(p.y.Part(pt.Y))}
					drawGlyph(on, at, i, hue(i), filled)
				}
			}
		}
	}
}

// drawBar draws an interval with a cap at each end that is in view.
func (p panel) drawBar(on canvas, plot box, b *scatter.Bar) {
	low, high, ok := b.In(p.x, p.y)
	if !ok {
		return
	}
	at := point{plot.X(p.x.Part(b.X)), plot.Y(p.y.Part(b.Y))}
	place := func(v float64) point {
		if b.Vertical {
			return point{at.X, plot.Y(p.y.Part(v))}
		}
		return point{plot.X(p.x.Part(v)), at.Y}
	}
	ink, from, to := barPen(hue(b.Series)), place(low), place(high)
	on.stroke(line(from.X, from.Y, to.X, to.Y), ink)
	const half = 3 // of a cap
	across := point{0, half}
	if b.Vertical {
		across = point{half, 0}
	}
	for _, tip := range []struct{ end, seen float64 }{{b.Low, low}, {b.High, high}} {
		if tip.end == tip.seen {
			e := place(tip.end)
			on.stroke(line(e.X-across.X, e.Y-across.Y, e.X+across.X, e.Y+across.Y), ink)
		}
	}
}
