package formulas

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// PrefillOnly evaluates a deployment that only computes prompts.
func PrefillOnly(e Engine, l *Load, batch int) figures.Outcome {
	o := figures.Outcome{Batch: batch, Concurrency: l.concurrency(batch)}
	tokens := float64(l.Input) * float64(o.Concurrency)
	if l.Distribution != nil {
		o.Makespan = l.ServingCost
		l.packedPrefill(e, &o)
		tokens = 0
		perRank := parallel.MaxPerRank(o.Concurrency, l.DP)
		for _, r := range l.Distribution.Deal(perRank, l.HitRate) {
			tokens += float64(l.DP) * float64(r.Tokens) * float64(r.Samples)
		}
	} else {
		l.prefillWaves(e, &o)
	}
	if o.OOM == "" {
		o.Throughput = tokens / float64(o.Makespan)
	}
	return o
}

// prefillWaves computes all requests chunk by chunk, a budget's worth at a
// time: every request finishes a chunk before any starts the next.
func (l *Load) prefillWaves(e Engine, o *figures.Outcome) {
	chunks := workload.Chunks(workload.Effective(l.Input, l.HitRate), l.Budget)
	budget := l.Budget * l.DP
	o.Chunks = len(chunks)
	clock := l.ServingCost
	var sum units.Seconds
	var held units.Bytes // between two chunks of a prompt
	if len(chunks) > 1 {
		held = e.Cached(o.Concurrency, chunks[len(chunks)-1].Seq)
	}
	for _, c := range chunks {
		wave := max(1, budget/c.Query)
		for _, part := range [2]struct{ waves, n int }{
			{o.Concurrency / wave, wave}, {1, o.Concurrency % wave},
		} {
			if part.waves == 0 || part.n == 0 {
				continue
			}
			s := e.Prefill(part.n, c.Query, c.Seq).holding(held)
			fuller(o, &s)
			if s.left() < 0 {
				o.OOM = figures.Prefill
				return
			}
			w := units.Seconds(part.waves)
			if c.Last { // wave i of w ends i steps from now
				sum += units.Seconds(part.n) * (w*clock + s.Time*w*(w+1)/2)
			}
			clock += w * s.Time
			if o.PrefillTime == 0 {
				o.PrefillTime, o.PrefillBatch = s.Time, part.n
			}
			o.PrefillBound = o.PrefillBound.Plus(s.Bound.Times(w))
		}
	}
	o.TTFT = sum / units.Seconds(o.Concurrency)
	o.Makespan = clock
}

// DecodeOnly evaluates a deployment that only produces tokens.
func DecodeOnly(e Engine, l *Load, batch int) figures.Outcome {
	o := figures.Outcome{Batch: batch, Concurrency: l.concurrency(batch)}
	s := e.Decode(o.Concurrency, l.DecodeQuery, l.DecodeSeq())
	fuller(&o, &s)
	o.DecodeTime, o.DecodeBound = s.Time, s.Bound
	if s.left() < 0 {
		o.OOM = figures.Decode
		return o
	}
	o.TPOT = (s.Time + l.ServingCost) / units.Seconds(l.Fold)
	o.Throughput = float64(o.Concurrency) / float64(o.TPOT)
	return o
}

// QPS is the requests per second of a phase, as the disaggregated tables print
// it: prompts by the time to first token, answers by all their tokens.
func (l *Load) QPS(o *figures.Outcome) float64 {
	switch {
	case o.TTFT > 0 && o.TPOT == 0:
		return l.Prompts(o)
	case o.TPOT > 0 && o.TTFT == 0:
		return float64(o.Concurrency) / float64(o.TPOT*units.Seconds(l.Output))
	}
	return 0
}

// Prompts is the requests per second of a prefill as the guide counts them. It has
// no rate of unequal prompts, of which most end long before the last: theirs is what
// the prefill sustains.
func (l *Load) Prompts(o *figures.Outcome) float64 {
	if l.Distribution != nil {
		return Sustained(o)
	}
	return float64(o.Concurrency) / float64(o.TTFT)
}

// Sustained is the requests per second of a prefill that computes one batch after
// another. In a batch of several waves the mean time to first token is shorter than
// the time the batch takes.
func Sustained(o *figures.Outcome) float64 { return float64(o.Concurrency) / float64(o.Makespan) }
