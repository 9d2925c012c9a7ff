package chart

import (
	"image/color"
)

// hue returns the colour of a series. The colours are distinct with any kind of colour blindness: Okabe and Ito,
// "Color Universal Design", 2008, without black, which the text has, and yellow, which is faint on white.
func hue(series int) color.NRGBA {
	return []color.NRGBA{
		{0x00, 0x72, 0xb2, 0xff}, // blue
		{0xd5, 0x5e, 0x00, 0xff}, // vermilion
		{0x00, 0x9e, 0x73, 0xff}, // bluish green
		{0xcc, 0x79, 0xa7, 0xff}, // reddish purple
		{0xe6, 0x9f, 0x00, 0xff}, // orange
		{0x56, 0xb4, 0xe9, 0xff}, // sky blue
	}[series%6]
}

// glyphOf returns the shape of a series around a place. There are five, against six colours, so that thirty series differ.
func glyphOf(series int, at point) shape {
	const radius = 3.4 // of the circle, in points; the others are so large that they look as heavy
	var corners [][2]float64
	switch series % 5 {
	case 0:
		return shape{corners: []point{at}, closed: true, radius: radius}
	case 1: // square
		corners = [][2]float64{{-.9, -.9}, {.9, -.9}, {.9, .9}, {-.9, .9}}
	case 2: // triangle
		corners = [][2]float64{{-1.15, -.85}, {1.15, -.85}, {0, 1.2}}
	case 3: // diamond
		corners = [][2]float64{{-1.25, 0}, {0, -1.25}, {1.25, 0}, {0, 1.25}}
	case 4: // triangle that points down
		corners = [][2]float64{{-1.15, .85}, {0, -1.2}, {1.15, .85}}
	}
	s := shape{closed: true}
	for _, corner := range corners {
		s.corners = append(s.corners, point{at.X + corner[0]*radius, at.Y + corner[1]*radius})
	}
	return s
}

// drawGlyph draws a point. A filled one has a white rim, so that points that touch can be counted; a hollow one steps back.
func drawGlyph(on canvas, at point, series int, tint color.NRGBA, filled bool) {
	s := glyphOf(series, at)
	if filled {
		on.fill(s, tint)
		on.stroke(s, pen{width: 0.6, tint: white()})
		return
	}
	tint.A = 0xb0
	on.stroke(s, pen{width: 0.9, tint: tint})
}
