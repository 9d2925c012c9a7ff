package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// change is a line of a text: kept, removed or added.
type change struct {
	mark string // " ", "-" or "+"
	line string
}

// Patch prints the differences of a file's lines in the unified form, which "patch -p1" applies.
func Patch(w io.Writer, name, before, after string) {
	fmt.Fprintf(w, "--- a/%s\n+++ b/%s\n", name, name)
	const context = 3
	all := changes(lines(before), lines(after))
	near := func(i int) bool { // a change is not further than the context
		return slices.ContainsFunc(all[max(0, i-context):min(len(all), i+context+1)], func(c change) bool { return c.mark != " " })
	}
	a, b := 1, 1 // line numbers
	for i := 0; i < len(all); {
		from, fromA, fromB := i, a, b
		for ; i < len(all) && near(i); i++ {
			a, b = a+counted(all[i], "-"), b+counted(all[i], "+")
		}
		if i > from {
			fmt.Fprintf(w, "@@ -%d,%d +%d,%d @@\n", fromA, a-fromA, fromB, b-fromB)
			for _, c := range all[from:i] {
				fmt.Fprint(w, c.mark, c.line, "\n")
			}
			continue
		}
		a, b, i = a+1, b+1, i+1
	}
}

// lines are the lines of a text that ends with one.
func lines(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

// counted is 1 for a line of the text that has kept lines and those with a mark.
func counted(c change, mark string) int {
	if c.mark == " " || c.mark == mark {
		return 1
	}
	return 0
}

// changes lead from a text to another, with as many lines kept as possible.
func changes(a, b []string) []change {
	if len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		n := 1
		for n < min(len(a), len(b)) && a[n] == b[n] {
			n++
		}
		return slices.Concat(same(a[:n]), changes(a[n:], b[n:]))
	}
	n := 0
	for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return slices.Concat(differing(a[:len(a)-n], b[:len(b)-n]), same(a[len(a)-n:]))
}

// same are lines that stay.
func same(lines []string) []change {
	out := make([]change, len(lines))
	for i, l := range lines {
		out[i] = change{" ", l}
	}
	return out
}

// differing are the changes between the lines that are not common at the ends.
func differing(a, b []string) []change {
	kept := make([][]int, len(a)+1) // of the rests of both texts
	for i := range kept {
		kept[i] = make([]int, len(b)+1)
	}
	for i, x := range slices.Backward(a) {
		for j, y := range slices.Backward(b) {
			kept[i][j] = max(kept[i+1][j], kept[i][j+1])
			if x == y {
				kept[i][j] = kept[i+1][j+1] + 1
			}
		}
	}
	var out []change
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, change{" ", a[i]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && kept[i+1][j] >= kept[i][j+1]:
			out = append(out, change{"-", a[i]})
			i++
		default:
			out = append(out, change{"+", b[j]})
			j++
		}
	}
	return out
}
