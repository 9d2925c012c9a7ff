package sim

import (
	"slices"

	"plimsoll/internal/units"
)

// Summary is how a time is distributed.
type Summary struct {
	Count                         int
	Mean, P50, P90, P95, P99, Max units.Seconds
}

// summarize reorders the values. A percentile between two of them is
// interpolated, as numpy and the usual benchmarks do.
func summarize(values []units.Seconds) Summary {
	n := len(values)
	if n == 0 {
		return Summary{}
	}
	var sum units.Seconds
	for _, v := range values {
		sum += v
	}
	rank := func(p float64) (float64, int) {
		x := p * float64(n-1)
		return x, min(int(x), n-1)
	}
	var ranks []int
	for _, p := range percentiles() {
		_, i := rank(p)
		ranks = append(ranks, i, min(i+1, n-1))
	}
	settle(values, 0, append(ranks, n-1), 64)
	var at [4]units.Seconds
	for j, p := range percentiles() {
		x, i := rank(p)
		low, high := values[i], values[min(i+1, n-1)]
		at[j] = low + units.Seconds(x-float64(i))*(high-low)
	}
	return Summary{
		Count: n, Mean: sum / units.Seconds(n),
		P50: at[0], P90: at[1], P95: at[2], P99: at[3], Max: values[n-1],
	}
}

func percentiles() [4]float64 { return [...]float64{0.50, 0.90, 0.95, 0.99} }

// settle puts the values with the given ranks, in ascending order, where sorting
// would: quicksort that leaves alone the parts nobody asks for. The first value
// has rank first. When splits are bad too often it sorts.
func settle(values []units.Seconds, first int, ranks []int, splits int) {
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
func split(values []units.Seconds) (low, high int) {
	a, b, c := values[0], values[len(values)/2], values[len(values)-1]
	pivot := max(min(a, b), min(max(a, b), c))
	high = len(values)
	for i := 0; i < high; {
		switch v := values[i]; {
		case v < pivot:
			values[i], values[low] = values[low], v
			low++
			i++
		case v > pivot:
			high--
			values[i], values[high] = values[high], v
		default:
			i++
		}
	}
	return low, high
}
