package report

import (
	"fmt"
	"io"

	"plimsoll/internal/document"
	"plimsoll/internal/table"

	"plimsoll/internal/app"
	"plimsoll/internal/measured"
)

// regretLine is what choosing layouts by prediction would have cost, in a line.
func regretLine(choices []measured.Choice) string {
	if len(choices) == 0 {
		return "No rows differ only in layout: nothing to choose."
	}
	r := document.NewRegret(choices)
	return fmt.Sprintf("Layouts chosen by prediction yield %.1f %% less than the best measured at the same interactivity "+
		"(by lot %.1f %%; %d choices in %d groups).", 100*r.Mean, 100*r.Blind, r.Choices, r.Groups)
}

// Regret prints what choosing layouts by prediction would have cost, group by
// group.
func Regret(w io.Writer, r *app.AccuracyResponse) {
	choices := measured.Regrets(r.Rows)
	t := table.New(2, 3, 4, 5, 6)
	t.AppendHeader(table.Row{"rows that differ only in layout and load", "layouts", "choices", "right", "regret", "by lot"})
	for i := 0; i < len(choices); {
		k, layouts, right := i, 0, 0
		for ; k < len(choices) && choices[k].Group == choices[i].Group; k++ {
			layouts = max(layouts, choices[k].Layouts)
			if choices[k].Chosen == choices[k].Best {
				right++
			}
		}
		s := document.NewRegret(choices[i:k])
		t.AppendRow(table.Row{
			choices[i].Group, layouts, k - i, right, fmt.Sprintf("%.1f %%", 100*s.Mean), fmt.Sprintf("%.1f %%", 100*s.Blind),
		})
		i = k
	}
	fmt.Fprintln(w, t.Render())
	fmt.Fprintln(w)
	fmt.Fprintln(w, regretLine(choices))
}
