package sim

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
)

// clientView is what clients see of requests: times to which the way of the tokens to them is added, and whether they are good enough.
type clientView struct {
	engine *Engine // of the workers
	limits *workload.Limits
	ratios bool // how far each is from its limits is wanted too
	warmup int  // the first requests that do not count
	pools  bool // other replicas generate
}

// times are the figures of a request that has finished.
func (v *clientView) times(q *request) (ttft, tpot, latency units.Seconds) {
	away := v.deliveryTime(q)
	if q.output > 1 {
		tpot = (q.done - q.first) / units.Seconds(q.output-1)
	}
	return q.first - q.arrived + away, tpot, q.done - q.arrived + away
}

// deliveryTime is how long the tokens of a request are on their way from the engine to the client. All of its tokens take as long as the
// first.
func (v *clientView) deliveryTime(q *request) units.Seconds {
	return v.engine.First + v.engine.APIPerOutput*units.Seconds(q.firstBatch)
}

// outcome is a request that has finished, as its client saw it.
func (v *clientView) outcome(q *request) statistics.Outcome {
	o := statistics.Outcome{Arrived: q.arrived, Done: q.done, Input: q.input, Output: q.output, Cached: int(q.cached), Hosted: int(q.hosted)}
	o.TTFT, o.TPOT, o.Latency = v.times(q)
	o.Good = v.limits.Meets(o.TTFT, o.TPOT, o.Latency)
	if v.ratios {
		o.HasStretch, o.Stretch = true, units.Seconds(v.limits.Stretch(o.TTFT, o.TPOT, o.Latency))
	}
	return o
}

// record is the record of a request that has ended.
func (v *clientView) record(q *request) statistics.Record {
	r := statistics.Record{
		ID: int(q.serial), Arrival: q.arrived, Input: q.input, Output: q.output, Kind: int(q.kind), Cached: int(q.cached),
		Refused: q.state == refused, Warmup: int(q.serial) < v.warmup,
		Preempted: int(q.preempted), Worker: int(q.worker), Decoder: -1,
	}
	if r.Refused {
		return r
	}
	if v.pools && q.output > 1 {
		r.Decoder = int(q.decoder)
	}
	r.TTFT, r.TPOT, r.Latency = v.times(q)
	return r
}
