package sim

import (
	"math"
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

// histogram counts gaps between tokens, of which there are too many to keep. A
// bin is what agrees in the exponent and the first six bits of a number, 1.6 %
// wide at most, so that finding it needs no logarithm.
type histogram struct {
	counts [bins]int64
	sum    float64
	n      int64
	max    units.Seconds
}

const (
	octaves  = 33               // from a microsecond to two hours
	lowest   = (1023 - 20) << 6 // 2^-20 s
	bins     = octaves << 6
	dropped  = 52 - 6 // bits of the mantissa
	binWidth = 1 << dropped
)

func (h *histogram) add(gap units.Seconds, n int64) {
	if n <= 0 {
		return
	}
	i := int(math.Float64bits(max(0, float64(gap)))>>dropped) - lowest
	h.counts[min(max(i, 0), bins-1)] += n
	h.sum += float64(gap) * float64(n)
	h.n += n
	h.max = max(h.max, gap)
}

// summary takes the middle of a bin for all that is in it.
func (h *histogram) summary() Summary {
	if h.n == 0 {
		return Summary{}
	}
	at := func(p float64) units.Seconds {
		left := int64(math.Ceil(p * float64(h.n)))
		for i, n := range h.counts {
			if left -= n; left <= 0 {
				return min(h.max, units.Seconds(math.Float64frombits(uint64(i+lowest)<<dropped+binWidth/2)))
			}
		}
		return h.max
	}
	return Summary{
		Count: int(h.n), Mean: units.Seconds(h.sum / float64(h.n)),
		P50: at(0.50), P90: at(0.90), P95: at(0.95), P99: at(0.99), Max: h.max,
	}
}

// gapMeter measures the time between the tokens of a replica's requests.
type gapMeter struct {
	all    *histogram
	last   units.Seconds // end of the last step with generation
	joined []joiner      // since then
}

// joiner is a request whose last token came from elsewhere than the last step.
type joiner struct {
	q     *request
	epoch uint32
	at    units.Seconds
}

func (g *gapMeter) add(gap units.Seconds, n int64) { g.all.add(gap, n) }

func (g *gapMeter) join(q *request, at units.Seconds) {
	g.joined = append(g.joined, joiner{q, q.epoch, at})
}

// steps counts the gaps that the steps of a plan end. In a run all steps count
// as equally long.
func (g *gapMeter) steps(p *plan) {
	each := (p.end - p.start) / units.Seconds(p.steps)
	first := p.start + each
	old := int64(p.decodes)
	for _, j := range g.joined {
		if j.epoch == j.q.epoch {
			g.all.add(first-j.at, 1)
			old--
		}
	}
	g.joined = g.joined[:0]
	others := int64(p.decodes) * (p.steps - 1)
	if g.last == p.start { // nothing came between
		others += old
	} else {
		g.all.add(first-g.last, old)
	}
	g.all.add(each, others)
	g.last = p.end
}
