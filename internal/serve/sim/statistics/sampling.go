package statistics

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/quantile"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// warm reports whether the warm-up lies in the first half of the requests that have ended, by all their times. The rule
// is MSER-5: values are averaged in groups of five, and the warm-up is what has to be dropped so that the mean of the rest has the
// smallest standard error (White, Cobb and Spratt, "A comparison of five steady-state truncation heuristics for
// simulation", Winter Simulation Conference 2000, who found it the best of those that need no tuning). Where that is
// half or more, too little was simulated to tell.
func warm(t *Tally) bool {
	for _, values := range [...][]units.Seconds{t.ttft, t.tpot, t.latency} {
		if len(values) > 0 && 2*mser(values) >= len(values)/mserGroup {
			return false
		}
	}
	return len(t.ttft) > 0
}

const mserGroup = 5

// mser is the number of groups of five that MSER-5 drops, at most half of them.
func mser(values []units.Seconds) int {
	n := len(values) / mserGroup
	sum, squares := 0.0, 0.0
	best, least := 0, math.Inf(1)
	shift := float64(values[len(values)-1]) // sums of small numbers are exact enough
	for i := n - 1; i >= 0; i-- {
		mean := 0.0
		for _, v := range values[mserGroup*i : mserGroup*(i+1)] {
			mean += float64(v) - shift
		}
		mean /= mserGroup
		sum += mean
		squares += mean * mean
		left := float64(n - i)
		// Among equal ones the smallest is taken: nothing is dropped from a constant.
		if z := math.Max(0, squares-sum*sum/left) / (left * left); 2*i <= n && z <= least*(1+1e-12) {
			best, least = i, z
		}
	}
	return best
}

// Batch means: the values, in order, are cut into so many groups, whose means vary more than independent values would
// if values near each other are alike. The larger error of many short groups and a few long ones is taken: the long ones
// show what is alike over longer times, with the larger chance error of a few.
const (
	shortGroups = 32
	longGroups  = 8
)

// sampled is a percentile of times in the order in which requests ended, or with 0 their mean, and its relative standard
// error. That of a percentile follows from the error of the share of times below it.
func (t *Tally) sampled(values []units.Seconds, percentile float64) (value units.Seconds, e float64) {
	if len(values) < 2*shortGroups {
		return values[0], math.Inf(1)
	}
	if percentile == 0 {
		mean, e := t.mean(values)
		if mean == 0 {
			return 0, 0
		}
		return mean, e / float64(mean)
	}
	p, off := t.share(values, percentile/100)
	t.scratch = append(t.scratch[:0], values...)
	if p+off >= 1 || p-off <= 0 {
		return quantile.Of(t.scratch, p)[0], math.Inf(1)
	}
	ends := quantile.Of(t.scratch, p-off, p, p+off)
	if ends[1] == 0 {
		return 0, math.Inf(1)
	}
	return ends[1], float64(ends[2]-ends[0]) / 2 / float64(ends[1])
}

// mean is the mean of times as it would be with usual arrivals, and its standard error.
func (t *Tally) mean(values []units.Seconds) (units.Seconds, float64) {
	sum, least := units.Seconds(0), values[0]
	for _, v := range values {
		sum += v
		least = min(least, v)
	}
	by, e := t.chanceIn(values, func(v units.Seconds) float64 { return float64(v) })
	return max(least, sum/units.Seconds(len(values))-units.Seconds(by)), e
}

// share is the share of times up to what would be a quantile of them with usual arrivals, and its standard error.
func (t *Tally) share(values []units.Seconds, q float64) (share, e float64) {
	t.scratch = append(t.scratch[:0], values...)
	at := quantile.Of(t.scratch, q)[0]
	by, e := t.chanceIn(values, func(v units.Seconds) float64 {
		if v <= at {
			return 1
		}
		return 0
	})
	return min(1, max(0, q+by)), e
}

// Errors are the sampling errors of all times; none of too few.
func (t *Tally) Errors(percentile float64, out *Sampling) {
	for _, x := range []struct {
		values []units.Seconds
		out    *float64
	}{{t.ttft, &out.TTFT}, {t.tpot, &out.TPOT}, {t.latency, &out.Latency}} {
		if len(x.values) == 0 {
			continue
		}
		if _, e := t.sampled(x.values, percentile); !math.IsInf(e, 0) {
			*x.out = e
		}
	}
}

// chanceIn is by how much a mean is higher by chance in the arrivals, and the standard error of what that leaves.
func (t *Tally) chanceIn(values []units.Seconds, of func(units.Seconds) float64) (by, e float64) {
	return t.errorOf(groupsOf(values, of), len(values))
}

// groupsOf are the means of groups of values.
func groupsOf(values []units.Seconds, of func(units.Seconds) float64) (groups [shortGroups]float64) {
	n := len(values) / shortGroups
	rest := values[len(values)-n*shortGroups:]
	for i := range groups {
		for _, v := range rest[i*n : (i+1)*n] {
			groups[i] += of(v) / float64(n)
		}
	}
	return groups
}

// errorOf is chance for the means of groups of so many values.
func (t *Tally) errorOf(groups [shortGroups]float64, values int) (by, e float64) {
	beyond, more := 0.0, 1.0
	if c := &t.control; c.values > 0 && c.values == values {
		by, beyond, more = c.remove(&groups)
	}
	short := standardError(groups[:])
	var long [longGroups]float64
	for i := range groups {
		long[i*longGroups/shortGroups] += groups[i] * longGroups / shortGroups
	}
	return by, math.Hypot(beyond, more*math.Max(short, standardError(long[:])))
}

// standardError is that of the mean of independent values.
func standardError(values []float64) float64 {
	n, mean, squares := float64(len(values)), 0.0, 0.0
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return math.Sqrt(squares / (n - 1) / n)
}
