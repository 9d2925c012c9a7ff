package web

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/draw/scatter"
)

// chart is lines over an axis. The script draws it from its JSON.
type chart struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	// About describes the chart in a sentence.
	About  string   `json:"about"`
	X      axis     `json:"x"`
	Y      axis     `json:"y"`
	Series []series `json:"series"`
	Marks  []mark   `json:"marks,omitempty"`
	Limits []limit  `json:"limits,omitempty"`
}

// axis is one of a chart. Its range is filled in by [chart.fit].
type axis struct {
	Title string  `json:"title"`
	Log   bool    `json:"log,omitempty"`
	Share bool    `json:"share,omitempty"` // written as per cent
	Min   float64 `json:"min"`
	Max   float64 `json:"max"` // a range that is set stays
}

// series is a line, with a band from Low to High if they are set.
type series struct {
	Name   string    `json:"name"`
	Colour int       `json:"colour"` // from 1
	Dash   bool      `json:"dash,omitempty"`
	Step   bool      `json:"step,omitempty"` // values hold until the next
	Points bool      `json:"points,omitempty"`
	X      []float64 `json:"xs"`
	Y      []float64 `json:"ys"`
	Low    []float64 `json:"low,omitempty"`
	High   []float64 `json:"high,omitempty"`
	// Notes are words about the points, "" where there are none.
	Notes []string `json:"notes,omitempty"`
	// Opens names the view of the contender that a click at the line opens.
	Opens string `json:"opens,omitempty"`
}

// mark is a point that stands out, with its intervals.
type mark struct {
	Name   string  `json:"name"`
	Colour int     `json:"colour"`
	X      float64 `json:"x"`
	XLow   float64 `json:"x_low"`
	XHigh  float64 `json:"x_high"`
	Y      float64 `json:"y"`
	YLow   float64 `json:"y_low"`
	YHigh  float64 `json:"y_high"`
}

// limit is a line across the chart.
type limit struct {
	Name     string  `json:"name"`
	Vertical bool    `json:"vertical,omitempty"`
	At       float64 `json:"at"`
}

// colours is the number of colours of series; further series repeat them, dashed.
const colours = 6

// fit computes the ranges of the axes and drops points that cannot be drawn.
func (c *chart) fit() *chart {
	var xs, ys, atX, atY []float64
	for i := range c.Series {
		s := &c.Series[i]
		s.clean(c.X.Log, c.Y.Log)
		xs, ys = append(xs, s.X...), append(ys, s.Y...)
		ys = append(append(ys, s.Low...), s.High...)
	}
	c.Marks = slices.DeleteFunc(c.Marks, func(m mark) bool {
		return !scatter.Drawable(m.X) || !scatter.Drawable(m.Y)
	})
	for _, m := range c.Marks {
		xs, ys = append(xs, m.X, m.XLow, m.XHigh), append(ys, m.Y, m.YLow, m.YHigh)
	}
	for _, l := range c.Limits {
		if l.Vertical {
			atX = append(atX, l.At)
		} else {
			atY = append(atY, l.At)
		}
	}
	c.X.fit(xs, atX)
	c.Y.fit(ys, atY)
	c.Limits = slices.DeleteFunc(c.Limits, func(l limit) bool {
		a := c.Y
		if l.Vertical {
			a = c.X
		}
		return !(scatter.Span{Lo: a.Min, Hi: a.Max}).Holds(l.At)
	})
	return c
}

// clean drops points that cannot be drawn, with their notes.
func (s *series) clean(logX, logY bool) {
	bad := func(v float64, log bool) bool { return !scatter.Drawable(v) || log && v <= 0 }
	n := min(len(s.X), len(s.Y))
	banded := len(s.Low) >= n && len(s.High) >= n && n > 0
	out := *s
	out.X, out.Y, out.Low, out.High, out.Notes = nil, nil, nil, nil, nil
	for i := range n {
		if bad(s.X[i], logX) || bad(s.Y[i], logY) || banded && (bad(s.Low[i], logY) || bad(s.High[i], logY)) {
			continue
		}
		out.X, out.Y = append(out.X, s.X[i]), append(out.Y, s.Y[i])
		if banded {
			out.Low, out.High = append(out.Low, s.Low[i]), append(out.High, s.High[i])
		}
		if i < len(s.Notes) {
			out.Notes = append(out.Notes, s.Notes[i])
		}
	}
	*s = out
}

func (a *axis) fit(values, limits []float64) {
	values = slices.DeleteFunc(values, func(v float64) bool { return !scatter.Drawable(v) || a.Log && v <= 0 })
	if len(values) == 0 {
		a.Min, a.Max, a.Log = 0, 1, false
		return
	}
	if a.Max > a.Min {
		return
	}
	if a.Log {
		a.Min, a.Max = slices.Min(values)/1.15, slices.Max(values)*1.15
		return
	}
	span := scatter.Around(values, limits)
	a.Min, a.Max = span.Lo, span.Hi
	if a.Min > 0 && a.Min < a.Max/2 {
		a.Min = 0
	}
	if a.Share {
		a.Min, a.Max = 0, max(1, a.Max)
	}
}

// Empty reports whether there is nothing to draw.
func (c *chart) Empty() bool {
	return !slices.ContainsFunc(c.Series, func(s series) bool { return len(s.X) > 0 })
}

// ticks are the labelled positions of an axis, about most of them.
func (a *axis) ticks(most int) (at []float64) {
	if a.Log {
		return a.logTicks(most)
	}
	at, _ = scatter.Span{Lo: a.Min, Hi: a.Max}.Round(most + 1)
	return at
}

func (a *axis) logTicks(most int) (at []float64) {
	low, high := math.Floor(math.Log10(a.Min)), math.Log10(a.Max)
	stride, digits := math.Ceil((high-low)/float64(most)), []float64{1}
	if high-low < 4 {
		digits = []float64{1, 2, 5}
	}
	for power := low; power <= high; power += stride {
		for _, digit := range digits {
			if v := digit * math.Pow(10, power); v >= a.Min && v <= a.Max {
				at = append(at, v)
			}
		}
	}
	return at
}

// label writes a position on the axis.
func (a *axis) label(v float64) string {
	if a.Share {
		return number(math.Round(100*v)) + "\u00a0%"
	}
	return number(v)
}

// encoded is charts for the script, rounded to the precision of a picture.
func encoded(charts []*chart) ([]byte, error) {
	byID := map[string]*chart{}
	for _, c := range charts {
		short := *c
		short.Series = slices.Clone(c.Series)
		for i := range short.Series {
			s := &short.Series[i]
			s.X, s.Y, s.Low, s.High = rounded(s.X), rounded(s.Y), rounded(s.Low), rounded(s.High)
		}
		byID[c.ID] = &short
	}
	return json.Marshal(byID)
}

// rounded keeps five significant digits.
func rounded(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i], _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 5, 64), 64)
	}
	return out
}
