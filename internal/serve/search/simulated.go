package search

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/memory"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/replica"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
)

// Simulated evaluates candidates by simulating their deployments in a closed
// loop: means of TTFT and TPOT, and output tokens per second, exactly as a
// simulation of the same deployment at that concurrency gives them.
type Simulated struct {
	// Fleet builds the deployment of a candidate.
	Fleet func(Candidate) (*replica.Fleet, error)
	// Experts says that labels show the expert dimensions.
	Experts bool
	// Input and Output are the lengths of the requests.
	Input, Output sim.Lengths
	Limits        workload.Limits
	// Chances are the probabilities that an outcome meets the limits on TTFT and on
	// TPOT; together they must be at least Confidence. Without Chances the outcome
	// itself must keep them.
	Chances    func(*Result, *formulas.Outcome) (ttft, tpot float64)
	Confidence float64
	Range      Range // of the batch per data-parallel rank
	Seed       uint64
}

// ladder is the step between two concurrencies that are tried in turn while all
// meet the limits.
const ladder = 2

// Evaluate implements [Evaluator]: it climbs the concurrencies until a limit, the
// cache, the range or a load that only makes requests wait ends it, then narrows
// the last step down by bisection. Of all that meet the limits, the one with the
// most throughput is the best, of equal ones that with the fewest requests.
// Replicas are equal: one of them is searched, and its best load is simulated on
// all.
func (s *Simulated) Evaluate(ctx context.Context, c Candidate) Result {
	r := Result{Candidate: c, Label: c.Label(s.Experts)}
	one := c
	one.Replicas = 1
	fleet, err := s.Fleet(one)
	if err != nil {
		r.Binds, r.Reason = s.refusal(err), sentence(err)
		return r
	}
	r.Load = s.load(&c, fleet)
	t := trial{ctx: ctx, s: s, fleet: fleet, result: &r, copies: max(1, c.Replicas)}
	ranks := max(1, c.Layout.DP)
	most := s.most(fleet)
	low, high := 0, 0 // the largest batch that meets the limits, the smallest that does not
	for b := max(1, s.Range.Min); t.err == nil; b = min(ladder*b, most) {
		before := r.Best
		if r.Binds = t.at(b, ranks); r.Binds != Fits {
			high = b
			break
		}
		if low > 0 && t.saturated() {
			r.Best, r.Binds = before, Saturated // of the two, the one that waits less
			break
		}
		if low = b; b >= most {
			break
		}
	}
	for high-low > 1 && t.err == nil && low > 0 {
		if b := (low + high) / 2; t.at(b, ranks) == Fits {
			low = b
		} else {
			high = b
		}
	}
	t.confirm()
	return t.finish(low, most)
}

// most is the largest batch worth trying: of the range, and what an engine runs at a
// time. Beyond that requests only wait.
func (s *Simulated) most(f *replica.Fleet) int {
	runs := f.Config(nil).Workers.Engine.MaxSequences
	if runs == 0 {
		return s.Range.Max
	}
	return min(s.Range.Max, max(runs, s.Range.Min))
}

// confirm simulates the best load on all replicas. Where lengths vary their
// requests are other ones, and a few batches less may be needed to meet the limits.
func (t *trial) confirm() {
	r, copies := t.result, t.copies
	if copies == 1 || !r.OK || t.err != nil {
		return
	}
	if t.fleet, t.err = t.s.Fleet(r.Candidate); t.err != nil {
		return
	}
	t.copies = 1
	ranks := r.Candidate.Ranks()
	const tries, less = 8, 0.95
	batch := r.Best.Batch
	r.OK = false
	for range tries {
		if t.at(batch, ranks); r.OK || t.err != nil || batch == 1 {
			break
		}
		batch = max(1, int(less*float64(batch)))
	}
}

// load is what rows show of the requests and of a step's budget.
func (s *Simulated) load(c *Candidate, f *replica.Fleet) formulas.Load {
	l := formulas.Load{Input: s.Input.Tokens, Output: s.Output.Tokens, DecodeQuery: 1 + c.MTP}
	if d := s.Input.Distribution; d != nil {
		l.Input = d.MeanEffective(0)
	}
	config := f.Config(nil)
	l.Budget = config.Workers.Engine.TokenBudget
	return l
}

// refusal says what a fleet that cannot be built fails on.
func (s *Simulated) refusal(err error) Verdict {
	if errors.Is(err, replica.ErrNoCache) {
		return NoMemory
	}
	return IllegalShape
}

// trial is the evaluation of one candidate in progress.
type trial struct {
	ctx    context.Context
	s      *Simulated
	fleet  *replica.Fleet
	result *Result
	copies int // of the fleet that is simulated
	err    error
}

// at simulates a batch per rank and holds it to the limits.
func (t *trial) at(batch, ranks int) Verdict {
	concurrency := batch * ranks
	config := t.fleet.Config(sim.Benchmark(concurrency, t.s.Input, t.s.Output))
	config.Seed = t.s.Seed
	res, err := sim.Run(t.ctx, &config)
	if err != nil {
		t.err = err
		return NoMemory
	}
	o := t.outcome(batch, concurrency, res)
	r := t.result
	if r.First.Batch == 0 {
		r.First = o
	}
	v := t.judge(&o)
	if o.OOM == "" {
		r.Points = append(r.Points, o)
	}
	if v == Fits && (!r.OK || o.Throughput > r.Best.Throughput*(1+same)) {
		r.Best, r.OK = o, true
	}
	return v
}

// judge holds an outcome to the limits with the confidence asked for.
func (t *trial) judge(o *formulas.Outcome) Verdict {
	if t.s.Chances == nil || o.OOM != "" {
		return judge(o, t.s.Limits)
	}
	ttft, tpot := t.s.Chances(t.result, o)
	switch {
	case ttft*tpot >= t.s.Confidence:
		return Fits
	case tpot <= ttft:
		return OverTPOT
	}
	return OverTTFT
}

// outcome is a simulation as rows show it.
func (t *trial) outcome(batch, concurrency int, res *sim.Result) formulas.Outcome {
	b := &t.fleet.Generates().Memory
	o := formulas.Outcome{
		Batch: batch, Concurrency: t.copies * concurrency, TTFT: res.TTFT.Mean, TPOT: res.TPOT.Mean,
		Throughput: float64(t.copies) * res.OutputRate,
		Use: memory.Use{
			Weights: b.Weights, KV: units.Bytes(res.KVPeak()) * b.KV, Activation: b.Activation,
			Reserved: b.Memory - b.Weights - b.Activation - b.KV,
		},
	}
	o.Use.Available = b.KV - o.Use.KV
	if res.Finished == 0 {
		o.OOM = formulas.DecodePhase
	}
	return o
}

// saturated reports whether the last doubling of the load brought next to
// nothing: requests only wait longer.
func (t *trial) saturated() bool {
	const gain = 1.01
	p := t.result.Points
	return len(p) > 1 && p[len(p)-1].Throughput < gain*p[len(p)-2].Throughput
}

// finish says what binds the best batch, or why there is none.
func (t *trial) finish(last, most int) Result {
	r := t.result
	switch {
	case t.err != nil:
		r.OK, r.Reason = false, sentence(t.err)
	case !r.OK && r.First.OOM != "":
		r.Binds, r.Reason = NoMemory, "no request fits in the KV cache"
	case !r.OK:
		r.Reason = overLimit(r.Binds, &r.First, t.s.Limits)
	case last == t.s.Range.Max && r.Binds != Saturated:
		r.Binds = RangeEnds
	case last == most:
		r.Binds = Saturated
	}
	return *r
}

// overLimit is why an outcome does not meet the limits.
func overLimit(v Verdict, o *formulas.Outcome, l workload.Limits) string {
	time, name, limit := o.TTFT, "TTFT", l.TTFT
	if v == OverTPOT {
		time, name, limit = o.TPOT, "TPOT", l.TPOT
	}
	if limit == 0 || math.IsInf(float64(limit), 1) {
		return "no batch in the range meets the limits"
	}
	return fmt.Sprintf("%s %.2f ms at batch %d is over the limit of %.2f ms", name, time.Ms(), o.Batch, limit.Ms())
}
