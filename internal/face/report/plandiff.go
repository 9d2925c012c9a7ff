package report

import (
	"cmp"
	"fmt"
	"io"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/draw/table"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
)

// PlanDiff prints the differences between two plans and their causes.
func PlanDiff(w io.Writer, d *plan.Diff) {
	switch {
	case !d.Changed && len(d.Causes) == 0:
		fmt.Fprintln(w, "The plans are the same.")
		return
	case !d.Changed:
		fmt.Fprintln(w, "The answer is the same.")
	case d.Best[0] == d.Best[1]:
		fmt.Fprintf(w, "The best deployment is the same, %s, with different figures.\n", d.Best[0])
	default:
		fmt.Fprintf(w, "The answer changes from %s to %s.\n", d.Best[0], d.Best[1])
	}
	diffFigures(w, d)
	diffCauses(w, d)
	if len(d.Contenders) > 1 {
		fmt.Fprintln(w, "\nContenders")
		t := table.New("", ">rank A", ">rank B", "tokens/s/GPU A", "B")
		for i := range d.Contenders {
			c := &d.Contenders[i]
			t.Row(c.Name, orDash(c.Ranks[0]), orDash(c.Ranks[1]), bracketed(c.Tokens[0]), bracketed(c.Tokens[1]))
		}
		put(w, t, "  ")
	}
}

// diffFigures prints the figures that differ.
func diffFigures(w io.Writer, d *plan.Diff) {
	if !d.Changed {
		return
	}
	t := table.New("", ">A", ">B", ">B/A", "")
	for _, f := range d.Figures {
		by, note := "–", ""
		if f.A > 0 {
			by = ratio(f.B / f.A)
		}
		if f.A != f.B && f.WithinError {
			note = "within the error of A"
		}
		t.Row(f.Name, units.Figure(f.A), units.Figure(f.B), by, note)
	}
	fmt.Fprintln(w)
	put(w, t, "  ")
}

// diffCauses prints the causes.
func diffCauses(w io.Writer, d *plan.Diff) {
	fmt.Fprintln(w, "\nCauses")
	if len(d.Causes) == 0 {
		fmt.Fprintln(w, "  the records show no cause")
	}
	for _, c := range d.Causes[:len(d.Causes)-len(d.Fields)] {
		fmt.Fprintf(w, "  %s\n", c)
	}
	for _, f := range d.Fields {
		fmt.Fprintf(w, "  %s: %s instead of %s", f.Field, cmp.Or(f.B, "none"), cmp.Or(f.A, "none"))
		switch {
		case f.Failure != "":
			fmt.Fprintf(w, "; alone: %s", f.Failure)
		case f.Ratio != nil:
			fmt.Fprintf(w, "; alone ×%.2f", *f.Ratio)
		}
		fmt.Fprintln(w)
	}
}
