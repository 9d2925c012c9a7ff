package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Patch prints the differences of a file's lines in the unified form, which "patch -p1" applies.
func Patch(w io.Writer, name, before, after string) {
	a, b := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	fmt.Fprintf(w, "--- a/%s\n+++ b/%s\n", name, name)
	const context = 3
	keep := common(a, b)
	i, j := 0, 0
	for n := 0; n <= len(keep); {
		// The next lines that differ: up to the next kept one, and further while less than two contexts are kept between.
		for n < len(keep) && keep[n] == [2]int{i, j} {
			i, j, n = i+1, j+1, n+1
		}
		if i == len(a) && j == len(b) {
			return
		}
		fromA, fromB := max(0, i-context), max(0, j-min(i, context))
		var lines []string
		for _, l := range a[fromA:i] {
			lines = append(lines, " "+l)
		}
		for equal := 0; i < len(a) || j < len(b); {
			if n < len(keep) && keep[n] == [2]int{i, j} {
				run := 0
				for n+run < len(keep) && keep[n+run] == [2]int{i + run, j + run} {
					run++
				}
				last := i+run == len(a) && j+run == len(b)
				if run > 2*context || last {
					for _, l := range a[i : i+min(run, context)] {
						lines = append(lines, " "+l)
					}
					i, j, n, equal = i+min(run, context), j+min(run, context), n+min(run, context), 1
				} else {
					for range run {
						lines = append(lines, " "+a[i])
						i, j, n = i+1, j+1, n+1
					}
				}
				if equal > 0 {
					break
				}
				continue
			}
			next := [2]int{len(a), len(b)}
			if n < len(keep) {
				next = keep[n]
			}
			for ; i < next[0]; i++ {
				lines = append(lines, "-"+a[i])
			}
			for ; j < next[1]; j++ {
				lines = append(lines, "+"+b[j])
			}
		}
		hunk(w, lines, fromA, i, fromB, j)
	}
}

// hunk prints some lines with their numbers. The last part of a text that ends with a line break is no line.
func hunk(w io.Writer, lines []string, fromA, toA, fromB, toB int) {
	if l := len(lines); l > 0 && lines[l-1] == " " {
		lines, toA, toB = lines[:l-1], toA-1, toB-1
	}
	fmt.Fprintf(w, "@@ -%d,%d +%d,%d @@\n", fromA+1, toA-fromA, fromB+1, toB-fromB)
	for _, l := range lines {
		fmt.Fprint(w, l)
		if !strings.HasSuffix(l, "\n") {
			fmt.Fprint(w, "\n\\ No newline at end of file\n")
		}
	}
}

// common are the pairs of lines that two texts share, in order: the longest such list.
func common(a, b []string) [][2]int {
	var head, tail [][2]int
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		head = append(head, [2]int{i, i})
		i++
	}
	x, y := len(a), len(b)
	for x > i && y > i && a[x-1] == b[y-1] {
		x, y = x-1, y-1
		tail = append(tail, [2]int{x, y})
	}
	slices.Reverse(tail)
	length := make([][]int, x-i+1)
	for k := range length {
		length[k] = make([]int, y-i+1)
	}
	for k := x - 1; k >= i; k-- {
		for l := y - 1; l >= i; l-- {
			if a[k] == b[l] {
				length[k-i][l-i] = length[k-i+1][l-i+1] + 1
			} else {
				length[k-i][l-i] = max(length[k-i+1][l-i], length[k-i][l-i+1])
			}
		}
	}
	for k, l := i, i; k < x && l < y; {
		switch {
		case a[k] == b[l]:
			head = append(head, [2]int{k, l})
			k, l = k+1, l+1
		case length[k-i+1][l-i] >= length[k-i][l-i+1]:
			k++
		default:
			l++
		}
	}
	return append(head, tail...)
}
