package search

import (
	"plimsoll/internal/serving"
	"plimsoll/internal/workload"
)

// Range is the batch sizes to try, per data-parallel rank.
type Range struct {
	Min, Max int
	Given    bool // by the user: then Max binds like a limit
}

// DefaultRange is one to as many as the vendor's doubling would reach.
func DefaultRange() Range { return Range{Min: 1, Max: 1 << 19} }

// Verdict says whether an outcome meets the limits.
type Verdict string

// The verdicts, and what binds a best batch.
const (
	Fits         Verdict = ""
	NoMemory     Verdict = "memory"
	OverTTFT     Verdict = "TTFT limit"
	OverTPOT     Verdict = "TPOT limit"
	RangeEnds    Verdict = "batch range"
	IllegalShape Verdict = "layout"
	Saturated    Verdict = "saturation" // more requests only wait longer
)

// judge holds an outcome to the limits: memory first, then TPOT, then TTFT. An
// outcome exactly at a limit keeps it.
func judge(o *serving.Outcome, l workload.Limits) Verdict {
	switch {
	case o.OOM != "":
		return NoMemory
	case l.TPOT > 0 && o.TPOT > l.TPOT:
		return OverTPOT
	case l.TTFT > 0 && o.TTFT > l.TTFT:
		return OverTTFT
	}
	return Fits
}

// evaluate returns the outcome at a batch size.
type evaluate func(batch int) serving.Outcome

// found is what a batch search returns.
type found struct {
	best   serving.Outcome
	ok     bool
	binds  Verdict         // what keeps the batch from growing, or why there is none
	first  serving.Outcome // at the smallest batch, for the nearest feasible limits
	points []serving.Outcome
}

// window is how many batch sizes are looked at without finding a better one
// before an upper bound may end the search, ripple how many are looked at above
// the last feasible one. Throughputs closer than same are equal.
const (
	window      = 512
	widest      = 1 << 14 // for prompts of a few tokens
	mixedWindow = 48
	ripple      = 8
	same        = 1e-9
)

// searchBatch finds the batch with the most throughput inside the limits.
//
// Time may jump with the batch (experts that divide evenly or not), so
// bisection on the true time can stop at a poor batch. Instead exact is bounded
// from below by relaxed, which has no jumps: no batch is feasible beyond the
// last one that relaxed makes feasible. From there batches are evaluated exactly
// in falling order until none was better for a whole window and relaxed says
// that none below can be. For models without jumps the two are one function.
func searchBatch(exact, relaxed evaluate, r Range, l workload.Limits, window int, tight bool) found {
	f := found{first: exact(r.Min)}
	start := relaxed(r.Min)
	if v := judge(&start, l); v == NoMemory {
		f.binds = v
		return f
	}
	last := lastFeasible(relaxed, r, l)
	over := relaxed(min(last+1, r.Max))
	f.binds = judge(&over, l)
	if last == r.Max {
		f.binds = RangeEnds
	}
	// Waves make the relaxed time ripple a little too: look just beyond.
	for b, idle := min(last+ripple, r.Max), 0; b >= r.Min; b, idle = b-1, idle+1 {
		if f.ok && idle >= window {
			if bound := relaxed(b); bound.Throughput <= f.best.Throughput*(1+same) {
				break
			}
		}
		o := exact(b)
		if judge(&o, l) != Fits {
			continue
		}
		if !f.ok || better(&o, &f.best, tight) {
			f.best, f.ok, idle = o, true, 0
		}
	}
	if !f.ok && f.binds == RangeEnds {
		f.binds = judge(&f.first, l)
	}
	f.points = samples(exact, r, last)
	return f
}

// bisectBatch finds a batch for a load of unequal prompts as the vendor does:
// doubling, then bisection on feasibility, and of the batches bisection accepts
// the one with the most throughput. An exact search would be misled: the fewer
// requests a batch has, the more it leaves out of the distribution's long tail,
// and a batch of one is all short prompts.
func bisectBatch(exact evaluate, r Range, l workload.Limits) found {
	f := found{first: exact(r.Min)}
	if f.binds = judge(&f.first, l); f.binds != Fits {
		return f
	}
	lo, hi := r.Min, r.Max
	if !r.Given {
		const first = 512
		for hi = min(first, r.Max); hi < r.Max; {
			o := exact(hi)
			if judge(&o, l) != Fits {
				break
			}
			lo, hi = hi, min(2*hi, r.Max)
		}
	}
	f.best, f.ok, f.binds = f.first, true, RangeEnds
	recorded := false
	for lo <= hi {
		mid := (lo + hi) / 2
		o := exact(mid)
		if v := judge(&o, l); v != Fits {
			f.binds = v
			hi = mid - 1
			continue
		}
		lo = mid + 1
		if !recorded || o.Throughput > f.best.Throughput {
			f.best, recorded = o, true
		}
	}
	f.points = samples(exact, r, f.best.Batch)
	return f
}

// better reports whether o, at a smaller batch, is to be preferred. Equal
// throughputs differ in their last digits only.
func better(o, best *serving.Outcome, tight bool) bool {
	if o.Throughput > best.Throughput*(1+same) {
		return true
	}
	return tight && o.Throughput >= best.Throughput*(1-same)
}

// lastFeasible is the largest batch the relaxed time makes feasible, by
// doubling and bisection; r.Min when even that is not (the exact time may still
// be asked there).
func lastFeasible(relaxed evaluate, r Range, l workload.Limits) int {
	ok := func(b int) bool {
		o := relaxed(b)
		return judge(&o, l) == Fits
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
func samples(exact evaluate, r Range, last int) []serving.Outcome {
	const count = 24
	top := min(r.Max, 2*last)
	var out []serving.Outcome
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

// Meets reports whether an outcome fits in memory and meets limits.
func Meets(o *serving.Outcome, l workload.Limits) bool { return judge(o, l) == Fits }
