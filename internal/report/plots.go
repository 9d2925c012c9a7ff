package report

import (
	"fmt"
	"io"

	"plimsoll/internal/app"
	"plimsoll/internal/calibrate"
	"plimsoll/internal/chart"
	"plimsoll/internal/search"
	"plimsoll/internal/serving"
	"plimsoll/internal/termplot"
)

// plots draws the sweep of a single device in the terminal: throughput against
// concurrency, and against the latency of the phase, whether it keeps its limit
// or not.
func plots(w io.Writer, d *app.DeviceResult, v OptimizeView) {
	for _, c := range charts(d) {
		if len(c.Series) == 0 {
			continue // nothing fits in memory, which was said
		}
		p := termplot.Plot{
			Title: c.Title, XLabel: c.XLabel, YLabel: c.YLabel,
			Marked: c.Marked, Unmarked: c.Unmarked, Interval: c.Interval, Width: v.Width, Color: v.Color,
		}
		for _, s := range c.Series {
			points := make([]termplot.Point, len(s.Points))
			for i, x := range s.Points {
				points[i] = termplot.Point(x)
			}
			p.Series = append(p.Series, termplot.Series{Name: s.Name, Points: points})
		}
		for _, l := range c.Limits {
			p.Limits = append(p.Limits, termplot.Limit(l))
		}
		for _, b := range c.Bars {
			p.Bars = append(p.Bars, termplot.Bar(b))
		}
		fmt.Fprintln(w)
		p.Render(w)
	}
}

// PlotFile draws the sweep of every device to a file, as PNG or SVG.
func PlotFile(w io.Writer, format string, r *app.OptimizeResponse) error {
	var all []chart.Chart
	for i := range r.Devices {
		all = append(all, charts(&r.Devices[i])...)
	}
	return chart.Write(w, format, all)
}

// charts are the two pictures of each pass; of a ratio, those of its decode.
func charts(d *app.DeviceResult) []chart.Chart {
	var out []chart.Chart
	for k := range d.Passes {
		p := &d.Passes[k]
		if d.Ratio != nil && p.Mode == search.PrefillOnly {
			continue
		}
		title := fmt.Sprintf("%s, %s on %d × %s", p.Problem.Spec.Model.ID, app.Phase(p.Mode), p.NumDevices, d.Device.Name)
		out = append(out, concurrencyChart(title, p), latencyChart(title, p))
	}
	return out
}

// The legend's words for points.
const (
	within = "within the limits"
	over   = "over a limit"
	likely = "80 % interval of the best batch"
)

func concurrencyChart(title string, p *app.Pass) chart.Chart {
	c := chart.Chart{
		Title: title + ": throughput and concurrency", XLabel: "concurrency", YLabel: "tokens/s",
		Marked: within, Unmarked: over, Interval: likely,
	}
	sweep(&c, p, func(o *serving.Outcome) float64 { return float64(o.Concurrency) }, func(e *calibrate.Expected, b *chart.Bar) {
		b.Low, b.High = e.Throughput.Interval(b.Y)
		b.Vertical = true
	})
	return c
}

func latencyChart(title string, p *app.Pass) chart.Chart {
	c := chart.Chart{YLabel: "tokens/s", Marked: within, Unmarked: over, Interval: likely}
	if p.Mode == search.PrefillOnly {
		c.Title, c.XLabel = title+": throughput and TTFT", "TTFT (ms)"
		sweep(&c, p, func(o *serving.Outcome) float64 { return o.TTFT.Ms() }, func(e *calibrate.Expected, b *chart.Bar) {
			b.Low, b.High = e.TTFT.Interval(b.X)
		})
		if l := p.Limits.TTFT; l > 0 {
			c.Limits = []chart.Limit{{Name: "TTFT limit", Vertical: true, At: l.Ms()}}
		}
		return c
	}
	c.Title, c.XLabel = title+": throughput and TPOT", "TPOT (ms)"
	sweep(&c, p, func(o *serving.Outcome) float64 { return o.TPOT.Ms() }, func(e *calibrate.Expected, b *chart.Bar) {
		b.Low, b.High = e.TPOT.Interval(b.X)
	})
	if l := p.Limits.TPOT; l > 0 {
		c.Limits = []chart.Limit{{Name: "TPOT limit", Vertical: true, At: l.Ms()}}
	}
	return c
}

// sweep adds the points of each layout, all that fit in memory, those inside
// the limits marked, and the interval of its best batch.
func sweep(c *chart.Chart, p *app.Pass, x func(*serving.Outcome) float64, interval func(*calibrate.Expected, *chart.Bar)) {
	for k := range p.Results {
		r := &p.Results[k]
		if len(r.Points) == 0 {
			continue
		}
		s := chart.Series{Name: r.Label}
		for i := range r.Points {
			o := &r.Points[i]
			s.Points = append(s.Points, chart.Point{X: x(o), Y: o.Throughput, Mark: p.Limits.Keeps(o)})
		}
		if r.OK {
			e := p.Expect(r, &r.Best)
			b := chart.Bar{Series: len(c.Series), X: x(&r.Best), Y: r.Best.Throughput}
			interval(&e, &b)
			c.Bars = append(c.Bars, b)
		}
		c.Series = append(c.Series, s)
	}
}
