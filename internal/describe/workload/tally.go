package workload

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
)

// How lengths become bins. Sorted, they are cut into at most 32 groups of as
// equal a count as possible; a length is never cut in two, so one that has more
// than its share of the requests has a group of its own. Up to 32 different
// lengths have a group each.
//
// A group's bin is as wide as can be within the group such that its midpoint is
// the group's mean, to the nearest token: the midpoint is all that is known of a
// bin later on, and the middle between the shortest and the longest prompt of a
// group would be far off in the long tail. So bins do not touch, and the last
// one may end before the longest prompt. Weights are counts.
const (
	maxBins = 32
	// exactBits of a length distinguish it from its neighbours: all lengths below 65536,
	// longer ones to 0.003 %, with exact means. That bounds the number of tallies
	// to half a million whatever is read.
	exactBits = 16
)

// tally sums up requests with lengths from low to high.
type tally struct{ low, high, count, sum int }

func (t tally) plus(u tally) tally {
	if t.count == 0 {
		return u
	}
	return tally{min(t.low, u.low), max(t.high, u.high), t.count + u.count, t.sum + u.sum}
}

func (t tally) bin() Bin {
	mean := (t.sum + t.count/2) / t.count
	reach := min(mean-t.low, t.high-mean)
	return Bin{Min: mean - reach, Max: mean + reach + 1, Weight: float64(t.count)}
}

// lengths collects tallies by the leading bits of a length.
type lengths map[int]tally

func (l lengths) add(length int) {
	coarse := max(0, bits.Len(uint(length))-exactBits)
	key := length >> coarse << coarse
	l[key] = l[key].plus(tally{length, length, 1, length})
}

func (l lengths) bins() []Bin {
	tallies := slices.SortedFunc(maps.Values(l), func(a, b tally) int { return cmp.Compare(a.low, b.low) })
	left := 0
	for _, t := range tallies {
		left += t.count
	}
	var bins []Bin
	var group tally
	for _, t := range tallies {
		// The share is of the rest, so that one large group does not make
		// the others small. The last group's is all of it.
		share := float64(left) / float64(maxBins-len(bins))
		over, under := float64(group.count+t.count)-share, share-float64(group.count)
		if group.count > 0 && (over > under || len(tallies) <= maxBins) {
			bins = append(bins, group.bin())
			left -= group.count
			group = tally{}
		}
		group = group.plus(t)
	}
	if group.count > 0 {
		bins = append(bins, group.bin())
	}
	return bins
}
