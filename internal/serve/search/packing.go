package search

import (
	"cmp"
	"slices"
)

// Packing is how workers for prefill and decode are put together to units, and how many
// copies of a unit there are.
type Packing struct {
	// Devices of the whole cluster, which has as many copies as it has room for; 0 is
	// any number, of one copy each.
	Devices int
	// Sizes are the devices a unit may have; nil is any number. The others bound its
	// devices and workers; 0 is no bound, but that a unit of a large cluster has no more
	// devices than a few of its workers.
	Sizes                             []int
	MaxDevices, MaxPrefill, MaxDecode int
}

// A unit of up to 64 devices, or of two workers of each kind where they are large, has
// nearly any ratio of workers; what is larger is copies.
const (
	unitDevices = 64
	unitWorkers = 2
)

// pack is X prefill and Y decode workers, and copies of them.
type pack struct{ X, Y, Copies int }

// largest is the most devices of a unit of workers with p and d devices.
func (k *Packing) largest(p, d int) int {
	switch {
	case k.MaxDevices > 0 && k.Devices > 0:
		return min(k.MaxDevices, k.Devices)
	case k.MaxDevices > 0:
		return k.MaxDevices
	case k.Sizes != nil:
		return k.Devices
	}
	return min(k.Devices, max(unitDevices, unitWorkers*(p+d)))
}

// list lists the units of workers with p and d devices each. With a number of devices,
// of units that are the same workers in all only the smallest is listed, and none that
// has no more of either worker in all than another: with as many requests it is never
// better. Without, none is a multiple of another.
func (k *Packing) list(p, d int) []pack {
	var all []pack
	most := func(each, limit int) int {
		n := k.largest(p, d) / each
		if limit > 0 {
			n = min(n, limit)
		}
		return n
	}
	for y := 1; y <= most(d, k.MaxDecode); y++ {
		for x := 1; x <= most(p, k.MaxPrefill); x++ {
			n := x*p + y*d
			if n > k.largest(p, d) || k.Sizes != nil && !slices.Contains(k.Sizes, n) {
				continue
			}
			copies := 1
			if k.Devices > 0 {
				copies = k.Devices / n
			} else if gcd(x, y) > 1 {
				continue
			}
			all = append(all, pack{x, y, copies})
		}
	}
	if k.Devices == 0 {
		return all
	}
	return undominated(all)
}

// undominated drops units that have no more workers of either kind in all than another.
func undominated(all []pack) []pack {
	total := func(u pack) (x, y int) { return u.X * u.Copies, u.Y * u.Copies }
	slices.SortFunc(all, func(a, b pack) int {
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

func gcd(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}
