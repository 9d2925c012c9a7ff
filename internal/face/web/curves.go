package web

import (
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// drawn is the maximum number of contenders in a chart.
const drawn = colours

// limits are those of a plan in milliseconds; 0 = none.
func limits(p *plan.Response) (ttft, tpot float64) {
	l := p.Request.Limits
	return l.TTFT.Ms(), l.TPOT.Ms()
}

// frontier is throughput against speed for each contender, whose points open its view.
func frontier(p *plan.Response, views []string) *chart {
	c := &chart{
		ID: "frontier", Title: "Throughput against speed",
		About: "Tokens per second per GPU against tokens per second per user, one line per contender; rings are the chosen points, with 80 % intervals.",
		X:     axis{Title: "tokens/s per user"}, Y: axis{Title: "tokens/s per GPU"},
	}
	for i := range p.Contenders[:min(drawn, len(p.Contenders))] {
		k := &p.Contenders[i]
		s := series{Name: k.Name, Colour: i + 1, Points: true, Opens: views[i]}
		for _, f := range k.Frontier {
			s.X, s.Y, s.Notes = append(s.X, f.User), append(s.Y, f.Device), append(s.Notes, note(&f))
		}
		user, gpu := k.TokensPerUser.Zero(), k.TokensPerGPU
		if len(s.X) == 0 && user.Value > 0 {
			s.X, s.Y = []float64{user.Value}, []float64{gpu.Value}
		}
		c.Series = append(c.Series, s)
		if k.Meets && user.Value > 0 {
			c.Marks = append(c.Marks, mark{k.Name + ", chosen", i + 1, user.Value, user.Low, user.High, gpu.Value, gpu.Low, gpu.High})
		}
	}
	if _, tpot := limits(p); tpot > 0 && tpot < never {
		c.Limits = []limit{{"TPOT " + milliseconds(tpot), true, 1e3 / tpot}}
	}
	return c.fit()
}

// note is the deployment of a point: "4 replicas of TP=2, 8 GPUs, TTFT 120 ms, TPOT 9.5 ms, $4.10 per 1 M tokens".
func note(f *experiment.Speed) string {
	if f.Deployment == "" {
		return ""
	}
	out := f.Deployment + ", " + gpus(f.GPUs) + ", TTFT " + milliseconds(f.TTFT) + ", TPOT " + milliseconds(f.TPOT)
	if f.PerMillion > 0 {
		out += ", " + dollars(f.PerMillion) + " per 1 M tokens"
	}
	return out
}

// never is a limit in milliseconds that never applies.
const never = 1e12

// loads are the figures of the best contender against the requests in flight.
func loads(p *plan.Response) []*chart {
	if len(p.Loads) == 0 {
		return nil
	}
	ttft, tpot := limits(p)
	// Beside the statistic that was asked for is the mean, or the 95th percentile.
	beside := func(mean, p95 *figures.Estimate) float64 {
		if p.Request.At() > 0 {
			return mean.Zero().Value
		}
		return p95.Zero().Value
	}
	throughput := loadChart(p, "load-throughput", "Throughput", "tokens/s", func(l *plan.Load) (figures.Estimate, float64) { return l.Tokens, 0 })
	first := loadChart(p, "load-ttft", "Time to first token", "TTFT, ms", func(l *plan.Load) (figures.Estimate, float64) {
		return l.Judged.TTFT.Zero(), beside(l.Mean.TTFT, l.P95.TTFT)
	})
	each := loadChart(p, "load-tpot", "Time per output token", "TPOT, ms", func(l *plan.Load) (figures.Estimate, float64) {
		return l.Judged.TPOT.Zero(), beside(l.Mean.TPOT, l.P95.TPOT)
	})
	for _, x := range []struct {
		to *chart
		at float64
	}{{first, ttft}, {each, tpot}} {
		if x.at > 0 && x.at < never {
			x.to.Limits = append(x.to.Limits, limit{"limit " + milliseconds(x.at), false, x.at})
		}
	}
	out := []*chart{throughput, first, each}
	for _, c := range out {
		c.fit()
	}
	return out
}

func loadChart(p *plan.Response, id, title, unit string, of func(*plan.Load) (judged figures.Estimate, beside float64)) *chart {
	judged, beside := series{Name: p.Request.Named(), Colour: 1, Points: true}, series{Name: "95th percentile", Colour: 2, Dash: true}
	if p.Request.At() > 0 {
		beside.Name = "mean"
	}
	for i := range p.Loads {
		l := &p.Loads[i]
		x := float64(l.Concurrency)
		at, other := of(l)
		judged.X, judged.Y = append(judged.X, x), append(judged.Y, at.Value)
		judged.Low, judged.High = append(judged.Low, at.Low), append(judged.High, at.High)
		if other > 0 {
			beside.X, beside.Y = append(beside.X, x), append(beside.Y, other)
		}
	}
	c := &chart{
		ID: id, Title: title, About: title + " (" + unit + ") against requests in flight, with the 80 % interval of the " + judged.Name + ".",
		X: axis{Title: "requests in flight", Log: true}, Y: axis{Title: unit}, Series: []series{judged},
	}
	if len(beside.X) > 0 {
		c.Series = append(c.Series, beside)
	} else {
		c.Series[0].Name = unit
		c.About = title + " (" + unit + ") against requests in flight, with its 80 % interval."
	}
	if len(p.Contenders) > 0 && p.Contenders[0].Concurrency > 0 {
		c.Limits = []limit{{"chosen: " + whole(p.Contenders[0].Concurrency), true, float64(p.Contenders[0].Concurrency)}}
	}
	return c
}

// timeline is the state of the cluster over the simulated run.
func timeline(p *plan.Response) []*chart {
	if len(p.Timeline) == 0 {
		return nil
	}
	running, waiting := series{Name: "running", Colour: 1}, series{Name: "waiting", Colour: 2, Dash: true}
	kv := series{Name: "KV cache in use", Colour: 3}
	for _, m := range thinned(p.Timeline, moments) {
		for _, x := range []struct {
			to *series
			y  float64
		}{{&running, float64(m.Running)}, {&waiting, float64(m.Waiting)}, {&kv, m.KV}} {
			x.to.X, x.to.Y = append(x.to.X, float64(m.At)), append(x.to.Y, x.y)
		}
	}
	end := float64(p.Timeline[len(p.Timeline)-1].At)
	requests := &chart{
		ID: "timeline-requests", Title: "Requests", About: "Requests running and waiting over the seconds of the simulated run.",
		X: axis{Title: "seconds", Max: end}, Y: axis{Title: "requests"}, Series: []series{running, waiting},
	}
	cache := &chart{
		ID: "timeline-kv", Title: "KV cache", About: "Share of the KV cache in use over the seconds of the simulated run.",
		X: axis{Title: "seconds", Max: end}, Y: axis{Title: "share in use", Share: true}, Series: []series{kv},
	}
	return []*chart{requests.fit(), cache.fit()}
}

// moments is the number of points in a chart of the run.
const moments = 240

// thinned keeps about most of the values, evenly spaced; the last one stays.
func thinned[T any](values []T, most int) []T {
	every := (len(values) + most - 1) / most
	if every <= 1 {
		return values
	}
	out := make([]T, 0, most+1)
	for i := 0; i < len(values); i += every {
		out = append(out, values[i])
	}
	if (len(values)-1)%every != 0 {
		out = append(out, values[len(values)-1])
	}
	return out
}

// day is the load over a day and the GPUs it needs.
func day(p *plan.Response) []*chart {
	if p.Day == nil || len(p.Day.Rates) == 0 {
		return nil
	}
	rates, gpus := series{Name: "requests/s", Colour: 1, Step: true}, series{Name: "GPUs", Colour: 3, Step: true}
	hour := 24 / float64(len(p.Day.Rates))
	put := func(to *series, at int, y float64) { to.X, to.Y = append(to.X, hour*float64(at)), append(to.Y, y) }
	for i, r := range p.Day.Rates {
		put(&rates, i, r)
	}
	put(&rates, len(p.Day.Rates), p.Day.Rates[len(p.Day.Rates)-1])
	for i, n := range p.Day.GPUs {
		put(&gpus, i, float64(n))
	}
	if n := len(p.Day.GPUs); n > 0 {
		put(&gpus, n, float64(p.Day.GPUs[n-1]))
	}
	load := &chart{
		ID: "day-rate", Title: "Load", About: "Requests per second over the hours of a day.",
		X: axis{Title: "hour of the day", Max: 24}, Y: axis{Title: "requests/s"}, Series: []series{rates},
	}
	need := &chart{
		ID: "day-gpus", Title: "GPUs needed", About: "GPUs needed over the hours of a day.",
		X: axis{Title: "hour of the day", Max: 24}, Y: axis{Title: "GPUs"}, Series: []series{gpus},
	}
	return []*chart{load.fit(), need.fit()}
}
