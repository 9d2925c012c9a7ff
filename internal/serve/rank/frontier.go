package rank

import (
	"cmp"
	"slices"
)

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
