package search

import (
	"cmp"
	"slices"
)

// Unit is X prefill and Y decode workers, the smallest thing that is copied, and how
// many copies there are. Where one worker does both, X is 0 and Y 1.
type Unit struct {
	Prefill, Decode int // which workers
	X, Y            int
	Copies          int
}

// Packing is what units may be made of and how they are copied.
type Packing struct {
	Devices int // of the whole cluster
	// Sizes are the devices a unit may have; nil is any number. The others bound its
	// devices and workers; 0 is no bound.
	Sizes                             []int
	MaxDevices, MaxPrefill, MaxDecode int
}

// List lists the units of workers with p and d devices each, with as many copies as
// there is room for. Of units that are the same workers in all only the smallest is
// listed, and none that has no more of either worker in all than another: with as many
// requests it is never better.
func (k *Packing) List(p, d int) []Unit {
	var all []Unit
	most := func(each, limit int) int {
		n := k.Devices / each
		if limit > 0 {
			n = min(n, limit)
		}
		return n
	}
	for y := 1; y <= most(d, k.MaxDecode); y++ {
		for x := 1; x <= most(p, k.MaxPrefill); x++ {
			n := x*p + y*d
			if n > k.Devices || k.MaxDevices > 0 && n > k.MaxDevices || k.Sizes != nil && !slices.Contains(k.Sizes, n) {
				continue
			}
			all = append(all, Unit{X: x, Y: y, Copies: k.Devices / n})
		}
	}
	total := func(u Unit) (x, y int) { return u.X * u.Copies, u.Y * u.Copies }
	slices.SortFunc(all, func(a, b Unit) int {
		ax, ay := total(a)
		bx, by := total(b)
		return cmp.Or(cmp.Compare(bx, ax), cmp.Compare(by, ay), cmp.Compare(b.Copies, a.Copies))
	})
	out := all[:0]
	best := 0 // decode workers of units with at least as many for prefill
	for _, u := range all {
		if _, y := total(u); y > best {
			out, best = append(out, u), y
		}
	}
	return slices.Clip(out)
}
