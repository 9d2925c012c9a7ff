package chart

import "image/color"

// Lengths are in points, 72 to an inch. x grows to the right and y upwards, from the lower left corner of the picture.

// canvas is what a picture is drawn on.
type canvas interface {
	fill(s shape, tint color.NRGBA)
	stroke(s shape, p pen)
	// write sets a text from a place on its baseline; upright turns it to run upwards from there.
	write(text string, l lettering, at point, upright bool)
}

// point is a place in the picture.
type point struct{ X, Y float64 }

// box is an upright rectangle.
type box struct{ Min, Max point }

// X returns what lies a part of the way, 0 to 1, from the left to the right edge.
func (b box) X(part float64) float64 { return b.Min.X + part*(b.Max.X-b.Min.X) }

// Y returns what lies a part of the way, 0 to 1, from the lower to the upper edge.
func (b box) Y(part float64) float64 { return b.Min.Y + part*(b.Max.Y-b.Min.Y) }

// outline returns the rectangle as a shape.
func (b box) outline() shape {
	return shape{closed: true, corners: []point{b.Min, {b.Max.X, b.Min.Y}, b.Max, {b.Min.X, b.Max.Y}}}
}

// shape is straight lines from corner to corner, and back to the first if it is closed; with a radius, a circle around the
// one corner.
type shape struct {
	corners []point
	closed  bool
	radius  float64
}

// line returns a straight line.
func line(x1, y1, x2, y2 float64) shape { return shape{corners: []point{{x1, y1}, {x2, y2}}} }

// pen is how a line is drawn: its width and colour and, unless it is solid, the lengths of a dash and of the gap after it.
type pen struct {
	width     float64
	tint      color.NRGBA
	dash, gap float64
}

func grey() color.NRGBA  { return color.NRGBA{0x55, 0x55, 0x55, 0xff} }
func pale() color.NRGBA  { return color.NRGBA{0xe3, 0xe3, 0xe3, 0xff} }
func white() color.NRGBA { return color.NRGBA{0xff, 0xff, 0xff, 0xff} }
func black() color.NRGBA { return color.NRGBA{0x00, 0x00, 0x00, 0xff} }

// limitPen draws limits, barPen intervals.
func limitPen() pen { return pen{width: 1, tint: grey(), dash: 5, gap: 3} }

func barPen(tint color.NRGBA) pen {
	tint.A = 0x90
	return pen{width: 1.1, tint: tint}
}
