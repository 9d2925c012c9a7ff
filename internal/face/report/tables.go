package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/draw/table"
)

// column is a column of a table: its head, and its cell in the row of x, the i-th from 0.
type column[T any] struct {
	head string
	cell func(i int, x *T) any
}

// when is columns that only some tables have.
func when[T any](shown bool, columns ...column[T]) []column[T] {
	if !shown {
		return nil
	}
	return columns
}

// tableOf is a table with a row for each x.
func tableOf[T any](xs []T, columns ...[]column[T]) *table.Table {
	all := slices.Concat(columns...)
	heads := make([]string, len(all))
	for k, c := range all {
		heads[k] = c.head
	}
	t := table.New(heads...)
	for i := range xs {
		row := make([]any, len(all))
		for k, c := range all {
			row[k] = c.cell(i, &xs[i])
		}
		t.Row(row...)
	}
	return t
}

// rank is the first column of a ranking.
func rank[T any](head string) []column[T] {
	return []column[T]{{head, func(i int, _ *T) any { return i + 1 }}}
}

// framed prints a table in a frame, one column bold on a terminal.
func framed(w io.Writer, t *table.Table, bold int, v OptimizeView) {
	if !v.Color {
		bold = -1
	}
	lines, hidden := t.FitFramed(columns(w), bold)
	hide(w, lines, "", hidden)
}

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

// sentences prints texts, each as a sentence behind a word.
func sentences(w io.Writer, word string, texts []string) {
	for _, text := range texts {
		fmt.Fprintf(w, "%s: %s.\n", word, strings.TrimSuffix(text, "."))
	}
}

// facts prints the lines of a description, names in a column of 18: line always, some if there is something to say.
func facts(w io.Writer) (line func(name, format string, a ...any), some func(known bool, name, format string, a ...any)) {
	line = func(name, format string, a ...any) { fmt.Fprintf(w, "%-18s%s\n", name, fmt.Sprintf(format, a...)) }
	some = func(known bool, name, format string, a ...any) {
		if known {
			line(name, format, a...)
		}
	}
	return line, some
}

// pc prints a share in percent.
func pc(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }

// ratio prints a factor.
func ratio(x float64) string { return fmt.Sprintf("×%.2f", x) }

// f3 prints three decimals, for programs.
func f3(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }

// f3some is f3, empty for zero.
func f3some(x float64) string {
	if x == 0 {
		return ""
	}
	return f3(x)
}

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
