package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/estimate"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
)

// detail is a contender as its own view shows it.
type detail struct {
	*plan.Contender

	ID      string
	Groups  []group
	Memory  stack
	Picture *picture
	// Reasons are what is behind its figures; nil for those that a plan of their own explains. Alone is that plan: what differs in its request, as
	// JSON.
	Reasons *reasons
	Alone   string
	Files   string // the command that writes its files
}

// reasons are what is behind the figures of a contender.
type reasons struct {
	*plan.Why

	ID, Engine, System string
	Figures            []reason
}

// reason is what is behind a figure.
type reason struct {
	*plan.Reason

	ID, Title string
	Bounds    *stack
	Step      *estimate.Step // nil if it comes from none
	Operators []estimate.Operator
}

// pictured is the most nodes in the picture of a contender's view.
const pictured = 4

// ids are the names of the contenders' views, which addresses end with.
func ids(p *plan.Response) []string {
	out := make([]string, 0, len(p.Contenders))
	for i := range p.Contenders {
		id := "contender-" + strings.Join(strings.FieldsFunc(p.Contenders[i].Name, unfit), "-")
		if slices.Contains(out, id) {
			id += fmt.Sprintf("-%d", i+1)
		}
		out = append(out, id)
	}
	return out
}

// unfit says that a character has no place in an address.
func unfit(r rune) bool {
	fits := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_.@-", r)
	return !fits
}

// details are the views of the contenders, by their names.
func details(p *plan.Response, views []string) ([]detail, error) {
	out := make([]detail, 0, len(p.Contenders))
	for i, id := range views {
		c := &p.Contenders[i]
		d := detail{
			Contender: c, ID: id, Groups: append(figuresOf(p, c), memoryFigures(c)), Memory: memoryOf("Memory of a decode GPU", &c.Memory, c.KVPeak), Picture: pictureOf(c, pictured),
			Files: "plimsoll files plan.json --contender " + launch.Quote(c.Name) + " --out deploy",
		}
		d.Reasons = reasonsOf(p, i, d.ID)
		alone := p.Request.Alone(c)
		data, err := json.Marshal(map[string]any{"systems": alone.Systems, "engines": alone.Engines, "modes": alone.Modes, "no_changes": true})
		if err != nil {
			return nil, fmt.Errorf("writing the request of a contender: %w", err)
		}
		d.Alone = string(data)
		explained(d.Groups, d.ID)
		out = append(out, d)
	}
	return out, nil
}

// memoryFigures are those of a GPU that generates.
func memoryFigures(c *plan.Contender) group {
	m := &c.Memory
	return group{Name: "Memory", Figures: []figure{
		{Name: "Memory", Value: number(m.InUse(c.KVPeak).GiB()), Unit: "of " + number(m.Memory.GiB()) + " GiB in use at peak", Note: "weights " + number(m.Weights.GiB()) + " GiB"},
		{Name: "KV cache", Value: whole(c.KVTokens), Unit: "tokens", Note: percent(c.KVPeak) + " in use at peak"},
	}}
}

// explained gives figures the address of what is behind them.
func explained(groups []group, id string) {
	of := map[string]plan.FigureOf{
		"Throughput": plan.OfThroughput, "Requests": plan.OfThroughput, "Requests carried": plan.OfThroughput, "Request latency": plan.OfThroughput,
		"Time to first token": plan.OfTTFT, "Time per output token": plan.OfTPOT, "Speed": plan.OfTPOT, "Memory": plan.OfMemory, "KV cache": plan.OfMemory,
		"Within the limits": plan.OfLimits, "Sessions": plan.OfThroughput, "Time per session": plan.OfThroughput, "Cost": plan.OfCost, "Cost per session": plan.OfCost, "Energy": plan.OfEnergy,
	}
	for i := range groups {
		for k := range groups[i].Figures {
			f := &groups[i].Figures[k]
			if figure := of[f.Name]; figure != "" {
				f.Why = id + "--" + string(figure)
			}
		}
	}
}

// reasonsOf are those of a contender, nil if they are unknown.
func reasonsOf(p *plan.Response, contender int, id string) *reasons {
	c := &p.Contenders[contender]
	why, steps := p.Reasons(contender)
	if why == nil {
		return nil
	}
	out := &reasons{Why: why, ID: id, Engine: cmp.Or(c.EngineTitle, c.Engine), System: c.System}
	titles := map[plan.FigureOf]string{plan.OfTTFT: "Time to first token", plan.OfTPOT: "Time per output token", plan.OfThroughput: "Throughput", plan.OfMemory: "Memory", plan.OfLimits: "Within the limits", plan.OfCost: "Cost", plan.OfEnergy: "Energy"}
	for i := range why.Figures {
		f := &why.Figures[i]
		r := reason{Reason: f, ID: id + "--" + string(f.Figure), Title: cmp.Or(titles[f.Figure], string(f.Figure))}
		if f.Bounds != nil {
			r.Bounds = bounds(f.Phase, f.Bounds)
			r.Step = plan.StepOf(steps, f.Phase)
		}
		if r.Step != nil {
			r.Operators = slowest(r.Step)
		}
		out.Figures = append(out.Figures, r)
	}
	return out
}

// bounds are what a step waits for.
func bounds(phase string, b *estimate.Bounds) *stack {
	s := stack{Title: "What a " + phase + " step waits for", Note: "Shares of its time: kernels by bottleneck, and the host work between them.", total: 1}
	for _, x := range []part{
		{Name: "memory", Colour: 1, Value: b.Memory},
		{Name: "compute", Colour: 2, Value: b.Compute},
		{Name: "link", Colour: 3, Value: b.Link},
		{Name: "host", Colour: 4, Value: b.Host},
	} {
		x.Text = percent(x.Value)
		s.Parts = append(s.Parts, x)
	}
	return new(s.close())
}

// off is an interval of measured over predicted, less one: "−20 % to +46 %".
func off(low, high float64) string {
	return strings.Join([]string{difference(1 + low), difference(1 + high)}, " to ")
}
