package chart

import (
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// raster draws a picture in dots.
type raster struct {
	dots  *image.RGBA
	scale float64 // dots in a point
	high  float64
	pen   vector.Rasterizer
}

// newRaster begins a picture of a size, white.
func newRaster(wide, high float64, dpi int) *raster {
	r := &raster{scale: float64(dpi) / 72, high: high}
	r.dots = image.NewRGBA(image.Rect(0, 0, int(math.Round(wide*r.scale)), int(math.Round(high*r.scale))))
	draw.Draw(r.dots, r.dots.Bounds(), image.White, image.Point{}, draw.Src)
	return r
}

func (r *raster) writeTo(w io.Writer) error { return png.Encode(w, r.dots) }

// place turns a place in points into one in dots, where y grows downwards.
func (r *raster) place(p point) point { return point{p.X * r.scale, (r.high - p.Y) * r.scale} }

func (r *raster) fill(s shape, tint color.NRGBA) {
	if s.radius > 0 {
		r.paint([][]point{disc(r.place(s.corners[0]), s.radius*r.scale, 1)}, tint)
		return
	}
	r.paint([][]point{r.corners(s)}, tint)
}

func (r *raster) corners(s shape) []point {
	out := make([]point, len(s.corners))
	for i, c := range s.corners {
		out[i] = r.place(c)
	}
	return out
}

// stroke fills the band along a line: a rectangle for each straight part and a disc where two meet. All loops run the same way
// round, so that where they overlap nothing cancels.
func (r *raster) stroke(s shape, p pen) {
	half := p.width * r.scale / 2
	if s.radius > 0 {
		at, radius := r.place(s.corners[0]), s.radius*r.scale
		r.paint([][]point{disc(at, radius+half, 1), disc(at, radius-half, -1)}, p.tint)
		return
	}
	corners := r.corners(s)
	if s.closed {
		corners = append(corners, corners[0])
	}
	var loops [][]point
	for i, to := range corners[1:] {
		for _, part := range dashes(corners[i], to, p.dash*r.scale, p.gap*r.scale) {
			loops = append(loops, band(part[0], part[1], half))
		}
		if s.closed || i > 0 {
			loops = append(loops, disc(corners[i], half, 1))
		}
	}
	r.paint(loops, p.tint)
}

// dashes cuts a line into dashes; one without gaps stays whole.
func dashes(from, to point, dash, gap float64) [][2]point {
	if dash <= 0 {
		return [][2]point{{from, to}}
	}
	length := math.Hypot(to.X-from.X, to.Y-from.Y)
	along := func(d float64) point {
		part := min(d/length, 1)
		return point{from.X + part*(to.X-from.X), from.Y + part*(to.Y-from.Y)}
	}
	var out [][2]point
	for d := 0.0; d < length; d += dash + gap {
		out = append(out, [2]point{along(d), along(d + dash)})
	}
	return out
}

// band is the rectangle around a line, as far as half to each side.
func band(from, to point, half float64) []point {
	length := math.Hypot(to.X-from.X, to.Y-from.Y)
	if length == 0 {
		return nil
	}
	x, y := (to.Y-from.Y)/length*half, (from.X-to.X)/length*half
	return []point{{from.X + x, from.Y + y}, {to.X + x, to.Y + y}, {to.X - x, to.Y - y}, {from.X - x, from.Y - y}}
}

// disc is a circle as a polygon, one way round (1) or the other (-1).
func disc(at point, radius, way float64) []point {
	if radius <= 0 {
		return nil
	}
	const corners = 48 // of a radius of 7 dots; the polygon is then within 0.02 dots of the circle
	out := make([]point, corners)
	for i := range out {
		sin, cos := math.Sincos(way * 2 * math.Pi * float64(i) / corners)
		out[i] = point{at.X + radius*cos, at.Y + radius*sin}
	}
	return out
}

// paint fills closed loops with a colour.
func (r *raster) paint(loops [][]point, tint color.NRGBA) {
	low, high := point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	for _, loop := range loops {
		for _, p := range loop {
			low = point{min(low.X, p.X), min(low.Y, p.Y)}
			high = point{max(high.X, p.X), max(high.Y, p.Y)}
		}
	}
	r.within(low, high, tint, func(x, y float64) {
		for _, loop := range loops {
			for i, p := range loop {
				if at := [2]float32{float32(p.X - x), float32(p.Y - y)}; i == 0 {
					r.pen.MoveTo(at[0], at[1])
				} else {
					r.pen.LineTo(at[0], at[1])
				}
			}
			r.pen.ClosePath()
		}
	})
}

// within lets trace draw, relative to the place it is given, what lies between two corners, and fills that with a colour.
func (r *raster) within(low, high point, tint color.NRGBA, trace func(x, y float64)) {
	part := image.Rect(int(math.Floor(low.X)), int(math.Floor(low.Y)), int(math.Ceil(high.X)), int(math.Ceil(high.Y))).Intersect(r.dots.Bounds())
	if part.Empty() {
		return
	}
	r.pen.Reset(part.Dx(), part.Dy())
	trace(float64(part.Min.X), float64(part.Min.Y))
	r.pen.Draw(r.dots, part, image.NewUniform(tint), image.Point{})
}

// write fills the outlines of the glyphs, so that a turned text is as sharp as another.
func (r *raster) write(text string, l lettering, at point, upright bool) {
	var b sfnt.Buffer
	em := fixed.Int26_6(math.Round(l.size * r.scale * 64))
	from := r.place(at)
	l.each(text, em, func(glyph sfnt.GlyphIndex, along fixed.Int26_6) {
		outline, err := l.font.LoadGlyph(&b, glyph, em, nil)
		if err != nil || len(outline) == 0 {
			return
		}
		where := func(p fixed.Point26_6) point {
			x, y := float64(p.X+along)/64, float64(p.Y)/64
			if upright {
				x, y = y, -x
			}
			return point{from.X + x, from.Y + y}
		}
		edge := outline.Bounds()
		a, c := where(edge.Min), where(edge.Max)
		r.within(point{min(a.X, c.X), min(a.Y, c.Y)}, point{max(a.X, c.X), max(a.Y, c.Y)}, l.tint, func(x, y float64) {
			r.glyph(outline, func(p fixed.Point26_6) (float32, float32) {
				at := where(p)
				return float32(at.X - x), float32(at.Y - y)
			})
		})
	})
}

// glyph traces an outline.
func (r *raster) glyph(outline sfnt.Segments, where func(fixed.Point26_6) (x, y float32)) {
	for _, s := range outline {
		x, y := where(s.Args[0])
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			r.pen.ClosePath()
			r.pen.MoveTo(x, y)
		case sfnt.SegmentOpLineTo:
			r.pen.LineTo(x, y)
		case sfnt.SegmentOpQuadTo:
			x1, y1 := where(s.Args[1])
			r.pen.QuadTo(x, y, x1, y1)
		case sfnt.SegmentOpCubeTo:
			x1, y1 := where(s.Args[1])
			x2, y2 := where(s.Args[2])
			r.pen.CubeTo(x, y, x1, y1, x2, y2)
		}
	}
	r.pen.ClosePath()
}
