// Package quantile computes quantiles.
//
// In: values in any order. Out: quantiles, interpolated between the two nearest values as numpy does by default (type 7 of
// Hyndman and Fan, "Sample Quantiles in Statistical Packages", 1996), which benchmarks of serving engines report; gonum has
// types 1 and 4 only. It does not know what the values mean. Start at [Of].
package quantile

import "slices"

// Of returns the quantiles of values at the given shares, from 0 to 1: 0.5 is the median, 1 the largest. It reorders the
// values, of which there must be one at least.
func Of[T ~float64](values []T, at ...float64) []T { return Repeated(values, 1, at...) }

// Repeated is the same for values that each stand for so many equal ones.
func Repeated[T ~float64](values []T, times int, at ...float64) []T {
	ranks := make([]int, 0, 2*len(at))
	for _, q := range at {
		i, j, _ := between(times*len(values), q)
		ranks = append(ranks, i/times, j/times)
	}
	settle(values, 0, ranks, 64)
	out := make([]T, len(at))
	for k, q := range at {
		i, j, part := between(times*len(values), q)
		out[k] = values[i/times] + T(part)*(values[j/times]-values[i/times])
	}
	return out
}

// between returns the ranks next to a quantile of n values, and how far it lies
// from the first to the second.
func between(n int, q float64) (i, j int, part float64) {
	x := q * float64(n-1)
	i = min(int(x), n-1)
	return i, min(i+1, n-1), x - float64(i)
}

// settle puts the values with the given ranks where sorting would: quicksort that
// leaves alone the parts that no rank needs, best with ascending ranks. The first
// value has rank first. When splits are bad too often it sorts.
func settle[T ~float64](values []T, first int, ranks []int, splits int) {
	const few = 24
	for len(ranks) > 0 {
		if len(values) <= few || splits == 0 {
			slices.Sort(values)
			return
		}
		splits--
		low, high := split(values)
		// Ranks up to low are to the left, from high on to the right; the pivot
		// and its equals are between them and in place.
		left := ranks
		for len(left) > 0 && left[len(left)-1] >= first+low {
			left = left[:len(left)-1]
		}
		settle(values[:low], first, left, splits)
		for len(ranks) > 0 && ranks[0] < first+high {
			ranks = ranks[1:]
		}
		values, first = values[high:], first+high
	}
}

// split orders the values into those below a pivot, those equal to it, from low
// on, and those above it, from high on.
func split[T ~float64](values []T) (low, high int) {
	last := len(values) - 1
	middle := &values[len(values)/2]
	if a, c := values[0], values[last]; (a < *middle) == (*middle < c) {
		values[last], *middle = *middle, c
	} else if (*middle < a) == (a < c) {
		values[last], values[0] = a, c
	}
	pivot, equal := values[last], 0
	low = gather(values[:last], func(v T) int {
		equal += one(v == pivot)
		return one(v < pivot)
	})
	if equal == 0 { // as it mostly is
		values[low], values[last] = pivot, values[low]
		return low, low + 1
	}
	return low, low + gather(values[low:], func(v T) int { return one(v == pivot) })
}

// gather moves the values that are wanted, by a one, to the front and returns how many they
// are. It moves every value, since a branch here would be guessed wrong half of the time.
func gather[T ~float64](values []T, wanted func(T) int) (n int) {
	for i, v := range values {
		values[i], values[n] = values[n], v
		n += wanted(v)
	}
	return n
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}
