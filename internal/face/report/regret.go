package report

import (
	"fmt"
	"io"

	"github.com/plimsoll-project/plimsoll/internal/draw/table"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/ops/accuracy"
)

// regretLine is the cost of choosing layouts by prediction, in a line.
func regretLine(choices []measured.Choice) string {
	if len(choices) == 0 {
		return "No rows differ only in layout: no choices to compare."
	}
	r := document.NewRegret(choices)
	return fmt.Sprintf("Layouts chosen by prediction have %.1f %% less throughput than the best measured layout at the same tokens/s per user "+
		"(random choice: %.1f %%; %d choices in %d groups).", 100*r.Mean, 100*r.Random, r.Choices, r.Groups)
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
	fmt.Fprintln(w, t)
	fmt.Fprintln(w)
	fmt.Fprintln(w, regretLine(choices))
}
