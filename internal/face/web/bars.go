package web

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/ops/estimate"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// stack is a stacked bar, from left to right.
type stack struct {
	Title, Note string
	Parts       []part
	total       float64
}

// part is one of a stack.
type part struct {
	Name, Text string // Text is its size in words
	Colour     int    // 0 is what is left
	Value      float64
	Share      float64
	Start      float64 // of all, before it
	Detail     string
}

// named is the parts of a stack that have a colour of their own; the rest are together.
const named = 5

// Bar draws the stack; the names stand over it in the page.
func (s *stack) Bar() template.HTML {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="stack" viewBox="0 0 1000 30" preserveAspectRatio="none" role="img" aria-label="%s">`,
		template.HTMLEscapeString(s.about()))
	for _, p := range s.Parts {
		fmt.Fprintf(&b, `<rect class="fill c%d" x="%.1f" y="0" width="%.1f" height="30" data-tip="%s"/>`,
			p.Colour, 1000*p.Start, max(1000*p.Share-2, 1), template.HTMLEscapeString(p.Name+": "+p.Text+", "+percent(p.Share)))
	}
	b.WriteString("</svg>")
	return template.HTML(b.String()) // text in it is escaped
}

func (s *stack) about() string {
	words := make([]string, 0, len(s.Parts))
	for _, p := range s.Parts {
		words = append(words, p.Name+" "+p.Text)
	}
	return s.Title + ": " + strings.Join(words, ", ")
}

// Wide says that the part has room for its name.
func (p *part) Wide() bool { return p.Share >= 0.12 }

// Style is the place of the part's name over the bar.
func (p *part) Style() template.CSS {
	return template.CSS(fmt.Sprintf("left:%.2f%%;width:%.2f%%", 100*p.Start, 100*p.Share)) // two numbers
}

// close computes the positions of the parts, and drops those that cannot be drawn.
func (s *stack) close() stack {
	s.Parts = slices.DeleteFunc(s.Parts, func(p part) bool { return !(p.Value > 0) || math.IsInf(p.Value, 0) })
	sum := 0.0
	for _, p := range s.Parts {
		sum += p.Value
	}
	if total := max(s.total, sum); total > 0 && !math.IsInf(total, 0) {
		at := 0.0
		for i := range s.Parts {
			s.Parts[i].Start, s.Parts[i].Share = at, s.Parts[i].Value/total
			at += s.Parts[i].Share
		}
	}
	return *s
}

// steps are the times of a plan's steps by operator.
func steps(p *plan.Response) (out []stack) {
	for i := range p.Pools {
		for j := range p.Pools[i].Steps {
			out = append(out, stepOf(&p.Pools[i], &p.Pools[i].Steps[j]))
		}
	}
	return out
}

// slowest are the operators of a step, those that take longest first.
func slowest(step *estimate.Step) []estimate.Operator {
	return slices.SortedStableFunc(slices.Values(step.Operators), func(a, b estimate.Operator) int { return cmp.Compare(b.Time, a.Time) })
}

func stepOf(pool *estimate.Pool, step *estimate.Step) stack {
	s := stack{
		Title: capital(step.Phase) + " step of a " + worker(pool.Role),
		Note: fmt.Sprintf("%s in kernels; data-sheet limit %s. %s, each with %s new and %s cached tokens.",
			milliseconds(step.Time.Ms()), milliseconds(step.Limit.Ms()), units.Counted(step.Requests, "request"), whole(step.Query), whole(step.Cached)),
	}
	operators := slowest(step)
	rest := part{Name: "other operators"}
	for i, o := range operators {
		if i >= named {
			rest.Value += o.Time.Ms()
			continue
		}
		s.Parts = append(s.Parts, part{
			Name: o.Name, Text: milliseconds(o.Time.Ms()), Colour: i + 1, Value: o.Time.Ms(),
			Detail: "bound by " + o.Bound + ", " + percent(o.LimitShare) + " of data-sheet speed",
		})
	}
	if rest.Value > 0 {
		rest.Text, rest.Detail = milliseconds(rest.Value), fmt.Sprintf("%d operators", len(operators)-named)
		s.Parts = append(s.Parts, rest)
	}
	return s.close()
}

func worker(role deployment.Role) string {
	if role == "" || role == deployment.Both {
		return "replica"
	}
	return string(role) + " worker"
}

func capital(s string) string {
	first, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(first)) + s[n:]
}

// memories are the memory budgets of a GPU of each pool.
func memories(p *plan.Response) (out []stack) {
	for i := range p.Pools {
		pool := &p.Pools[i]
		out = append(out, memoryOf("A GPU of a "+worker(pool.Role), &pool.Memory, pool.KVPeak))
	}
	if len(out) == 0 && len(p.Contenders) > 0 && p.Contenders[0].Memory.Memory > 0 {
		out = append(out, memoryOf("A GPU", &p.Contenders[0].Memory, p.Contenders[0].KVPeak))
	}
	return out
}

func memoryOf(title string, m *engine.Budget, peak float64) stack {
	s := stack{
		Title: title, total: m.Memory.GiB(),
		Note: fmt.Sprintf("%s GiB, of which the engine uses %s (%s); %s KiB of KV cache per token.",
			number(m.Memory.GiB()), percent(m.Share), m.ShareOf, number(m.PerToken.KiB())),
	}
	used := m.KV.GiB() * min(max(peak, 0), 1)
	left := m.Memory - m.Weights - m.Activation - m.Workspace - m.KV - m.States
	for _, x := range []part{
		{Name: "weights", Colour: 1, Value: m.Weights.GiB()},
		{Name: "KV cache, used at peak", Colour: 3, Value: used},
		{Name: "KV cache, free at peak", Colour: 6, Value: m.KV.GiB() - used},
		{Name: "states", Colour: 4, Value: m.States.GiB()},
		{Name: "activations", Colour: 2, Value: m.Activation.GiB()},
		{Name: "workspace", Colour: 5, Value: m.Workspace.GiB()},
		{Name: "not used by the engine", Value: left.GiB()},
	} {
		x.Text = number(x.Value) + " GiB"
		s.Parts = append(s.Parts, x)
	}
	return s.close()
}

// errorbar is a value with its interval in a cell of a table, on the scale from 0 to most.
func errorbar(low, value, high, most float64) template.HTML {
	if !(most > 0) {
		return ""
	}
	at := func(v float64) float64 { return 100 * min(max(v/most, 0), 1) }
	return template.HTML(fmt.Sprintf( // numbers
		`<svg class="errorbar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">`+
			`<rect class="base" x="0" y="3" width="%.1f" height="4"/><path d="M%.1f 5H%.1f"/></svg>`,
		at(value), at(low), at(high)))
}

// octaves is the scale of the bars of changes on either side: a factor of two to eight, set by the largest.
func octaves(changes []plan.Change) float64 {
	most := 1.0
	for i := range changes {
		if r := changes[i].Ratio; r != nil && *r > 0 {
			most = max(most, math.Abs(math.Log2(*r)))
		}
	}
	return min(most, 3)
}

// changeBar draws a ratio as a bar to the right of the middle (more) or to its left.
func changeBar(ratio, octaves float64, within bool) template.HTML {
	if !(ratio > 0) {
		return ""
	}
	size := 50 * min(max(math.Log2(ratio)/octaves, -1), 1)
	class := "more"
	if size < 0 {
		class = "less"
	}
	if within {
		class += " within"
	}
	return template.HTML(fmt.Sprintf( // numbers
		`<svg class="change" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">`+
			`<path d="M50 0V10"/><rect class="%s" x="%.2f" y="1" width="%.2f" height="8"/></svg>`,
		class, 50+min(size, 0), math.Abs(size)))
}
