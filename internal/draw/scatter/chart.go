// Package scatter is what a scatter plot shows, and the ranges of its axes.
//
// In: points, limits and intervals. Out: a [Chart] to draw, the [Span] of each of its axes with some room around the points,
// and the [Step] between round numbers on them. It does not know how a plot is drawn, nor how its numbers are written: chart
// and termplot do both in their own way and agree in the rest. Start at [Chart].
package scatter

// Point is a place in the plot. NaN, infinities and magnitudes above 1e300 are left out.
type Point struct {
	X, Y float64
	Mark bool // stands out from the others
}

// Drawable reports whether the point has a place.
func (p Point) Drawable() bool { return Drawable(p.X) && Drawable(p.Y) }

// Series is points of one colour and glyph, under one name in the legend. Without a name it is not in the legend.
// Earlier series are drawn over later ones, and marked points over the others.
type Series struct {
	Name   string
	Points []Point
}

// Limit is a dashed line across the plot at an x (Vertical) or a y. One that is far from all points is not drawn, since the
// points would shrink into a corner; the legend says so.
type Limit struct {
	Name     string
	Vertical bool
	At       float64
}

// Bar is an interval around a place, drawn as a line under the points: from Low to High along y (Vertical) or x. What is
// out of view is cut off.
type Bar struct {
	Series    int // whose colour it has
	X, Y      float64
	Low, High float64
	Vertical  bool
}

// In cuts the bar to what is in view of the axes, and says whether anything is.
func (b *Bar) In(x, y Span) (low, high float64, ok bool) {
	along := x
	if b.Vertical {
		along = y
	}
	low, high, ok = along.Clip(b.Low, b.High)
	return low, high, ok && x.Holds(b.X) && y.Holds(b.Y)
}

// Chart is one scatter plot.
type Chart struct {
	Title, XLabel, YLabel string

	Series []Series
	Limits []Limit
	Bars   []Bar

	// Interval says in the legend what the bars are.
	Interval string
	// Marked and Unmarked say in the legend what points that stand out and others mean ("within the limits", "over a
	// limit").
	Marked, Unmarked string
}

// Axes are the ranges to draw; ok says that there is a point in them.
func (c *Chart) Axes() (x, y Span, ok bool) {
	var xs, ys []float64
	for _, s := range c.Series {
		for _, pt := range s.Points {
			if pt.Drawable() {
				xs, ys = append(xs, pt.X), append(ys, pt.Y)
			}
		}
	}
	if ok = len(xs) > 0; !ok {
		xs, ys = []float64{0}, []float64{0}
	}
	var vertical, horizontal []float64
	for _, l := range c.Limits {
		if l.Vertical {
			vertical = append(vertical, l.At)
		} else {
			horizontal = append(horizontal, l.At)
		}
	}
	return Around(xs, vertical), Around(ys, horizontal), ok
}
