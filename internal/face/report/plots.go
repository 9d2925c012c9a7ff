package report

import (
	"fmt"
	"io"

	"github.com/plimsoll-project/plimsoll/internal/draw/chart"
	"github.com/plimsoll-project/plimsoll/internal/draw/scatter"
	"github.com/plimsoll-project/plimsoll/internal/draw/termplot"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// plots draws the sweep of a single device in the terminal: throughput against
// concurrency and against the latency of the phase.
func plots(w io.Writer, model string, d *optimize.Device, v OptimizeView) {
	for _, c := range charts(model, d) {
		if len(c.Series) == 0 {
			continue // nothing fits in memory, as printed above
		}
		p := termplot.Plot{Chart: c, Width: v.Width, Color: v.Color}
		fmt.Fprintln(w)
		p.Render(w)
	}
}

// PlotFile draws the sweep of every device to a file, as PNG or SVG.
func PlotFile(w io.Writer, format string, r *optimize.Response) error {
	var all []scatter.Chart
	for i := range r.Devices {
		all = append(all, charts(r.Model, &r.Devices[i])...)
	}
	return chart.Write(w, format, all)
}

// charts are the two charts of each search; for a ratio, those of its decode.
func charts(model string, d *optimize.Device) []scatter.Chart {
	var out []scatter.Chart
	for k := range d.Searches {
		p := &d.Searches[k]
		if d.Ratio != nil && p.Mode == search.PrefillOnly {
			continue
		}
		title := fmt.Sprintf("%s, %s on %d × %s", model, p.Mode, p.NumDevices, d.Name)
		out = append(out, concurrencyChart(title, p), latencyChart(title, p))
	}
	return out
}

// The names of points in the legend.
const (
	within = "within the limits"
	over   = "over a limit"
	likely = "80 % interval of the best batch"
)

func concurrencyChart(title string, p *optimize.Search) scatter.Chart {
	c := scatter.Chart{
		Title: title + ": throughput and concurrency", XLabel: "concurrency", YLabel: "tokens/s",
		Marked: within, Unmarked: over, Interval: likely,
	}
	sweep(&c, p, func(o *figures.Outcome) float64 { return float64(o.Concurrency) }, func(e *calibration.Expected, b *scatter.Bar) {
		b.Low, b.High = e.Throughput.Interval(b.Y)
		b.Vertical = true
	})
	return c
}

func latencyChart(title string, p *optimize.Search) scatter.Chart {
	name, limit := "TPOT", p.Limits.TPOT
	time := func(o *figures.Outcome) float64 { return o.TPOT.Ms() }
	off := func(e *calibration.Expected) calibration.Error { return e.TPOT }
	if p.Mode == search.PrefillOnly {
		name, limit = "TTFT", p.Limits.TTFT
		time = func(o *figures.Outcome) float64 { return o.TTFT.Ms() }
		off = func(e *calibration.Expected) calibration.Error { return e.TTFT }
	}
	c := scatter.Chart{Title: title + ": throughput and " + name, XLabel: name + " (ms)", YLabel: "tokens/s", Marked: within, Unmarked: over, Interval: likely}
	sweep(&c, p, time, func(e *calibration.Expected, b *scatter.Bar) { b.Low, b.High = off(e).Interval(b.X) })
	if limit > 0 {
		c.Limits = []scatter.Limit{{Name: name + " limit", Vertical: true, At: limit.Ms()}}
	}
	return c
}

// sweep adds the points of each layout, all that fit in memory, those inside
// the limits marked, and the interval of its best batch.
func sweep(c *scatter.Chart, p *optimize.Search, x func(*figures.Outcome) float64, interval func(*calibration.Expected, *scatter.Bar)) {
	judge := search.Judge{Limits: p.Limits}
	for k := range p.Candidates {
		r := &p.Candidates[k]
		if len(r.Points) == 0 {
			continue
		}
		s := scatter.Series{Name: r.Label}
		for i := range r.Points {
			o := &r.Points[i]
			s.Points = append(s.Points, scatter.Point{X: x(o), Y: o.Throughput, Mark: judge.Verdict(o, nil) == search.Fits})
		}
		if r.OK {
			b := scatter.Bar{Series: len(c.Series), X: x(&r.Best.Best), Y: r.Best.Best.Throughput}
			interval(&r.Best.Expected, &b)
			c.Bars = append(c.Bars, b)
		}
		c.Series = append(c.Series, s)
	}
}
