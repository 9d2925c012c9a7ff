package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// view is a plan as the templates of a report show it.
type view struct {
	*plan.Response

	Best     *plan.Contender // nil if there is none
	Headline string          // the first sentence of the answer
	Further  string          // the others
	Groups   []group
	Frontier *chart
	Omitted  int // contenders that the chart leaves out
	Loads    []*chart
	Steps    []stack
	Memories []stack
	Timeline []*chart
	DayCurve []*chart
	Most     float64 // the end of the scale of the contenders' throughput
	Carries  bool    // a load is given, and the answer is the number of GPUs
	Judged   string  // the statistic that limits apply to
	Other    string  // the one shown beside it
	Priced   bool    // a contender has a price
	Octaves  float64 // the ends of the scale of changes
	Ask      string  // the request as JSON
	Verdict  verdict
	// Differences are the changes of an answer, Ways those that help where there is none; SafeAsk is the request of the safe choice.
	Differences []plan.Change
	Ways        []wayOut
	SafeAsk     string
	// PriceList is the prices of the systems with their sources, PriceClass the class that contenders are ranked within.
	PriceList  []string
	PriceClass string
	Picture    *picture // nil where there is none to draw
	Details    []detail // of every contender

	Charts, Record template.JS
	Style          template.CSS
	Script         template.JS
}

// group is numbers at the head of a report that belong together.
type group struct {
	Name    string
	Figures []figure
}

// figure is one of the numbers at the head of a report.
type figure struct {
	Name, Value, Unit, Interval, Note string
	// Bar shows an interval against its limit.
	Bar template.HTML
	Bad bool   // beyond the limit
	Why string // the name of what is behind it
}

// verdict is how far the limits are met.
type verdict struct{ Class, Mark, Words string }

// wayOut is a change that helps, with its request as JSON.
type wayOut struct {
	*plan.Change

	Ask string
}

// price lists the price of a contender's system, once.
func (v *view) price(c *plan.Contender) {
	k := c.Cost
	if k == nil {
		return
	}
	source := k.Source
	if k.Region != "" && !strings.Contains(source, k.Region) {
		source += ", " + k.Region
	}
	if line := c.System + " " + dollars(k.PerGPUHour) + " (" + source + ")"; !slices.Contains(v.PriceList, line) {
		v.PriceList = append(v.PriceList, line)
	}
	if k.Apart == "" && v.PriceClass == "" {
		v.PriceClass = k.Class.InWords()
	}
}

// verdictOf puts the certainty of an answer into a badge.
func verdictOf(p *plan.Response) verdict {
	c := p.Answer.Certainty
	switch {
	case len(p.Contenders) == 0:
		return verdict{"doubtful", "✗", "Does not fit"}
	case c == nil:
		return verdict{"", "", "Without limits"}
	case !p.Answer.Meets:
		return verdict{"doubtful", "✗", "Does not meet the limits. " + c.Words}
	}
	return verdict{string(c.Class), map[plan.CertaintyClass]string{plan.Sure: "✓", plan.Likely: "◐", plan.Doubtful: "✗"}[c.Class], c.Words}
}

// asked is a request as JSON, for the page to send.
func asked(r plan.Request) (string, error) {
	r.NoChanges = false
	data, err := json.Marshal(&r)
	if err != nil {
		return "", fmt.Errorf("writing the request of a change: %w", err)
	}
	return string(data), nil
}

// sortChanges takes the changes apart: those of an answer, and those that help.
func (v *view) sortChanges(p *plan.Response) error {
	if p.Answer.Meets {
		v.Differences = p.Changes
	}
	for i := range p.Changes {
		c := &p.Changes[i]
		ask, err := asked(c.Request)
		switch {
		case err != nil:
			return err
		case !p.Answer.Meets:
			v.Ways = append(v.Ways, wayOut{c, ask})
		case p.Answer.Safe != nil && c.Request.Confidence == p.Answer.Safe.Confidence:
			v.SafeAsk = ask
		}
	}
	return nil
}

func newView(p *plan.Response) (*view, error) {
	views := ids(p)
	v := &view{
		Response: p, Frontier: frontier(p, views), Omitted: max(0, len(p.Contenders)-drawn), Loads: loads(p),
		Octaves: octaves(p.Changes), Steps: steps(p), Memories: memories(p), Timeline: timeline(p), DayCurve: day(p),
	}
	v.Carries = p.Request.Rate > 0 || len(p.Request.Daily) > 0
	v.Judged, v.Other = p.Request.Named(), "p95"
	if p.Request.At() > 0 {
		v.Other = "mean"
	}
	ask, err := json.MarshalIndent(&p.Request, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the request of a plan: %w", err)
	}
	v.Ask, v.Verdict = string(ask), verdictOf(p)
	if err := v.sortChanges(p); err != nil {
		return nil, err
	}
	for i := range p.Contenders {
		c := &p.Contenders[i]
		v.Most = max(v.Most, c.TokensPerGPU.High)
		v.Priced = v.Priced || c.Cost != nil
		v.price(c)
	}
	v.Headline, v.Further, _ = strings.Cut(p.Answer.Sentence, ". ")
	if v.Further != "" {
		v.Headline += "."
	}
	if len(p.Contenders) > 0 {
		v.Best = &p.Contenders[0]
		v.Groups, v.Picture = figuresOf(p, v.Best), pictureOf(v.Best, mostNodes)
		explained(v.Groups, views[0])
	}
	if v.Details, err = details(p, views); err != nil {
		return nil, err
	}
	charts := append(append(append(v.Loads, v.Timeline...), v.DayCurve...), v.Frontier)
	data, err := encoded(charts)
	if err != nil {
		return nil, fmt.Errorf("writing the charts of a plan: %w", err)
	}
	record, err := document.Compact(p)
	if err != nil {
		return nil, fmt.Errorf("writing the record of a plan: %w", err)
	}
	var escaped bytes.Buffer
	json.HTMLEscape(&escaped, record)
	v.Charts, v.Record = template.JS(data), template.JS(escaped.String()) // JSON with its angle brackets escaped
	return v, nil
}

// sessions are the figures of a load of sessions.
func sessions(p *plan.Response, c *plan.Contender) []figure {
	x := c.Sessions
	if x == nil {
		return nil
	}
	note := "p95 " + milliseconds(x.Time95)
	if x.TimeAt != nil && p.Request.At() != 95 {
		note += ", " + p.Request.Named() + " " + milliseconds(*x.TimeAt)
	}
	out := []figure{
		ranged("Sessions", x.Rate, "per second", number(x.Turns)+" requests each, "+percent(x.CachedShare)+" of their prompt tokens in prefix caches"),
		{
			Name: "Time per session", Value: milliseconds(x.Time.Value), Unit: "without think time",
			Interval: milliseconds(x.Time.Low) + " to " + milliseconds(x.Time.High), Note: note,
		},
	}
	if k := x.PerSession; k != nil {
		out = append(out, figure{Name: "Cost per session", Value: dollars(k.Value), Interval: dollarRange(*k)})
	}
	return out
}

// figuresOf are those of the best contender.
func figuresOf(p *plan.Response, c *plan.Contender) []group {
	l := p.Request.Limits
	load := group{Name: "At capacity", Figures: []figure{
		ranged("Throughput", c.TokensPerGPU, "tokens/s per GPU", number(c.Tokens.Value)+" tokens/s on "+gpus(c.GPUs)),
		ranged("Requests", c.RequestRate, "per second", whole(c.Concurrency)+" in flight"),
		timed(p, "Time to first token", c.Judged.TTFT.Zero(), c.Mean.TTFT.Zero(), c.P95.TTFT.Zero(), l.TTFT.Ms()),
		timed(p, "Time per output token", c.Judged.TPOT.Zero(), c.Mean.TPOT.Zero(), c.P95.TPOT.Zero(), l.TPOT.Ms()),
		ranged("Speed", c.TokensPerUser.Zero(), "tokens/s per user", "request latency "+milliseconds(c.Judged.Latency.Zero().Value)),
	}}
	if l.Finite().Latency > 0 {
		f := ranged("Request latency", c.Judged.Latency.Zero(), "ms, "+c.Judged.Statistic, "mean "+milliseconds(c.Mean.Latency.Zero().Value))
		load.Figures = append(load.Figures, f.against(c.Judged.Latency.Zero(), l.Latency.Ms()))
	}
	if c.Judged.Chance != nil {
		load.Figures = append(load.Figures, within(p, c))
	}
	out := []group{load}
	if m := c.Capacity; m != nil && c.Load != nil {
		out[0].Name = "At your load"
		out = append(out, group{Name: "Capacity", Figures: []figure{
			ranged("Requests carried", m.RequestRate, "per second", whole(m.Concurrency)+" in flight; your load takes "+percent(*c.Load)),
			ranged("Throughput", m.Tokens, "tokens/s", ""),
		}})
	}
	var costs []figure
	if m := c.Cost; m != nil {
		costs = append(costs, figure{
			Name: "Cost", Value: dollars(m.PerMillion.Value), Unit: "per million output tokens",
			Interval: dollarRange(m.PerMillion),
			Note:     dollars(m.PerMonth) + " a month, at " + dollars(m.PerGPUHour) + " per GPU-hour" + withEnergy(m),
		})
	}
	if x := sessions(p, c); x != nil {
		out = append(out, group{Name: "Sessions", Figures: x})
	}
	if e := c.Energy; e != nil {
		costs = append(costs, figure{
			Name: "Energy", Value: number(e.PerToken.Value), Unit: "J per output token",
			Interval: number(e.PerToken.Low) + " to " + number(e.PerToken.High), Note: number(float64(e.Watts)) + " W per GPU on average",
		})
	}
	if costs == nil {
		return out
	}
	return append(out, group{Name: "Cost and energy", Figures: costs})
}

// within is the probability that the limits are met.
func within(p *plan.Response, c *plan.Contender) figure {
	f := figure{Name: "Within the limits", Value: percent(*c.Judged.Chance), Unit: "probability", Interval: "of the means"}
	switch {
	case p.Request.Goodput > 0:
		f.Interval = "of " + percent(p.Request.Goodput) + " of the requests"
	case p.Request.Percentile > 0:
		f.Interval = "of " + p.Request.Named()
	case c.P95.Chance != nil:
		f.Note = percent(*c.P95.Chance) + " of the 95th percentiles; "
	}
	if c.GoodShare != nil {
		f.Note += percent(*c.GoodShare) + " of requests within all limits"
	}
	return f
}

// withEnergy says that a cost includes energy, and at which price.
func withEnergy(m *plan.Cost) string {
	if m.Energy == 0 {
		return ""
	}
	return " and " + dollars(m.EnergyPrice) + " per kWh"
}

// value is the number of a range, a dash if there is none.
func value(r figures.Estimate) string {
	if r == (figures.Estimate{}) {
		return "–"
	}
	return number(r.Value)
}

func ranged(name string, r figures.Estimate, unit, note string) figure {
	return figure{Name: name, Value: value(r), Unit: unit, Interval: interval(r), Note: note}
}

// timed is a time at the statistic that was asked for; the mean, or the 95th percentile, is a note.
func timed(p *plan.Response, name string, judged, mean, p95 figures.Estimate, limit float64) figure {
	note := "95th percentile " + milliseconds(p95.Value)
	if p.Request.At() > 0 {
		note = "mean " + milliseconds(mean.Value)
	}
	f := ranged(name, judged, "ms, "+p.Request.Named(), note)
	return f.against(judged, limit)
}

// against shows a time beside its limit in milliseconds, if there is one.
func (f figure) against(r figures.Estimate, limit float64) figure {
	if limit > 0 && limit < never {
		f.Note += "; limit " + milliseconds(limit)
		f.Bad = r.Value > limit
		f.Bar = limitBar(r, limit)
	}
	return f
}

// ends writes the ends of an interval; "" if there is none.
func ends(r figures.Estimate, text func(float64) string) string {
	if r.Low == r.High {
		return ""
	}
	return text(r.Low) + " to " + text(r.High)
}

func interval(r figures.Estimate) string { return ends(r, number) }

func dollarRange(r figures.Estimate) string { return ends(r, dollars) }

// limitBar shows an interval against a limit, which is at two thirds of the width.
func limitBar(r figures.Estimate, limit float64) template.HTML {
	at := func(v float64) float64 { return min(max(v/limit*200/3, 0), 100) }
	return template.HTML(fmt.Sprintf( // numbers
		`<svg class="against" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">`+
			`<path class="track" d="M0 5H100"/><path class="interval" d="M%.1f 5H%.1f"/><path class="value" d="M%.1f 1V9"/>`+
			`<path class="at" d="M66.7 0V10"/></svg>`, at(r.Low), at(r.High), at(r.Value)))
}

func gpus(n int) string { return units.Counted(n, "GPU") }

// mode spells out agg and disagg.
func mode(m string) string {
	switch m {
	case "agg":
		return "aggregated"
	case "disagg":
		return "disaggregated"
	}
	return m
}

// functions are the functions of the templates.
func functions() template.FuncMap {
	return template.FuncMap{
		"number": number, "value": value, "whole": whole, "ms": milliseconds, "usd": dollars, "percent": percent, "difference": difference,
		"interval": interval, "dollarRange": dollarRange, "mode": mode, "gpus": gpus, "errorbar": errorbar, "changeBar": changeBar, "join": strings.Join,
		"add": func(a, b int) int { return a + b }, "tables": tablesOf, "sample": sample, "ask": asked, "off": off,
	}
}
