package formulas

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// Aggregated evaluates prefill and decode on the same devices.
func Aggregated(e Engine, l *Load, batch int) figures.Outcome {
	o := figures.Outcome{Batch: batch, Concurrency: l.concurrency(batch)}
	if l.Distribution != nil {
		// Prompts are not packed for a batch that does not fit anyway.
		d := e.Decode(o.Concurrency, l.DecodeQuery, l.DecodeSeq())
		if d.left() >= 0 {
			l.packedPrefill(e, &o)
		}
		return l.decoded(&o, &d)
	}
	chunks := workload.Chunks(workload.Effective(l.Input, l.HitRate), l.Budget)
	if len(chunks) > 1 {
		return mixed(e, l, o, chunks)
	}
	o.Chunks = 1
	l.wavePrefill(e, &o)
	if o.OOM != "" {
		return o
	}
	d := e.Decode(o.Concurrency, l.DecodeQuery, l.DecodeSeq())
	return l.decoded(&o, &d)
}

// decoded adds decode to an outcome that has its prefill.
func (l *Load) decoded(o *figures.Outcome, d *Step) figures.Outcome {
	if o.OOM != "" {
		return *o
	}
	fuller(o, d)
	o.DecodeTime, o.DecodeBound = d.Time, d.Bound
	if d.left() < 0 {
		o.OOM = figures.Decode
		return *o
	}
	out := units.Seconds(l.Output)
	o.TPOT = (o.TTFT + d.Time/units.Seconds(l.Fold)*out) / out
	o.Throughput = l.throughput(o)
	return *o
}

// throughput is output tokens per second under the load's accounting.
func (l *Load) throughput(o *figures.Outcome) float64 {
	if l.Accounting == Steady {
		return float64(o.Concurrency) / float64(o.TPOT)
	}
	out := units.Seconds(l.Output)
	return float64(l.Output) * float64(o.Concurrency) / float64(o.TTFT+o.TPOT*out)
}

// wavePrefill averages the time to first token over waves: all requests wait,
// and a budget's worth of them is computed at a time.
func (l *Load) wavePrefill(e Engine, o *figures.Outcome) {
	query := workload.Effective(l.Input, l.HitRate)
	wave := l.Budget * l.DP / query
	o.PrefillBatch = min(wave, o.Concurrency)
	full, rest := o.Concurrency/wave, o.Concurrency%wave
	var lp, lr units.Seconds
	if full > 0 {
		s := e.Prefill(wave, query, query)
		lp = s.Time
		fuller(o, &s)
		o.PrefillTime, o.PrefillBound = s.Time, s.Bound
	}
	if rest > 0 && o.Use.Available >= 0 {
		s := e.Prefill(rest, query, query)
		lr = s.Time
		fuller(o, &s)
		if full == 0 {
			o.PrefillTime, o.PrefillBound = s.Time, s.Bound
		}
	}
	if o.Use.Available < 0 {
		o.OOM = figures.Prefill
		return
	}
	n, w, r := float64(full), float64(wave), float64(rest)
	sum := units.Seconds(w*n*(n+1)/2)*lp + units.Seconds(r)*(units.Seconds(n)*lp+lr)
	o.TTFT = sum / units.Seconds(o.Concurrency)
	o.Makespan = units.Seconds(n)*lp + lr
}

// packedPrefill computes a batch of unequal prompts in steps filled to the
// budget, one after another. Every rank has the same composition.
func (l *Load) packedPrefill(e Engine, o *figures.Outcome) {
	perRank := parallel.MaxPerRank(o.Concurrency, l.DP)
	rows := l.Distribution.Deal(perRank, l.HitRate)
	steps := workload.Pack(rows, l.Budget)
	o.Chunks = len(steps)
	clock, sum := o.Makespan, units.Seconds(0)
	weighted := step.Bounds{}
	total := units.Seconds(0)
	requests := 0
	for _, pieces := range steps {
		s := e.Packed(pieces)
		fuller(o, &s)
		if s.left() < 0 {
			o.OOM = figures.Prefill
			return
		}
		clock += s.Time
		for _, p := range pieces {
			if p.Last {
				sum += units.Seconds(p.Requests) * clock
				requests += p.Requests
			}
		}
		weighted = weighted.Plus(s.Bound)
		total += s.Time
	}
	o.PrefillTime, o.PrefillBound = total, weighted
	o.PrefillBatch = o.Concurrency
	o.TTFT = sum / units.Seconds(requests)
	o.Makespan = clock
}
