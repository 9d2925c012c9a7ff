package search

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// slope is a candidate as a climb sees it: throughput rises until it saturates, and may
// fall where caches are full; latency rises.
type slope struct {
	fixed, each float64 // seconds of a token, and of each request in its batch
	ceiling     float64 // most tokens per second
	full        int     // requests beyond which throughput falls
	limit       float64 // on latency
	loose       float64 // how far the bound is above the truth
	tried       int
}

func (s *slope) at(load int) (figures.Outcome, Verdict, bool, error) {
	s.tried++
	token := s.fixed + s.each*float64(load)
	o := figures.Outcome{Concurrency: load, Figures: figures.Figures{Times: figures.Times{TPOT: units.Seconds(token)}, Throughput: min(s.ceiling, float64(load)/token)}}
	if load > s.full {
		o.Throughput *= math.Pow(0.98, float64(load-s.full))
	}
	if token > s.limit {
		return o, OverTPOT, load > s.full, nil
	}
	return o, Fits, load > s.full, nil
}

func (s *slope) bound(load int) float64 {
	return s.loose * min(s.ceiling, float64(load)/(s.fixed+s.each*float64(load)))
}

func drawSlope(t *rapid.T) *slope {
	x := func(name string, low, high float64) float64 { return rapid.Float64Range(low, high).Draw(t, name) }
	return &slope{
		fixed: x("fixed", 0.001, 0.02), each: x("each", 0, 5e-4), ceiling: x("ceiling", 100, 20000),
		full: rapid.IntRange(1, 400).Draw(t, "full"), limit: x("limit", 0.0005, 0.1), loose: x("loose", 1, 1.3),
	}
}

func (s *slope) climb(t *rapid.T, most, start int, floor float64) *climb {
	c := &climb{loads: ladder(1, most, 1), step: 1, floor: floor, bound: s.bound, try: s.at}
	c.start = start % len(c.loads)
	if err := c.run(); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestClimb: a climb finds what trying every load finds, but for what it promises to give
// away, from any start. Where throughput falls because caches are full, every load is every
// one of the ladder; where a limit ends it, every number of requests.
func TestClimb(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawSlope(t)
		most := rapid.IntRange(1, 500).Draw(t, "most")
		c := s.climb(t, most, rapid.IntRange(0, 1000).Draw(t, "start"), math.Inf(-1))
		tried := s.tried
		best := 0.0
		for n := 1; n <= most; n++ {
			if s.full < most && !slices.Contains(c.loads, n) {
				continue
			}
			if o, v, _, _ := s.at(n); v == Fits {
				best = max(best, o.Throughput)
			}
		}
		if c.ok != (best > 0) {
			t.Fatalf("found %t, the most is %g", c.ok, best)
		}
		if !c.ok {
			return
		}
		if _, v, _, _ := s.at(c.best.load); v != Fits {
			t.Fatalf("load %d does not meet the limits", c.best.load)
		}
		if got := c.best.outcome.Throughput; got < best/(1+Tolerance)/(1+3*gain) {
			t.Fatalf("load %d carries %g after %d trials, the most is %g", c.best.load, got, tried, best)
		}
		const many = 40
		if tried > many {
			t.Fatalf("%d trials", tried)
		}
	})
}

// TestClimbWaits: where twice the requests bring nothing, the smaller load is the answer.
func TestClimbWaits(t *testing.T) {
	t.Parallel()
	s := &slope{fixed: 0.01, ceiling: 10_000, full: 1000, limit: 1, loose: 1.2} // saturated with 100
	for start := range 40 {
		c := &climb{loads: ladder(1, 512, 1), step: 1, start: start, floor: math.Inf(-1), bound: s.bound, try: s.at}
		if err := c.run(); err != nil {
			t.Fatal(err)
		}
		if c.best.load < 99 || c.best.load > 108 || c.binds != Saturated { // a step of the ladder above
			t.Errorf("start %d: load %d, bound by %q", start, c.best.load, c.binds)
		}
	}
}

// TestClimbFloor: a floor drops a candidate that carries less, and changes nothing of one
// that carries as much.
func TestClimbFloor(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawSlope(t)
		most, start := rapid.IntRange(1, 500).Draw(t, "most"), rapid.IntRange(0, 1000).Draw(t, "start")
		free := s.climb(t, most, start, math.Inf(-1))
		floor := rapid.Float64Range(0, 20000).Draw(t, "floor")
		got := s.climb(t, most, start, floor)
		switch {
		case got.dropped && free.ok && free.most.outcome.Throughput >= floor:
			t.Fatalf("dropped below %g, but it carries %g", floor, free.most.outcome.Throughput)
		case !got.dropped && (got.ok != free.ok || got.best != free.best || got.binds != free.binds):
			t.Fatalf("floor %g: %+v, without %+v", floor, got.best, free.best)
		}
	})
}

// TestReaches: what is found not to reach a floor carries no more than is said, however far its bound is above the truth, and one that
// is saturated is not tried with ever more requests.
func TestReaches(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawSlope(t)
		s.loose = rapid.Float64Range(1, 10).Draw(t, "looser")
		loads := rapid.IntRange(1, 500).Draw(t, "most")
		free := s.climb(t, loads, 0, math.Inf(-1))
		floor := rapid.Float64Range(1, 20000).Draw(t, "floor")
		c := &climb{loads: ladder(1, loads, 1), step: 1, floor: floor, bound: s.bound, try: s.at}
		ok, most, err := c.reaches()
		if err != nil {
			t.Fatal(err)
		}
		if !ok && free.ok && free.most.outcome.Throughput > most*(1+same) {
			t.Fatalf("floor %g: at most %g, but it carries %g", floor, most, free.most.outcome.Throughput)
		}
	})
	for _, thrashes := range []bool{false, true} { // twice the load carries as much, and one in between carries twice as much
		c := &climb{loads: []int{10, 15, 20}, step: 1, floor: 190, bound: func(int) float64 { return 200 }, try: func(load int) (figures.Outcome, Verdict, bool, error) {
			return figures.Outcome{Figures: figures.Figures{Throughput: map[int]float64{10: 100, 15: 200, 20: 100}[load]}}, Fits, thrashes && load == 20, nil
		}}
		for _, c.least = range []int{0, 21} {
			if _, most, _ := c.reaches(); (most < 189) != (!thrashes && c.least == 0) {
				t.Errorf("thrashes %t, loads below %d may fall: at most %g", thrashes, c.least, most)
			}
		}
	}
	s := &slope{fixed: 0.01, ceiling: 1000, full: 1 << 20, limit: 1, loose: 8} // saturated with 10
	c := &climb{loads: ladder(1, 1<<15, 1), step: 1, floor: 7000, bound: s.bound, try: s.at}
	if ok, most, _ := c.reaches(); ok || most > 1.3*s.ceiling || s.tried > 3 {
		t.Errorf("reaches %t, at most %g, after %d trials", ok, most, s.tried)
	}
}

// TestClimbWiderLimits: wider limits never lose more than a climb may give away.
func TestClimbWiderLimits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawSlope(t)
		most := rapid.IntRange(1, 500).Draw(t, "most")
		tight := s.climb(t, most, 0, math.Inf(-1))
		s.limit *= rapid.Float64Range(1, 4).Draw(t, "wider")
		wide := s.climb(t, most, 0, math.Inf(-1))
		if tight.ok && (!wide.ok || wide.best.outcome.Throughput < tight.best.outcome.Throughput/(1+Tolerance)/(1+3*gain)) {
			t.Fatalf("%g within limits, %g within wider ones", tight.best.outcome.Throughput, wide.best.outcome.Throughput)
		}
	})
}
