package search

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

const (
	// Tolerance is how much throughput the search gives away for requests that wait less. Of all
	// loads of a candidate that carry within one per cent of the most, the smallest is the
	// best; of all candidates of a group that do, the one with the shortest TTFT. What is
	// given away is far below the error of any prediction.
	Tolerance = 0.01
	// gain is what a load not yet tried must promise to be tried.
	gain = 0.005
	// sane is the share of its bound below which throughput may have fallen.
	sane = 0.8
	// Twice the load that brings less than this only waits.
	doubled = 1 + Tolerance
)

// same is how close throughputs are that are equal.
const same = 1e-9

// climb finds the best load of one candidate: of the loads that meet the limits, the
// smallest that carries within [Tolerance] of the most. Larger loads are taken to have higher
// latencies, so that what misses the limits ends it, and to carry more until they
// saturate.
//
// Which loads are tried depends on the candidate alone. floor only ends a climb early,
// when the bound of the remaining loads is below it; so a candidate that is not dropped has the
// same result whatever else is searched.
type climb struct {
	loads []int // to try, rising
	step  int   // between loads in between: batches of all ranks
	start int   // index of the load to begin with
	least int   // load below which throughput may fall and rise again
	floor float64
	// bound is the most that a load carries; it does not fall with the load.
	bound func(load int) float64
	// try evaluates a load. thrashes says that requests were stopped and computed again.
	try func(load int) (o figures.Outcome, v Verdict, thrashes bool, err error)

	most    climbed // carries the most of those within the limits
	best    climbed // is the answer
	ok      bool
	binds   Verdict
	dropped bool
	points  []figures.Outcome
	tried   []climbed
}

// climbed is a load that was tried.
type climbed struct {
	load     int
	outcome  figures.Outcome
	verdict  Verdict
	thrashes bool
}

// run climbs.
func (t *climb) run() error {
	if len(t.loads) == 0 {
		return nil
	}
	low, high, err := t.bracket()
	if err != nil || t.dropped || !t.ok {
		return err
	}
	if err := t.between(low, high); err != nil {
		return err
	}
	for most := 0; most != t.most.load; {
		most = t.most.load
		if err := t.descend(high); err != nil {
			return err
		}
		if t.dropped = t.most.outcome.Throughput < t.floor; t.dropped {
			return nil
		}
		if err := t.knee(); err != nil {
			return err
		}
		high, _ = slices.BinarySearch(t.loads, t.most.load+1)
	}
	return nil
}

// reaches reports whether a load may carry the floor within the limits, and if not, what the candidate hardly exceeds. What carries
// it has at least as many requests in flight as the bounds ask for, and, as requests do not take less time with more of them, as many
// more than a smaller load as that carries less.
func (t *climb) reaches() (ok bool, most float64, err error) {
	const (
		chance = 1.02 // how much less a load may be found to carry
		near   = 1.25 // times the throughput of a load: a climb shows as soon whether that is possible
	)
	most = math.Nextafter(t.floor, math.Inf(-1))
	floor := t.floor / chance
	if math.IsInf(floor, -1) {
		return true, most, nil
	}
	n := len(t.loads)
	var last climbed
	for i := sort.Search(n, func(i int) bool { return t.bound(t.loads[i]) >= floor }); i < n; {
		o, v, thrashes, err := t.try(t.loads[i])
		if err != nil || v != Fits {
			return false, most, err
		}
		more := floor / o.Throughput
		if more <= near {
			return true, most, nil
		}
		x := climbed{load: t.loads[i], outcome: o}
		if t.saturated(last, x) && !thrashes { // a load in between may carry more than one that thrashes
			return false, min(most, near*max(last.outcome.Throughput, o.Throughput)), nil
		}
		last = x
		i = max(i+1, sort.SearchInts(t.loads, int(more*float64(t.loads[i]))))
	}
	return false, most, nil
}

// saturated reports that a load of at least twice another one brings no more: it only waits.
func (t *climb) saturated(from, to climbed) bool {
	return from.load > 0 && to.load >= max(t.least, 2*from.load) && to.outcome.Throughput < from.outcome.Throughput*doubled
}

// at tries a load, once, and reports whether it meets the limits; if it carries more than
// any before, it is the most.
func (t *climb) at(load int) (climbed, Verdict, error) {
	if i := slices.IndexFunc(t.tried, func(x climbed) bool { return x.load == load }); i >= 0 {
		return t.tried[i], t.tried[i].verdict, nil
	}
	o, v, thrashes, err := t.try(load)
	x := climbed{load, o, v, thrashes}
	if err != nil {
		return x, v, err
	}
	t.tried = append(t.tried, x)
	if o.Throughput > 0 {
		t.points = append(t.points, o)
	}
	if v == Fits && (!t.ok || o.Throughput > t.most.outcome.Throughput*(1+same)) {
		t.most, t.ok = x, true
	}
	return x, v, nil
}

// bracket finds neighbours of which the first meets the limits and the second does not,
// or carries less: from the start up or down in growing steps, then by bisection. low is
// -1 where none meets the limits, high the number of loads where none is known to fail.
func (t *climb) bracket() (low, high int, err error) {
	low, high = -1, len(t.loads)
	var last climbed
	for i, stride := t.start, 1; low+1 < high; stride *= 2 {
		if t.ended(high) {
			return low, high, nil
		}
		x, v, err := t.at(t.loads[i])
		if err != nil {
			return low, high, err
		}
		switch {
		case v != Fits:
			high, t.binds = i, v
		case low >= 0 && x.load >= t.least && falls(last, x):
			high, t.binds = i, Saturated
		case low >= 0 && t.saturated(last, x):
			t.binds = Saturated
			return i, i + 1, nil
		default:
			low, last = i, x
		}
		i = next(low, high, stride, len(t.loads))
	}
	return low, high, nil
}

// falls reports whether throughput falls between a load and a larger one: it carries less,
// or as much with requests computed twice, so that it rose and fell again.
func falls(from, to climbed) bool {
	least := from.outcome.Throughput * (1 - gain)
	if to.thrashes {
		least = from.outcome.Throughput * (1 + gain)
	}
	return to.outcome.Throughput < least
}

// ended reports whether no load below a place can matter: all are below the floor, or
// none carries more than what was found.
func (t *climb) ended(high int) bool {
	bound := t.bound(t.loads[high-1])
	if bound < t.floor && t.most.outcome.Throughput < t.floor {
		t.dropped = true
		return true
	}
	if t.ok && bound <= t.most.outcome.Throughput*(1+gain) {
		if t.binds == Fits {
			t.binds = Saturated
		}
		return true
	}
	return false
}

// next is what to try next between two places: beyond the last of n, before the
// first, or the middle.
func next(low, high, stride, n int) int {
	switch {
	case high == n:
		return min(low+stride, high-1)
	case low < 0:
		return max(high-stride, 0)
	}
	return (low + high) / 2
}

// between looks for a larger load between two neighbours, the second of which misses the
// limits.
func (t *climb) between(low, high int) error {
	if low < 0 || high >= len(t.loads) || t.binds == Saturated {
		return nil
	}
	for a, b := t.loads[low], t.loads[high]; b-a > t.step && t.bound(b-t.step) > t.most.outcome.Throughput*(1+gain); {
		middle := a + max(1, (b-a)/2/t.step)*t.step
		_, v, err := t.at(middle)
		if err != nil {
			return err
		}
		if v == Fits {
			a = middle
		} else {
			b, t.binds = middle, v
		}
	}
	return nil
}

// descend looks for smaller loads that carry more: where caches are full, requests are
// stopped and computed again, or wait in each other's way. It goes down in growing steps
// while more is carried, then by halves, since throughput may rise again after it fell, and
// narrows down around the most, below a place that carries less.
func (t *climb) descend(above int) error {
	stride := 1
	for ; !t.sane(); stride *= 2 {
		most, _ := slices.BinarySearch(t.loads, t.most.load)
		below, more, err := t.down(most, stride)
		if err != nil || !more {
			return cmp.Or(err, t.peak(below, most, above))
		}
		above = most
	}
	if stride > 1 { // the last step may have passed over the most
		most, _ := slices.BinarySearch(t.loads, t.most.load)
		return t.peak(most-1, most, above)
	}
	return nil
}

// sane says that the most carries nearly what it could, and nothing is computed twice.
func (t *climb) sane() bool {
	return !t.most.thrashes && t.most.outcome.Throughput >= sane*t.bound(t.most.load)
}

// down tries smaller loads than the one at a place until one carries more: so many steps
// below, half of it, a quarter and so on, as far as they may. It returns the last it tried.
func (t *climb) down(most, stride int) (below int, more bool, err error) {
	below = most - stride
	for load := t.loads[most] / 2; below >= 0 && t.bound(t.loads[below]) > t.most.outcome.Throughput*(1+gain); load /= 2 {
		if more, err = t.more(below); err != nil || more {
			return below, more, err
		}
		next, _ := slices.BinarySearch(t.loads, load)
		if below = min(next, below-1); load == 0 {
			break
		}
	}
	return max(below, -1), false, nil
}

// more tries a place and reports whether it carries more than all before.
func (t *climb) more(i int) (bool, error) {
	before := t.most.load
	_, _, err := t.at(t.loads[i])
	return t.most.load != before, err
}

// peak narrows down the place of the most, which lies between two others.
func (t *climb) peak(below, most, above int) error {
	for above-below > 2 {
		if i := (below + most) / 2; i > below {
			more, err := t.more(i)
			if err != nil {
				return err
			}
			if more {
				most, above = i, most
			} else {
				below = i
			}
		}
		if i := (most + above + 1) / 2; i < above {
			more, err := t.more(i)
			if err != nil {
				return err
			}
			if more {
				below, most = most, i
			} else {
				above = i
			}
		}
	}
	return nil
}

// knee finds the smallest load that carries within [Tolerance] of the most.
func (t *climb) knee() error {
	t.best = t.most
	enough := t.most.outcome.Throughput / (1 + Tolerance)
	low := sort.Search(len(t.loads), func(i int) bool { return t.bound(t.loads[i]) >= enough })
	high, _ := slices.BinarySearch(t.loads, t.most.load)
	for low < high {
		middle := (low + high) / 2
		x, v, err := t.at(t.loads[middle])
		if err != nil {
			return err
		}
		if v == Fits && x.outcome.Throughput >= enough {
			high, t.best = middle, x
			t.binds = Saturated
		} else {
			low = middle + 1
		}
	}
	return nil
}

// ladder are the loads to try from one number to another: every one at first, then in
// steps of a sixteenth, which are whole batches of all ranks once these are smaller.
func ladder(from, to, ranks int) []int {
	const part = 16
	var out []int
	for n := from; n < to; {
		out = append(out, n)
		if step := n / part; step >= ranks {
			n = (n + step) / ranks * ranks
		} else {
			n += max(1, step)
		}
	}
	if from <= to {
		out = append(out, to)
	}
	return out
}
