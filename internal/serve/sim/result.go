package sim

import "github.com/plimsoll-project/plimsoll/internal/basic/units"

// Result is the result of a simulation. Times and rates are of the requests that
// count: finished, and after the warm-up.
type Result struct {
	Requests int // sent
	Finished int
	Refused  int // too long for the cache, even alone
	Counted  int

	Duration units.Seconds // from the first arrival that counts to the last end

	TTFT    Summary // time to first token
	TPOT    Summary // per request: the rest of its time over the rest of its tokens; of answers above one token
	ITL     Summary // gaps between the tokens of all requests, to 1 %; the mean is exact
	Latency Summary // of whole requests

	RequestRate float64 // requests per second
	InputRate   float64 // prompt tokens per second
	OutputRate  float64 // generated tokens per second
	// GoodRate is requests per second that meet the limits, GoodShare their
	// share.
	GoodRate, GoodShare float64

	Workers PoolUse
	Decode  *PoolUse // nil unless disaggregated

	CachedShare float64 // prompt tokens found in the prefix cache
	Series      []Point
	Records     []Record // if requested, in order of arrival
}

// PoolUse is how a pool was used from the start to the end of the simulation.
type PoolUse struct {
	Busy         float64 // share of the time, mean over replicas
	KVMean       float64 // share of the blocks held by requests, over time
	KVPeak       float64 // in the fullest replica
	Steps        int64
	PrefillSteps int64 // of these, with prefill
	Preemptions  int
}

// Record is one request.
type Record struct {
	ID              int
	Arrival         units.Seconds
	Input, Output   int
	Kind            int // of the mix
	Cached          int // prompt tokens found in the prefix cache
	Refused         bool
	Warmup          bool
	TTFT            units.Seconds
	TPOT            units.Seconds // zero for an answer of one token
	Latency         units.Seconds
	Preempted       int // times
	Worker, Decoder int // replicas; Decoder is -1 where workers generate
}

// times are the figures of a request that has finished.
func (s *simulation) times(q *request) (ttft, tpot, latency units.Seconds) {
	constant := s.workers.replicas[0].engine.First
	if q.output > 1 {
		tpot = (q.done - q.first) / units.Seconds(q.output-1)
	}
	return q.first - q.arrived + constant, tpot, q.done - q.arrived + constant
}

// record is the record of a request that has ended.
func (s *simulation) record(q *request) Record {
	r := Record{
		ID: q.id, Arrival: q.arrived, Input: q.input, Output: q.output, Kind: int(q.kind), Cached: int(q.cached),
		Refused: q.state == refused, Warmup: q.id < s.load.warmup,
		Preempted: int(q.preempted), Worker: int(q.worker), Decoder: -1,
	}
	if r.Refused {
		return r
	}
	if len(s.decode.replicas) > 0 && q.output > 1 {
		r.Decoder = int(q.decoder)
	}
	r.TTFT, r.TPOT, r.Latency = s.times(q)
	return r
}

// result sums up.
func (s *simulation) result() *Result {
	n := len(s.requests)
	res := &Result{Requests: n, Finished: n - s.refused, Refused: s.refused, Series: s.series.points}
	var t tally
	t.room(n)
	for i := range s.requests {
		if q := &s.requests[i]; q.state != refused && i >= s.load.warmup {
			ttft, tpot, latency := s.times(q)
			t.add(q, ttft, tpot, latency, s.config.Limits.Meets(ttft, tpot, latency))
		}
	}
	if s.config.Records {
		res.Records = make([]Record, n)
		for i := range s.requests {
			res.Records[i] = s.record(&s.requests[i])
		}
	}
	t.report(res, max(1, s.config.stands), s.config.Percentile)
	res.ITL = s.gaps.summary()
	res.Workers = s.workers.use(s.now)
	if len(s.decode.replicas) > 0 {
		use := s.decode.use(s.now)
		res.Decode = &use
	}
	return res
}

// tally collects the requests that count.
type tally struct {
	ttft, tpot, latency         []units.Seconds
	input, output, cached, good int
	from, to                    units.Seconds
}

func (t *tally) room(n int) {
	values := make([]units.Seconds, 3*n)
	t.ttft, t.tpot, t.latency = values[:0:n], values[n:n:2*n], values[2*n:2*n:3*n]
}

func (t *tally) add(q *request, ttft, tpot, latency units.Seconds, good bool) {
	if len(t.ttft) == 0 {
		t.from = q.arrived
	}
	t.from, t.to = min(t.from, q.arrived), max(t.to, q.done)
	t.ttft = append(t.ttft, ttft)
	t.latency = append(t.latency, latency)
	if q.output > 1 {
		t.tpot = append(t.tpot, tpot)
	}
	t.input += q.input
	t.output += q.output
	t.cached += int(q.cached)
	if good {
		t.good++
	}
}

func (t *tally) report(res *Result, times int, percentile float64) {
	res.Counted = len(t.ttft)
	if res.Counted == 0 {
		return
	}
	res.TTFT, res.TPOT = summarize(t.ttft, times, percentile), summarize(t.tpot, times, percentile)
	res.Latency = summarize(t.latency, times, percentile)
	res.Duration = t.to - t.from
	seconds := float64(res.Duration)
	res.RequestRate = float64(res.Counted) / seconds
	res.InputRate = float64(t.input) / seconds
	res.OutputRate = float64(t.output) / seconds
	res.GoodRate = float64(t.good) / seconds
	res.GoodShare = float64(t.good) / float64(res.Counted)
	res.CachedShare = float64(t.cached) / float64(t.input)
}

// use sums up the replicas of a pool over a time.
func (p *pool) use(over units.Seconds) PoolUse {
	var u PoolUse
	for i := range p.replicas {
		r := &p.replicas[i]
		n := float64(len(p.replicas))
		if over > 0 {
			u.Busy += float64(r.usage.busy/over) / n
			u.KVMean += r.usage.blockTime / float64(over) / float64(r.cache.total) / n
		}
		u.KVPeak = max(u.KVPeak, float64(r.usage.peak)/float64(r.cache.total))
		u.Steps += r.usage.steps
		u.PrefillSteps += r.usage.prefillSteps
		u.Preemptions += r.usage.preemptions
	}
	return u
}

// KVPeak is the largest share of a cache in use, of those that generate.
func (r *Result) KVPeak() float64 {
	if r.Decode != nil {
		return r.Decode.KVPeak
	}
	return r.Workers.KVPeak
}
