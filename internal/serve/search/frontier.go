package search

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Best returns the results that have a best outcome, the highest score first, one
// per key; ties go to the smaller label.
func Best[K comparable](results []Result, key func(*Result) K) []*Result {
	var rows []*Result
	seen := map[K]int{}
	for i := range results {
		r := &results[i]
		if !r.OK {
			continue
		}
		if k, ok := seen[key(r)]; ok {
			if r.Score > rows[k].Score {
				rows[k] = r
			}
			continue
		}
		seen[key(r)] = len(rows)
		rows = append(rows, r)
	}
	slices.SortStableFunc(rows, func(a, b *Result) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.Label, b.Label))
	})
	return rows
}

// Merged has one result for each label, in the order of enumeration: the best, or the
// first where none meets the limits.
func Merged(results []Result) []Result {
	var out []Result
	places := map[string]int{}
	for i := range results {
		r := &results[i]
		at, ok := places[r.Label]
		switch {
		case !ok:
			places[r.Label] = len(out)
			out = append(out, *r)
		case r.OK && (!out[at].OK || r.Score > out[at].Score):
			out[at] = *r
		}
	}
	return out
}

// ByLabel is a key of [Best]: one row for each label.
func ByLabel(r *Result) string { return r.Label }

// Near finds the candidate whose smallest batch exceeds the limits least, of
// equal ones that with the smaller label; nil when none fits in memory at all.
func Near(results []Result, j *Judge) *Result {
	var best *Result
	least := math.Inf(1)
	for i := range results {
		r := &results[i]
		if r.Binds == IllegalShape || r.First.OOM != "" || r.First.Concurrency == 0 {
			continue
		}
		over := j.Over(&r.First)
		if over < least || over == least && best != nil && r.Label < best.Label {
			least, best = over, r
		}
	}
	return best
}

// Frontier returns the items that no other beats: those for which no item has more
// of one figure and as much of the other. Of equal items the first stays. The
// order is that of x, falling.
func Frontier[T any](items []T, figures func(*T) (x, y float64)) []T {
	sorted := slices.Clone(items)
	slices.SortStableFunc(sorted, func(a, b T) int {
		ax, ay := figures(&a)
		bx, by := figures(&b)
		return cmp.Or(cmp.Compare(bx, ax), cmp.Compare(by, ay))
	})
	var out []T
	for i := range sorted {
		_, y := figures(&sorted[i])
		if len(out) > 0 {
			if _, best := figures(&out[len(out)-1]); y <= best {
				continue
			}
		}
		out = append(out, sorted[i])
	}
	return out
}
