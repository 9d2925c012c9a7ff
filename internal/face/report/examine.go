package report

import (
	"fmt"
	"io"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/draw/table"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/ops/accuracy"
)

// Examine prints the suspicious rows for people.
func Examine(w io.Writer, r *accuracy.ExamineResponse) {
	rows := document.Suspicious(r)
	if len(rows) == 0 {
		fmt.Fprintf(w, "None of the %d rows is suspicious.\n", len(r.Rows))
		return
	}
	counts := map[string]int{}
	list := table.New(">line", "id", "rule", "why")
	for _, f := range r.Findings {
		counts[f.Rule]++
		rule := f.Rule
		if f.TTFTOnly {
			rule += " (TTFT)"
		}
		list.Row(f.Row.Line, f.Row.ID, rule, f.Why)
	}
	fmt.Fprintf(w, "%s\n\nSuspicious: %d of %d rows\n\n", list, len(rows), len(r.Rows))
	sum := table.New("rule", ">rows", "meaning")
	for _, rule := range measured.Rules() {
		if n := counts[rule[0]]; n > 0 {
			sum.Row(rule[0], n, rule[1])
		}
	}
	put(w, sum, "")
	marked, found := 0, 0
	for i := range r.Rows {
		if r.Rows[i].Quality != "" {
			marked++
			if rows[&r.Rows[i]] {
				found++
			}
		}
	}
	if marked > 0 {
		fmt.Fprintf(w, "\nThe column quality marks %s: %d of them were found, and %s without a mark.\n",
			units.Counted(marked, "row"), found, units.Counted(len(rows)-found, "row"))
	}
}

// regretLine is the cost of choosing layouts by prediction, in a line.
func regretLine(choices []measured.Choice) string {
	if len(choices) == 0 {
		return "No rows differ only in layout: no choices to compare."
	}
	r := document.NewRegret(choices)
	return fmt.Sprintf("Layouts chosen by prediction have %.1f %% less throughput than the best measured layout at the same tokens/s per user "+
		"(random choice: %.1f %%; %s in %s).", 100*r.Mean, 100*r.Random, units.Counted(r.Choices, "choice"), units.Counted(r.Groups, "group"))
}

// Regret prints the cost of choosing layouts by prediction, group by group.
func Regret(w io.Writer, r *accuracy.Response) {
	choices := measured.Regrets(r.Rows)
	t := table.New("deployment", ">layouts", ">choices", ">correct", ">regret", ">random choice")
	for i := 0; i < len(choices); {
		k, layouts, right := i, 0, 0
		for ; k < len(choices) && choices[k].Group == choices[i].Group; k++ {
			layouts = max(layouts, choices[k].Layouts)
			if choices[k].Chosen == choices[k].Best {
				right++
			}
		}
		s := document.NewRegret(choices[i:k])
		t.Row(
			choices[i].Group, layouts, k-i, right, pc(s.Mean), pc(s.Random),
		)
		i = k
	}
	put(w, t, "")
	fmt.Fprintln(w)
	fmt.Fprintln(w, regretLine(choices))
}
