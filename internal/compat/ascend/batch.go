package ascend

import (
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// evaluate returns the outcome at a batch size.
type evaluate func(batch int) figures.Outcome

// found is what a batch search returns.
type found struct {
	best   figures.Outcome
	ok     bool
	binds  search.Verdict  // what keeps the batch from growing, or why there is none
	first  figures.Outcome // at the smallest batch, for the nearest feasible limits
	points []figures.Outcome
}

// window is how many batch sizes are looked at without finding a better one
// before an upper bound may end the search, ripple how many are looked at above
// the last feasible one, and farthest how many at all. Throughputs closer than same
// are equal.
const (
	window      = 512
	wide        = 1 << 11 // for prompts of a few tokens, where a batch takes two steps
	widest      = 1 << 14 // and where it takes one
	mixedWindow = 48
	ripple      = 8
	farthest    = 1 << 13
	same        = 1e-9
)

// rating is what a batch is chosen by.
type rating func(*figures.Outcome) float64

func throughput(o *figures.Outcome) float64 { return o.Throughput }

// batchSearch finds the batch with the best rating inside the limits, the smallest
// of equal ones.
//
// Time may jump with the batch (experts that divide evenly or not), so
// bisection on the true time can stop at a poor batch. Instead exact is bounded
// from below by relaxed, which has no jumps: no batch is feasible beyond the
// last one that relaxed makes feasible. From there batches are evaluated exactly
// in falling order until none was better for a whole window and relaxed says
// that none below can be. For models without jumps the two are one function.
//
// With waves a batch is n whole waves and a rest, and its throughput lies between
// those of a wave and of the rest: the best is whole waves, or less than one. Then
// only the window below the last feasible batch and the smallest batches count.
type batchSearch struct {
	exact, relaxed evaluate
	r              search.Range
	judge          search.Judge
	rate           rating
	window         int
	waves          bool
}

func (s *batchSearch) run() found {
	f := found{first: s.exact(s.r.Min)}
	start := s.relaxed(s.r.Min)
	if v := s.judge.Verdict(&start, nil); v == search.NoMemory {
		f.binds = v
		return f
	}
	last := lastFeasible(s.relaxed, s.r, &s.judge)
	over := s.relaxed(min(last+1, s.r.Max))
	f.binds = s.judge.Verdict(&over, nil)
	if last == s.r.Max {
		f.binds = s.r.Last()
	}
	bottom, tied := s.fall(&f, s.top(last))
	if s.waves || tied {
		tied = s.rise(&f, bottom) || tied
	}
	if tied {
		f.binds = search.Saturated
	}
	if !f.ok && f.binds == s.r.Last() {
		f.binds = s.judge.Verdict(&f.first, nil)
	}
	f.points = samples(s.exact, s.r, last)
	return f
}

// top is where to look from: just above the last feasible batch, since waves make the
// relaxed time ripple a little too. Where that is far from the smallest, and fewer
// requests would do better without jumps, it is just above those.
func (s *batchSearch) top(last int) int {
	top := min(last+ripple, s.r.Max)
	if last-s.r.Min <= 8*s.window {
		return top
	}
	const step = 16 // a sixteenth less each time
	most, above := 0.0, top
	for b := last; b >= s.r.Min; b -= max(1, b/step) {
		if o := s.relaxed(b); s.judge.Verdict(&o, nil) == search.Fits && s.rate(&o) > most*(1+same) {
			most, top = s.rate(&o), above
		}
		above = b
	}
	return top
}

// fall looks for the best batch from top down. It returns the last it looked at, and
// whether a larger batch than the best is as good.
func (s *batchSearch) fall(f *found, top int) (bottom int, tied bool) {
	most := 0.0
	for b, idle := top, 0; b >= s.r.Min && top-b < farthest; b, idle = b-1, idle+1 {
		if f.ok && idle >= s.window {
			if bound := s.relaxed(b); s.waves || s.rate(&bound) <= most*(1+same) {
				return bottom, tied
			}
		}
		o := s.exact(b)
		bottom = b
		if s.judge.Verdict(&o, nil) != search.Fits {
			continue
		}
		switch x := s.rate(&o); {
		case !f.ok || x > most*(1+same):
			f.best, f.ok, most, tied, idle = o, true, x, false, 0
		case x >= most*(1-same):
			f.best, tied = o, true
		}
	}
	return bottom, tied
}

// rise looks for a batch as good as the best or better among the smallest, below
// end. It reports whether one is as good as a larger one.
func (s *batchSearch) rise(f *found, end int) (tied bool) {
	most := s.rate(&f.best)
	for b := s.r.Min; b < min(s.r.Min+s.window, end); b++ {
		o := s.exact(b)
		if s.judge.Verdict(&o, nil) != search.Fits {
			continue
		}
		switch x := s.rate(&o); {
		case !f.ok || x > most*(1+same):
			f.best, f.ok, most, tied = o, true, x, false
		case x >= most*(1-same) && b < f.best.Batch:
			f.best, tied = o, true
		}
	}
	return tied
}

// bisectBatch finds a batch for a load of unequal prompts as the vendor does:
// doubling, then bisection on feasibility, and of the batches bisection accepts
// the one with the most throughput. An exact search would be misled: the fewer
// requests a batch has, the more it leaves out of the distribution's long tail,
// and a batch of one is all short prompts.
func bisectBatch(exact evaluate, r search.Range, j *search.Judge) found {
	f := found{first: exact(r.Min)}
	if f.binds = j.Verdict(&f.first, nil); f.binds != search.Fits {
		return f
	}
	lo, hi := r.Min, r.Max
	if !r.Given {
		const first = 512
		for hi = min(first, r.Max); hi < r.Max; {
			o := exact(hi)
			if j.Verdict(&o, nil) != search.Fits {
				break
			}
			lo, hi = hi, min(2*hi, r.Max)
		}
	}
	f.best, f.ok, f.binds = f.first, true, r.Last()
	recorded := false
	for lo <= hi {
		mid := (lo + hi) / 2
		o := exact(mid)
		if v := j.Verdict(&o, nil); v != search.Fits {
			f.binds = v
			hi = mid - 1
			continue
		}
		lo = mid + 1
		best := f.best.Throughput
		if !recorded || o.Throughput > best*(1+same) || o.Throughput >= best*(1-same) && mid < f.best.Batch {
			f.best, recorded = o, true
		}
	}
	f.points = samples(exact, r, f.best.Batch)
	return f
}

// lastFeasible is the largest batch the relaxed time makes feasible, by
// doubling and bisection; r.Min when even that is not (the exact time may still
// be asked there).
func lastFeasible(relaxed evaluate, r search.Range, j *search.Judge) int {
	ok := func(b int) bool {
		o := relaxed(b)
		return j.Verdict(&o, nil) == search.Fits
	}
	lo, hi := r.Min, r.Min
	for hi < r.Max && ok(min(2*hi, r.Max)) {
		hi = min(2*hi, r.Max)
		lo = hi
	}
	if hi == r.Max {
		return hi
	}
	hi = min(2*hi, r.Max) // infeasible
	for lo+1 < hi {
		mid := (lo + hi) / 2
		if ok(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// samples evaluates batches spread over the range up to twice the last feasible
// one, for plots: all that fit in memory, whatever their latency.
func samples(exact evaluate, r search.Range, last int) []figures.Outcome {
	const count = 24
	top := min(r.Max, 2*last)
	var out []figures.Outcome
	prev := 0
	for i := 1; i <= count; i++ {
		b := max(r.Min, top*i/count)
		if b == prev {
			continue
		}
		prev = b
		if o := exact(b); o.OOM == "" {
			out = append(out, o)
		}
	}
	return out
}
