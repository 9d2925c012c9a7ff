package search

import (
	"slices"
	"sort"

	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
)

const (
	// near is how much throughput the search gives away for fewer requests in flight: of
	// all loads that carry within one per cent of the most, the smallest is the best. Its
	// requests wait least, and what it gives away is far below the error of any
	// prediction.
	near = 0.01
	// gain is what a load not yet tried must promise to be tried.
	gain = 0.005
	// Twice the load that brings less than this only waits.
	doubled = 1 + near
)

// climb finds the best load of one candidate: of the loads that meet the limits, the
// smallest that carries within [near] of the most. Larger loads are taken to have higher
// latencies, so that what misses the limits ends it, and to carry more until they
// saturate.
//
// Which loads are tried depends on the candidate alone. floor only ends a climb early,
// when the bound of what is left is below it; so a candidate that is not dropped has the
// same result whatever else is searched.
type climb struct {
	loads []int // to try, rising
	step  int   // between loads in between: batches of all ranks
	start int   // index of the load to begin with
	floor float64
	// bound is the most that a load carries; it does not fall with the load.
	bound func(load int) float64
	// try evaluates a load. thrashes says that requests were stopped and computed again.
	try func(load int) (o formulas.Outcome, v Verdict, thrashes bool, err error)

	most    climbed // carries the most of those within the limits
	best    climbed // is the answer
	ok      bool
	binds   Verdict
	dropped bool
	points  []formulas.Outcome
}

// climbed is a load that was tried.
type climbed struct {
	load     int
	outcome  formulas.Outcome
	thrashes bool
}

// run climbs.
func (t *climb) run() error {
	low, high, err := t.bracket()
	if err != nil || t.dropped || !t.ok {
		return err
	}
	if err := t.between(low, high); err != nil {
		return err
	}
	if err := t.descend(high); err != nil {
		return err
	}
	t.dropped = t.most.outcome.Throughput < t.floor
	if t.dropped {
		return nil
	}
	return t.knee()
}

// at tries a load and reports whether it meets the limits; if it carries more than any
// before, it is the most.
func (t *climb) at(load int) (climbed, Verdict, error) {
	o, v, thrashes, err := t.try(load)
	x := climbed{load, o, thrashes}
	if err != nil {
		return x, v, err
	}
	if o.OOM == "" {
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
		case low >= 0 && x.outcome.Throughput < last.outcome.Throughput*(1-gain):
			high, t.binds = i, Saturated
		case low >= 0 && x.load >= 2*last.load && x.outcome.Throughput < last.outcome.Throughput*doubled:
			t.binds = Saturated
			return i, i + 1, nil
		default:
			low, last = i, x
		}
		i = next(low, high, stride, len(t.loads))
	}
	return low, high, nil
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
// stopped and computed again. It goes down in growing steps while more is carried, then
// narrows down around the most, below a place that carries less.
func (t *climb) descend(above int) error {
	if !t.most.thrashes {
		return nil
	}
	most, _ := slices.BinarySearch(t.loads, t.most.load)
	below := most - 1
	for stride := 1; below >= 0 && t.bound(t.loads[below]) > t.most.outcome.Throughput*(1+gain); {
		more, err := t.more(below)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		stride *= 2
		below, most, above, t.binds = max(-1, below-stride), below, most, Saturated
	}
	return t.peak(below, most, above)
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

// knee finds the smallest load that carries within [near] of the most.
func (t *climb) knee() error {
	t.best = t.most
	enough := t.most.outcome.Throughput / (1 + near)
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
