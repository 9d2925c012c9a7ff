package report

import (
	"fmt"
	"io"

	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
)

// notesOf prints notes, each once.
func notesOf(w io.Writer, notes []string) {
	said := map[string]bool{}
	for _, n := range notes {
		if !said[n] {
			fmt.Fprintf(w, "Note: %s\n", n)
		}
		said[n] = true
	}
}

// facts prints the lines of a description, names in a column of 18.
func facts(w io.Writer) func(name, format string, a ...any) {
	return func(name, format string, a ...any) { fmt.Fprintf(w, "%-18s%s\n", name, fmt.Sprintf(format, a...)) }
}

// pc prints a share in percent.
func pc(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }

// tables lists the kernel tables that were read.
func tables(w io.Writer, u *prices.Use) {
	if u == nil {
		return
	}
	rows := 0
	for i := range u.Files {
		rows += u.Files[i].Rows
	}
	fmt.Fprintf(w, "Tables          %d rows from %d kernel tables in %s\n", rows, len(u.Files), u.Dir)
	for i := range u.Files {
		f := &u.Files[i]
		fmt.Fprintf(w, "                %s: %d of %d rows\n", f.Path, f.Rows, f.Of)
	}
}
