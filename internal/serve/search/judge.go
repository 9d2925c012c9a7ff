package search

import (
	"fmt"
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// Verdict says whether an outcome meets the limits, and which it misses.
type Verdict string

// The verdicts, and what binds a best load.
const (
	Fits         Verdict = ""
	NoMemory     Verdict = "memory"
	OverTTFT     Verdict = "TTFT limit"
	OverTPOT     Verdict = "TPOT limit"
	OverLatency  Verdict = "request latency limit"
	RangeEnds    Verdict = "batch range"
	OverBudget   Verdict = "token budget"
	IllegalShape Verdict = "layout"
	Saturated    Verdict = "saturation" // more requests only wait longer
)

// Errors are those to expect of predicted times. The search does not know where they come
// from.
type Errors interface {
	// Chances are the probabilities that times meet each limit; without a limit it is 1.
	Chances(t figures.Times, l workload.Limits) (first, each, whole float64)
	// Reachable are limits that times meet, each with a probability.
	Reachable(t figures.Times, probability float64) workload.Limits
}

// DefaultConfidence is the default probability with which outcomes must meet the limits.
const DefaultConfidence = 0.5

// Judge decides which outcomes meet the limits. It is the only place that does.
type Judge struct {
	Limits workload.Limits
	// Percentile of the requests whose times the limits apply to; 0 is their mean.
	Percentile float64
	// Together says that this share of the requests is to meet all limits at once, not each limit separately.
	Together bool
	// Confidence is the probability with which limits are to be met, where errors are
	// known.
	Confidence float64
}

// Verdict judges an outcome. Memory comes first. Where errors are known, all limits
// together must be met with the confidence, and the least likely one is to blame;
// without, a time exactly at its limit meets it.
func (j *Judge) Verdict(o *figures.Outcome, e Errors) Verdict {
	if o.OOM != "" {
		return NoMemory
	}
	return j.Misses(o.Times, e)
}

// Misses says which limit times miss.
func (j *Judge) Misses(t figures.Times, e Errors) Verdict {
	joint := j.joint(t)
	if e == nil {
		return j.certain(joint)
	}
	ttft, tpot, whole := e.Chances(joint, j.Limits)
	switch least := min(ttft, tpot, whole); {
	case ttft*tpot*whole >= j.Confidence:
		return Fits
	case least == whole:
		return OverLatency
	case least == tpot:
		return OverTPOT
	}
	return OverTTFT
}

// joint are the times that meet their limits where requests meet all limits together: the one that is nearest to its limit, or
// furthest beyond it, stands for all.
func (j *Judge) joint(out figures.Times) figures.Times {
	if !j.Together {
		return out
	}
	l := j.Limits.Finite()
	var time *units.Seconds
	limit, most, several := units.Seconds(0), 0.0, -1
	for _, x := range [...]struct {
		time  *units.Seconds
		limit units.Seconds
	}{{&out.TTFT, l.TTFT}, {&out.TPOT, l.TPOT}, {&out.Latency, l.Latency}} {
		if x.limit > 0 {
			several++
			if share := float64(*x.time / x.limit); share > most {
				time, limit, most = x.time, x.limit, share
			}
		}
	}
	if several > 0 && time != nil {
		*time = max(*time, out.SLORatio*limit)
	}
	return out
}

// latest is the longest TTFT that may meet its limit.
func (j *Judge) latest(e Errors) units.Seconds {
	limit := j.Limits.TTFT
	if limit == 0 || math.IsInf(float64(limit), 1) {
		return units.Seconds(math.Inf(1))
	}
	if e == nil {
		return limit
	}
	low, high := units.Seconds(0), 100*limit
	const steps = 20 // to a thousandth
	for range steps {
		middle := (low + high) / 2
		if ttft, _, _ := e.Chances(figures.Times{TTFT: middle}, j.Limits); ttft >= j.Confidence {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// certain judges the times themselves.
func (j *Judge) certain(t figures.Times) Verdict {
	switch l := &j.Limits; {
	case l.TPOT > 0 && t.TPOT > l.TPOT:
		return OverTPOT
	case l.TTFT > 0 && t.TTFT > l.TTFT:
		return OverTTFT
	case l.Latency > 0 && t.Latency > l.Latency:
		return OverLatency
	}
	return Fits
}

// Chance is the probability that times meet all limits; without errors 0 or 1.
func (j *Judge) Chance(t figures.Times, e Errors) float64 {
	joint := j.joint(t)
	if e == nil {
		if j.certain(joint) == Fits {
			return 1
		}
		return 0
	}
	ttft, tpot, whole := e.Chances(joint, j.Limits)
	return ttft * tpot * whole
}

// Over is how many times as long as its limit the time is that misses its limit most.
func (j *Judge) Over(t figures.Times) float64 {
	joint := j.joint(t)
	return j.Limits.Finite().SLORatio(joint.TTFT, joint.TPOT, joint.Latency)
}

// Nearest are the limits, as far as there are any, that times meet with the
// confidence; none is tighter than the one that was asked for.
func (j *Judge) Nearest(t figures.Times, e Errors) workload.Limits {
	l := j.Limits.Finite()
	count := 0
	for _, x := range [...]units.Seconds{l.TTFT, l.TPOT, l.Latency} {
		if x > 0 {
			count++
		}
	}
	if count == 0 {
		return l
	}
	joint := t
	if j.Together && count > 1 { // all limits are as much wider as the request that decides needs
		by := t.SLORatio
		joint.TTFT, joint.TPOT, joint.Latency = max(t.TTFT, by*l.TTFT), max(t.TPOT, by*l.TPOT), max(t.Latency, by*l.Latency)
	}
	reach := workload.Limits{TTFT: joint.TTFT, TPOT: joint.TPOT, Latency: joint.Latency}
	if e != nil {
		// Each limit lowers the chance of all. The product of rounded probabilities is to be
		// no less than the confidence.
		const rounding = 1 + 1e-9
		each := math.Pow(j.Confidence, 1/float64(count))
		reach = e.Reachable(joint.Longer(rounding), each)
	}
	wider := func(limit, reach units.Seconds) units.Seconds {
		if limit == 0 {
			return 0
		}
		return max(limit, reach)
	}
	return workload.Limits{TTFT: wider(l.TTFT, reach.TTFT), TPOT: wider(l.TPOT, reach.TPOT), Latency: wider(l.Latency, reach.Latency)}
}

// Reason says in a sentence why an outcome is not taken.
func (j *Judge) Reason(v Verdict, o *figures.Outcome) string {
	var time, limit units.Seconds
	name := ""
	switch v {
	case NoMemory:
		if o.Use.Available >= 0 {
			return "no request fits in the KV cache"
		}
		return fmt.Sprintf("batch %d does not fit in memory: %s short in %s", o.Batch, -o.Use.Available, o.OOM)
	case OverTTFT:
		time, limit, name = o.TTFT, j.Limits.TTFT, "TTFT"
	case OverTPOT:
		time, limit, name = o.TPOT, j.Limits.TPOT, "TPOT"
	case OverLatency:
		time, limit, name = o.Latency, j.Limits.Latency, "request latency"
	case Fits, RangeEnds, OverBudget, IllegalShape, Saturated:
	}
	if limit == 0 || math.IsInf(float64(limit), 1) {
		return "no batch in the range meets the limits"
	}
	if time <= limit {
		return fmt.Sprintf("%s %.2f ms at batch %d is too near the limit of %.2f ms to meet it with a probability of %g", name, time.Ms(), o.Batch, limit.Ms(), j.Confidence)
	}
	return fmt.Sprintf("%s %.2f ms at batch %d is over the limit of %.2f ms", name, time.Ms(), o.Batch, limit.Ms())
}
