package sim

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
)

// clientView is what clients see of requests: times to which the way of the tokens to them is added, and whether they are good enough.
type clientView struct {
	engine *server.Engine // of the workers
	limits *workload.Limits
	ratios bool // how far each is from its limits is wanted too
	warmup int  // the first requests that do not count
	pools  bool // other replicas generate
}

// times are the figures of a request that has finished.
func (v *clientView) times(q *server.Request) (ttft, tpot, latency units.Seconds) {
	away := v.deliveryTime(q)
	if q.Output > 1 {
		tpot = (q.Done - q.First) / units.Seconds(q.Output-1)
	}
	return q.First - q.Arrived + away, tpot, q.Done - q.Arrived + away
}

// deliveryTime is how long the tokens of a request are on their way from the engine to the client. All of its tokens take as long as the
// first.
func (v *clientView) deliveryTime(q *server.Request) units.Seconds {
	return v.engine.First + v.engine.APIPerOutput*units.Seconds(q.FirstBatch)
}

// outcome is a request that has finished, as its client saw it, in a place for it.
func (v *clientView) outcome(q *server.Request, o *statistics.Outcome) *statistics.Outcome {
	*o = statistics.Outcome{Arrived: q.Arrived, Done: q.Done, Input: q.Input, Output: q.Output, Cached: int(q.Cached), Hosted: int(q.Hosted)}
	o.TTFT, o.TPOT, o.Latency = v.times(q)
	o.Good = v.limits.Meets(o.TTFT, o.TPOT, o.Latency)
	if v.ratios {
		o.HasSLORatio, o.SLORatio = true, units.Seconds(v.limits.SLORatio(o.TTFT, o.TPOT, o.Latency))
	}
	return o
}

// record is the record of a request that has ended.
func (v *clientView) record(q *server.Request) statistics.Record {
	r := statistics.Record{
		ID: int(q.Serial), Arrival: q.Arrived, Input: q.Input, Output: q.Output, Kind: int(q.Kind), Cached: int(q.Cached),
		Refused: q.State == server.Refused, Warmup: int(q.Serial) < v.warmup,
		Preempted: int(q.Preempted), Worker: int(q.Worker), Decoder: -1,
	}
	if r.Refused {
		return r
	}
	if v.pools && q.Output > 1 {
		r.Decoder = int(q.Decoder)
	}
	r.TTFT, r.TPOT, r.Latency = v.times(q)
	return r
}
