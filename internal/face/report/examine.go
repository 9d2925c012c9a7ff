package report

import (
	"fmt"
	"io"

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
	fmt.Fprintln(w, sum)
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
		fmt.Fprintf(w, "\nThe column quality marks %d row%s: %d of them were found, and %d row%s without a mark.\n",
			marked, plural(marked), found, len(rows)-found, plural(len(rows)-found))
	}
}
