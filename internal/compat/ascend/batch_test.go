package ascend

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/memory"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// curve is a made-up deployment: times of a batch, and the largest that fits in
// memory.
type curve struct {
	tpot, ttft func(batch int) float64 // ms; nil = the mode has none
	makespan   func(batch int) float64 // ms, of a prefill; nil = tokens come by TPOT
	memory     int
	asked      int
}

func (c *curve) outcome(batch int) figures.Outcome {
	c.asked++
	o := figures.Outcome{Batch: batch, Concurrency: batch, Use: memory.Use{Weights: 1, Available: units.Bytes(c.memory - batch)}}
	if batch > c.memory {
		o.OOM = figures.Decode
		return o
	}
	if c.tpot != nil {
		o.TPOT = millis(c.tpot(batch))
		o.Throughput = float64(batch) / float64(o.TPOT)
	}
	if c.ttft != nil {
		o.TTFT = millis(c.ttft(batch))
	}
	if c.makespan != nil {
		o.Throughput = float64(batch) / float64(millis(c.makespan(batch)))
	}
	return o
}

func millis(x float64) units.Seconds { return units.Seconds(x) * units.Millisecond }

func verdict(o *figures.Outcome, l workload.Limits) search.Verdict {
	j := search.Judge{Limits: l}
	return j.Verdict(o, nil)
}

// searchBatch searches as [Formulas] does.
func searchBatch(exact, relaxed *curve, r search.Range, l workload.Limits, window int) found {
	s := batchSearch{
		exact: exact.outcome, relaxed: relaxed.outcome, r: r, judge: search.Judge{Limits: l},
		rate: throughput, window: window, waves: exact.makespan != nil,
	}
	return s.run()
}

// brute tries every batch: the most throughput inside the limits, and of equal
// ones the smallest.
func brute(exact evaluate, r search.Range, l workload.Limits) (best figures.Outcome, ok bool) {
	var fit []figures.Outcome
	most := 0.0
	for b := r.Min; b <= r.Max; b++ {
		if o := exact(b); verdict(&o, l) == search.Fits {
			fit = append(fit, o)
			most = max(most, o.Throughput)
		}
	}
	for _, o := range fit {
		if o.Throughput >= most*(1-same) {
			return o, true
		}
	}
	return best, false
}

// compare holds a search to brute force. The batch may differ only where the
// throughputs are not clearly apart, and only if that is said.
func compare(t *rapid.T, exact, relaxed *curve, r search.Range, l workload.Limits, window int, blurred bool) {
	want, ok := brute(exact.outcome, r, l)
	exact.asked, relaxed.asked = 0, 0
	f := searchBatch(exact, relaxed, r, l, window)
	equal := verdict(&f.best, l) == search.Fits && math.Abs(f.best.Throughput-want.Throughput) <= 2*same*want.Throughput
	if f.ok != ok || !equal || !blurred && f.best != want {
		t.Errorf("want %t, batch %d with %g tokens/s; got %t, batch %d with %g",
			ok, want.Batch, want.Throughput, f.ok, f.best.Batch, f.best.Throughput)
	}
	if f.first.Batch != r.Min {
		t.Errorf("the first batch is %d, want %d", f.first.Batch, r.Min)
	}
	if f.binds == search.Fits {
		t.Error("the search does not say what binds")
	}
	if f.binds == search.Saturated { // then a larger batch is feasible and no better
		free := func(b int) bool {
			o := exact.outcome(b)
			return verdict(&o, l) == search.Fits && o.Throughput >= f.best.Throughput*(1-2*same)
		}
		found := false
		for b := f.best.Batch + 1; b <= r.Max && !found; b++ {
			found = free(b)
		}
		if !found {
			t.Error("nothing binds")
		}
	}
	if f.ok && f.best.Batch == r.Max && f.binds != search.RangeEnds {
		t.Errorf("%s binds at the end of the range", f.binds)
	}
	last := 0
	for _, p := range f.points {
		if p.Batch <= last || p.Batch < r.Min || p.Batch > r.Max || p.OOM != "" {
			t.Errorf("point at batch %d after %d: %q", p.Batch, last, p.OOM)
		}
		last = p.Batch
	}
}

// anyRange draws up to 3000 batch sizes.
func anyRange(t *rapid.T) search.Range {
	low := rapid.IntRange(1, 50).Draw(t, "min")
	return search.Range{Min: low, Max: rapid.IntRange(low, 3000).Draw(t, "max"), Given: true}
}

// anyLimits draws limits that are met exactly at some batch, or none.
func anyLimits(t *rapid.T, c *curve, r search.Range) workload.Limits {
	var l workload.Limits
	at := func(name string) figures.Outcome {
		free := *c
		free.memory = r.Max
		return free.outcome(rapid.IntRange(1, r.Max).Draw(t, name))
	}
	if c.tpot != nil && rapid.Bool().Draw(t, "limit TPOT") {
		l.TPOT = at("TPOT of batch").TPOT
	}
	if c.ttft != nil && rapid.Bool().Draw(t, "limit TTFT") {
		l.TTFT = at("TTFT of batch").TTFT
	}
	return l
}

// anyTime draws a time that grows with the batch. Its coefficients keep the
// throughputs of two batches below 3000 more than same apart.
func anyTime(t *rapid.T, name string) func(batch int) float64 {
	fixed, each := rapid.Float64Range(0.2, 50).Draw(t, name), rapid.Float64Range(0.001, 0.5).Draw(t, name)
	return func(b int) float64 { return fixed + each*float64(b) }
}

// TestSearchSmooth: where time has no jumps the search is exact and short.
func TestSearchSmooth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &curve{tpot: anyTime(t, "TPOT"), ttft: anyTime(t, "TTFT"), memory: rapid.IntRange(0, 4000).Draw(t, "memory")}
		r := anyRange(t)
		window := rapid.IntRange(1, 64).Draw(t, "window")
		compare(t, c, c, r, anyLimits(t, c, r), window, false)
		most := window + ripple + 24 + 2*12 + 8
		if r.Max-r.Min > 8*window {
			most += 16 * 9 // from 3000 down by sixteenths
		}
		if c.asked > most {
			t.Errorf("asked for %d batches, want %d or fewer", c.asked, most)
		}
	})
}

// TestSearchPeak: throughput may fall again long before a limit binds. Near the
// peak batches are hard to tell apart.
func TestSearchPeak(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line, square := anyTime(t, "TPOT"), rapid.Float64Range(1e-5, 1e-2).Draw(t, "square")
		c := &curve{
			tpot:   func(b int) float64 { return line(b) + square*float64(b*b) },
			memory: rapid.IntRange(0, 4000).Draw(t, "memory"),
		}
		r := anyRange(t)
		compare(t, c, c, r, anyLimits(t, c, r), rapid.IntRange(1, 64).Draw(t, "window"), true)
	})
}

// TestSearchJumps: all batches but every n-th take longer, as experts do that
// do not divide evenly. Bisection would stop anywhere.
func TestSearchJumps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		smooth := &curve{tpot: anyTime(t, "TPOT"), ttft: anyTime(t, "TTFT"), memory: rapid.IntRange(0, 4000).Draw(t, "memory")}
		period, phase := rapid.IntRange(1, 700).Draw(t, "period"), rapid.IntRange(0, 700).Draw(t, "phase")
		jump := rapid.Float64Range(1, 3).Draw(t, "jump")
		exact := *smooth
		exact.tpot = func(b int) float64 {
			if b%period == phase%period {
				return smooth.tpot(b)
			}
			return smooth.tpot(b) * jump
		}
		r := anyRange(t)
		compare(t, &exact, smooth, r, anyLimits(t, &exact, r), rapid.IntRange(1, 64).Draw(t, "window"), false)
	})
}

// TestSearchWaves: prompts come in waves, and all batches of whole waves have
// the same throughput. The window must hold a wave.
func TestSearchWaves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		step, wave := anyTime(t, "prefill"), rapid.IntRange(1, 300).Draw(t, "wave")
		c := &curve{memory: rapid.IntRange(0, 4000).Draw(t, "memory")}
		waves := func(b int) (makespan, sum float64) {
			for ; b > 0; b -= wave {
				n := min(b, wave)
				makespan += step(n)
				sum += makespan * float64(n)
			}
			return makespan, sum
		}
		c.makespan = func(b int) float64 { m, _ := waves(b); return m }
		c.ttft = func(b int) float64 { _, s := waves(b); return s / float64(b) }
		r := anyRange(t)
		compare(t, c, c, r, anyLimits(t, c, r), wave+rapid.IntRange(1, 64).Draw(t, "more"), false)
	})
}

// TestSearchVerdicts: what binds, and what is said where nothing fits.
func TestSearchVerdicts(t *testing.T) {
	c := &curve{
		tpot: func(b int) float64 { return 10 + float64(b) }, ttft: func(b int) float64 { return 100 * float64(b) },
		memory: 500,
	}
	for _, x := range []struct {
		name      string
		limits    workload.Limits
		r         search.Range
		wantBatch int // 0 = none
		binds     search.Verdict
	}{
		{"memory", workload.Limits{}, search.Range{Min: 1, Max: 1000}, 500, search.NoMemory},
		{"memory, default range", workload.Limits{}, search.DefaultRange(), 500, search.NoMemory},
		{"TPOT", workload.Limits{TPOT: millis(60)}, search.DefaultRange(), 50, search.OverTPOT}, // met exactly
		{"TPOT just below", workload.Limits{TPOT: millis(59.999)}, search.DefaultRange(), 49, search.OverTPOT},
		{"TTFT", workload.Limits{TTFT: millis(700)}, search.DefaultRange(), 7, search.OverTTFT},
		{"the tighter one", workload.Limits{TTFT: millis(700), TPOT: millis(16)}, search.DefaultRange(), 6, search.OverTPOT},
		{"both at once, TPOT first", workload.Limits{TTFT: millis(700), TPOT: millis(17)}, search.DefaultRange(), 7, search.OverTPOT},
		{"end of the range", workload.Limits{TPOT: millis(60)}, search.Range{Min: 1, Max: 20, Given: true}, 20, search.RangeEnds},
		{"range of one", workload.Limits{TPOT: millis(60)}, search.Range{Min: 20, Max: 20, Given: true}, 20, search.RangeEnds},
		{"range above a limit", workload.Limits{TPOT: millis(60)}, search.Range{Min: 51, Max: 100, Given: true}, 0, search.OverTPOT},
		{"one batch above a limit", workload.Limits{TTFT: millis(700)}, search.Range{Min: 8, Max: 8, Given: true}, 0, search.OverTTFT},
		{"range above memory", workload.Limits{TPOT: millis(60)}, search.Range{Min: 501, Max: 600, Given: true}, 0, search.NoMemory},
		{"one batch above memory", workload.Limits{}, search.Range{Min: 501, Max: 501, Given: true}, 0, search.NoMemory},
		{"impossible", workload.Limits{TPOT: millis(1)}, search.DefaultRange(), 0, search.OverTPOT},
	} {
		t.Run(x.name, func(t *testing.T) {
			f := searchBatch(c, c, x.r, x.limits, window)
			if f.ok != (x.wantBatch > 0) || f.best.Batch != x.wantBatch || f.binds != x.binds {
				t.Errorf("want batch %d bound by %q, got %d by %q", x.wantBatch, x.binds, f.best.Batch, f.binds)
			}
			if f.first.Batch != x.r.Min {
				t.Errorf("first batch %d", f.first.Batch)
			}
		})
	}
}

// TestSearchNoMemory: where not even the first batch fits, no other is tried.
func TestSearchNoMemory(t *testing.T) {
	c := &curve{tpot: func(int) float64 { return 1 }}
	f := searchBatch(c, c, search.DefaultRange(), workload.Limits{}, window)
	if f.ok || f.binds != search.NoMemory || f.first.OOM == "" || f.points != nil {
		t.Errorf("%+v", f)
	}
	if c.asked > 2 {
		t.Errorf("asked for %d batches", c.asked)
	}
}

// TestBisectProbes: unequal prompts are searched as the vendor does, probe by
// probe.
func TestBisectProbes(t *testing.T) {
	given := func(low, high int) search.Range { return search.Range{Min: low, Max: high, Given: true} }
	for _, c := range []struct {
		name     string
		r        search.Range
		feasible int
		want     []int
	}{
		{"below the first step", search.DefaultRange(), 175, []int{1, 512, 256, 128, 192, 160, 176, 168, 172, 174, 175}},
		{"after doubling", search.DefaultRange(), 600, []int{1, 512, 1024, 768, 639, 575, 607, 591, 599, 603, 601, 600}},
		{"range", given(1, 256), 100, []int{1, 128, 64, 96, 112, 104, 100, 102, 101}},
		{"end of the range", given(1, 64), 64, []int{1, 32, 48, 56, 60, 62, 63, 64}},
		{"narrow", given(2, 8), 5, []int{2, 5, 7, 6}},
		{"nothing", search.DefaultRange(), 0, []int{1}},
		{"a range that was not given", search.Range{Min: 1, Max: 20}, 1000, []int{1, 10, 15, 18, 19, 20}},
		{"another", search.Range{Min: 1, Max: 600}, 1000, []int{1, 512, 556, 578, 589, 595, 598, 599, 600}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var probes []int
			f := bisectBatch(func(b int) figures.Outcome {
				probes = append(probes, b)
				o := figures.Outcome{Batch: b, Figures: figures.Figures{Times: figures.Times{TTFT: units.Seconds(b)}, Throughput: float64(b)}}
				return o
			}, c.r, &search.Judge{Limits: workload.Limits{TTFT: units.Seconds(c.feasible) + 0.5}})
			probes = probes[:len(probes)-len(f.points)] // those for plots
			if d := cmp.Diff(c.want, probes); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			want := min(c.feasible, c.r.Max)
			binds := search.OverTTFT
			if want == c.r.Max {
				binds = search.RangeEnds
			}
			if f.ok != (want > 0) || f.best.Batch != want || f.binds != binds {
				t.Errorf("want batch %d, bound by %q; got %d, by %q", want, binds, f.best.Batch, f.binds)
			}
		})
	}
	if f := bisectBatch(func(b int) figures.Outcome { return figures.Outcome{Batch: b} }, search.DefaultRange(), &search.Judge{Limits: workload.Limits{}}); f.binds != search.RangeEnds {
		t.Errorf("without an end: bound by %q", f.binds)
	}
}

// TestBisectBest: of the batches bisection accepts, the one with the most
// throughput, which need not be the largest.
func TestBisectBest(t *testing.T) {
	c := &curve{memory: 700, ttft: func(b int) float64 { return float64(b) }}
	c.makespan = func(b int) float64 { return float64(b) * (1 + math.Abs(float64(b-640))) }
	f := bisectBatch(c.outcome, search.DefaultRange(), &search.Judge{Limits: workload.Limits{TTFT: millis(690)}})
	if !f.ok || f.best.Batch != 639 || f.binds != search.OverTTFT { // probes 512, 1024, 768, 639, 703, 671, …
		t.Errorf("want batch 639 bound by TTFT, got %d by %q", f.best.Batch, f.binds)
	}
	c.memory = 0
	if f = bisectBatch(c.outcome, search.DefaultRange(), &search.Judge{Limits: workload.Limits{}}); f.ok || f.binds != search.NoMemory {
		t.Errorf("want no memory, got %t, %q", f.ok, f.binds)
	}
}

func TestJudge(t *testing.T) {
	at := figures.Outcome{Figures: figures.Figures{Times: figures.Times{TTFT: 2, TPOT: 3}}}
	full := at
	full.OOM = figures.Prefill
	for _, c := range []struct {
		o    figures.Outcome
		l    workload.Limits
		want search.Verdict
	}{
		{at, workload.Limits{}, search.Fits},
		{at, workload.Limits{TTFT: 2, TPOT: 3}, search.Fits},
		{at, workload.Limits{TTFT: 1.9, TPOT: 2.9}, search.OverTPOT},
		{at, workload.Limits{TTFT: 1.9, TPOT: 3}, search.OverTTFT},
		{full, workload.Limits{TTFT: 1.9, TPOT: 2.9}, search.NoMemory},
	} {
		if got := verdict(&c.o, c.l); got != c.want {
			t.Errorf("%+v under %+v: want %q, got %q", c.o, c.l, c.want, got)
		}
	}
}
