package search

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
)

// Best returns the best result of every key that has one, the highest score first; ties go
// to the smaller label.
func Best[K comparable](results []Result, key func(*Result) K) []*Result {
	return ranked(results, key, func(r, best *Result) bool { return r.Score > best.Score }, byLabel)
}

// Earliest is Best where ties go to the first in the order of enumeration, as in a [Search].
func Earliest[K comparable](results []Result, key func(*Result) K) []*Result {
	return ranked(results, key, func(r, best *Result) bool { return r.Score > best.Score }, func(_, _ *Result) int { return 0 })
}

func byLabel(a, b *Result) int { return strings.Compare(a.Label, b.Label) }

// Waiting is Best where of the results of a key that carry within [Tolerance] of the most the
// one with the shortest TTFT is the best.
func Waiting[K comparable](results []Result, key func(*Result) K) []*Result {
	most := map[K]float64{}
	for i := range results {
		if r := &results[i]; r.OK {
			most[key(r)] = max(most[key(r)], r.Score)
		}
	}
	near := func(r *Result) bool { return r.Score*(1+Tolerance) >= most[key(r)] }
	return ranked(results, key, func(r, best *Result) bool {
		if near(r) != near(best) {
			return near(r)
		}
		return near(r) && cmp.Or(cmp.Compare(best.Best.TTFT, r.Best.TTFT), cmp.Compare(r.Score, best.Score)) > 0
	}, byLabel)
}

// ranked are the best results of the keys, the highest score first; ties go by a function, then to the first.
func ranked[K comparable](results []Result, key func(*Result) K, better func(r, best *Result) bool, tie func(a, b *Result) int) []*Result {
	best := map[K]int{}
	for i := range results {
		r := &results[i]
		if k, ok := best[key(r)]; r.OK && (!ok || better(r, &results[k])) {
			best[key(r)] = i
		}
	}
	var rows []*Result
	for _, i := range slices.Sorted(maps.Values(best)) {
		rows = append(rows, &results[i])
	}
	slices.SortStableFunc(rows, func(a, b *Result) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), tie(a, b))
	})
	return rows
}

// Merged has one result for each label, in the order of enumeration: the best of
// [Waiting], or the first where none meets the limits.
func Merged(results []Result) []Result {
	best := map[string]*Result{}
	for _, r := range Waiting(results, ByLabel) {
		best[r.Label] = r
	}
	var out []Result
	seen := map[string]bool{}
	for i := range results {
		r := &results[i]
		if seen[r.Label] {
			continue
		}
		seen[r.Label] = true
		if b := best[r.Label]; b != nil {
			r = b
		}
		out = append(out, *r)
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
		over := j.Over(r.First.Times)
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
