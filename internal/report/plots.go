package report

import (
	"fmt"
	"io"

	"plimsoll/internal/app"
	"plimsoll/internal/chart"
	"plimsoll/internal/search"
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
			Marked: c.Marked, Unmarked: c.Unmarked, Width: v.Width, Color: v.Color,
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
)

func concurrencyChart(title string, p *app.Pass) chart.Chart {
	c := chart.Chart{
		Title: title + ": throughput and concurrency", XLabel: "concurrency", YLabel: "tokens/s",
		Marked: within, Unmarked: over,
	}
	c.Series = series(p, func(r *search.Result, i int) float64 { return float64(r.Points[i].Concurrency) })
	return c
}

func latencyChart(title string, p *app.Pass) chart.Chart {
	c := chart.Chart{YLabel: "tokens/s", Marked: within, Unmarked: over}
	if p.Mode == search.PrefillOnly {
		c.Title, c.XLabel = title+": throughput and TTFT", "TTFT (ms)"
		c.Series = series(p, func(r *search.Result, i int) float64 { return r.Points[i].TTFT.Ms() })
		if l := p.Limits.TTFT; l > 0 {
			c.Limits = []chart.Limit{{Name: "TTFT limit", Vertical: true, At: l.Ms()}}
		}
		return c
	}
	c.Title, c.XLabel = title+": throughput and TPOT", "TPOT (ms)"
	c.Series = series(p, func(r *search.Result, i int) float64 { return r.Points[i].TPOT.Ms() })
	if l := p.Limits.TPOT; l > 0 {
		c.Limits = []chart.Limit{{Name: "TPOT limit", Vertical: true, At: l.Ms()}}
	}
	return c
}

// series are the points of each layout: all that fit in memory, those inside
// the limits marked.
func series(p *app.Pass, x func(*search.Result, int) float64) []chart.Series {
	var out []chart.Series
	for k := range p.Results {
		r := &p.Results[k]
		if len(r.Points) == 0 {
			continue
		}
		s := chart.Series{Name: r.Label}
		for i := range r.Points {
			s.Points = append(s.Points, chart.Point{X: x(r, i), Y: r.Points[i].Throughput, Mark: p.Limits.Keeps(&r.Points[i])})
		}
		out = append(out, s)
	}
	return out
}
