package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/draw/table"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// Explained prints a plan, and what is behind each figure of the first contender.
func Explained(w io.Writer, p *plan.Response) {
	Plan(w, p)
	y := p.Why
	if y == nil {
		return
	}
	fmt.Fprintf(w, "\nWhy, for %s\n", p.Contenders[0].Name)
	for i := range y.Figures {
		f := &y.Figures[i]
		fmt.Fprintf(w, "  %s, %s %s\n", figureWord(f.Figure), units.Figure(f.Value), f.Unit)
		paragraph(w, f.Sentence)
		t := table.New("", ">"+f.PartsUnit)
		for _, part := range f.Parts {
			t.Row(part.Name, units.Figure(part.Value))
		}
		put(w, t, "    ")
		paragraph(w, f.Error)
	}
	fmt.Fprintf(w, "  Similar measured deployments, %s\n", y.How)
	t := table.New("of", ">deployments", "TTFT", "TPOT", "throughput")
	for i := range y.Measured {
		n := &y.Measured[i]
		t.Row(n.Of, n.Rows, off(n.TTFT), off(n.TPOT), off(n.Throughput))
	}
	put(w, t, "    ")
	fmt.Fprintln(w, "    Measured relative to predicted, 80 % intervals.")
	if len(y.Nearest) > 0 {
		fmt.Fprintln(w, "  Nearest measured deployments, with measured over predicted times")
		t := table.New("deployment", ">rows", "source", ">nearness", ">kernels", ">prompts")
		for i := range y.Nearest {
			n := &y.Nearest[i]
			t.Row(n.Deployment, n.Rows, n.Source, fmt.Sprintf("%.0f %%", 100*n.Nearness), "×"+units.Figure(n.Kernels), "×"+units.Figure(n.Prompts))
		}
		put(w, t, "    ")
	}
	if len(y.Models) > 0 {
		paragraph(w, fmt.Sprintf("Models measured with %s on %s: %s.", p.Contenders[0].Engine, p.Contenders[0].System, strings.Join(y.Models, ", ")))
	}
}

// paragraph prints a text below a heading.
func paragraph(w io.Writer, text string) {
	for _, line := range table.Wrap(text, textWidth(w)-4) {
		fmt.Fprintln(w, "    "+line)
	}
}

// figureWord is the name of a figure.
func figureWord(f plan.FigureOf) string {
	switch f {
	case plan.OfTTFT, plan.OfTPOT:
		return strings.ToUpper(string(f))
	case plan.OfLimits:
		return "Within the limits"
	case plan.OfThroughput, plan.OfMemory, plan.OfCost, plan.OfEnergy:
	}
	return strings.ToUpper(string(f[:1])) + string(f[1:])
}

// off is an interval of measured over predicted, less one.
func off(i figures.Estimate) string {
	return fmt.Sprintf("%+.0f to %+.0f %%", 100*i.Low, 100*i.High)
}
