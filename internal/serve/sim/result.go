package sim

import (
	"cmp"
	"slices"
	"sync"

	"github.com/plimsoll-project/plimsoll/internal/basic/quantile"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

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

	Offered     float64 // requests per second that came
	RequestRate float64 // requests per second that were served
	InputRate   float64 // prompt tokens per second
	OutputRate  float64 // generated tokens per second
	// GoodRate is requests per second that meet the limits, GoodShare their
	// share.
	GoodRate, GoodShare float64
	// Stretch is the percentile of [workload.Limits.Stretch]: up to 1 that share of the requests meets all limits. 0 if nobody asked.
	Stretch float64 `json:",omitempty"`

	InFlight Levels
	// Sampling is how a steady run went; nil without one.
	Sampling *Sampling

	Workers PoolUse
	Decode  *PoolUse // nil unless disaggregated

	CachedShare float64 // prompt tokens found in the prefix cache or the host tier
	HostShare   float64 `json:",omitempty"` // of the prompt tokens, in the host tier
	// Sessions are those that ended; nil without any in the load.
	Sessions *Sessions `json:",omitempty"`
	Series   []Point
	Minute   *Timeline `json:",omitempty"` // if requested
	Records  []Record  // if requested, in order of arrival
}

// PoolUse is how a pool was used from the start to the end of the simulation.
type PoolUse struct {
	Busy         float64 // share of the time, mean over replicas
	KVMean       float64 // share of the blocks held by requests, over time
	KVPeak       float64 // in the fullest replica
	Steps        int64
	PrefillSteps int64 // of these, with prefill
	Preemptions  int
	Evictions    int64 `json:",omitempty"` // KV blocks taken out of the prefix cache for others
	// Loading is the time to load blocks from the host tier, Spared that to compute them.
	Loading, Spared units.Seconds `json:",omitempty"`
	// Fullest is the most tokens of a step in the whole run. Limited says that in some step a request waited that there was a place for, or
	// a prompt was cut: then another token budget or a larger cache might have filled it otherwise.
	Fullest int  `json:"-"`
	Limited bool `json:"-"`
}

// Record is one request.
type Record struct {
	ID              int
	Arrival         units.Seconds
	Input, Output   int
	Kind            int // of the mix
	Cached          int // prompt tokens found in the prefix cache or the host tier
	Refused         bool
	Warmup          bool
	TTFT            units.Seconds
	TPOT            units.Seconds // zero for an answer of one token
	Latency         units.Seconds
	Preempted       int // times
	Worker, Decoder int // replicas; Decoder is -1 where workers generate
}

// result sums up.
func (s *simulation) result() *Result {
	if s.steady != nil {
		return s.windowResult()
	}
	n := len(s.requests)
	res := &Result{Requests: n - s.unsent, Finished: n - s.refused - s.unsent, Refused: s.refused, Series: s.series.points, Minute: s.timeline.result()}
	var t tally
	t.room(n)
	for i := range s.requests {
		if q := &s.requests[i]; q.state == finished && i >= s.load.warmup {
			s.view.count(&t, q)
		}
	}
	if s.config.Records {
		res.Records = make([]Record, 0, n)
		for i := range s.requests {
			if q := &s.requests[i]; q.state != unborn {
				res.Records = append(res.Records, s.view.record(q))
			}
		}
	}
	if s.config.Steady != nil {
		res.Sampling = &Sampling{Ended: Replayed}
		t.errors(s.config.Steady.Percentile, res.Sampling)
	}
	t.report(res, max(1, s.config.represents), s.config.Percentile, t.to-t.from)
	res.InFlight = s.inFlight.levels(s.now)
	if last := s.lastArrival(); last > 0 {
		res.Offered = float64(res.Requests) / float64(last)
		if s.config.Steady != nil {
			s.ratesUntil(last, res)
		}
	}
	s.addUse(res, s.now)
	return res
}

// lastArrival is when the last request came. Turns of sessions come in another order than that of their places.
func (s *simulation) lastArrival() units.Seconds {
	last := s.requests[len(s.requests)-1].arrived
	for i := range s.requests {
		if s.conversations == nil {
			break
		}
		last = max(last, s.requests[i].arrived)
	}
	return last
}

// ratesUntil makes the rates of a trace those until its last request came: what is served after it says nothing of the load.
func (s *simulation) ratesUntil(last units.Seconds, res *Result) {
	var t tally
	for i := range s.requests {
		if q := &s.requests[i]; q.state != refused && q.done <= last {
			s.view.count(&t, q)
		}
	}
	t.rates(res, last)
	res.InFlight = s.last
}

// windowResult sums up the window of a steady run. The rate of an open loop is known, and so the rates are those of the window times
// what came in it too little or too much by chance.
func (s *simulation) windowResult() *Result {
	t := s.steady
	over := s.now - t.from
	res := &Result{
		Requests: s.sent, Finished: t.done - s.refused, Refused: s.refused, Series: s.series.points, Minute: s.timeline.result(), Sampling: &t.out, Records: s.records,
	}
	slices.SortFunc(res.Records, func(a, b Record) int { return cmp.Compare(a.ID, b.ID) })
	if t.phase == warming || over <= 0 {
		over = s.now
	}
	res.InFlight = s.inFlight.levels(s.now)
	if len(t.tally.ttft) > 0 && over > 0 {
		if t.tally.control = (arrivalEffect{}); t.out.Warmup > 0 && t.out.Ended != Overloaded { // times of a steady state
			t.tally.chooseControl(t.controls)
		}
		t.tally.report(res, max(1, s.config.represents), s.config.Percentile, over)
	}
	res.Offered = res.RequestRate
	if loop, open := s.config.Client.(OpenLoop); open {
		res.Offered = loop.Rate
		if s.conversations != nil {
			res.Offered *= s.conversations.means
		}
		if by := res.Offered * float64(over) / float64(t.arrived); t.out.Ended != Overloaded && t.arrived > 0 {
			for _, x := range []*float64{&res.RequestRate, &res.InputRate, &res.OutputRate, &res.GoodRate, &res.InFlight.Mean} {
				*x *= by
			}
		}
	}
	if n := len(t.tally.latency); n > 0 {
		res.InFlight.shift(res.RequestRate * (float64(res.Latency.Mean) - float64(t.tally.timeInSystem)/float64(n)))
	}
	if loop, closed := s.config.Client.(ClosedLoop); closed {
		res.InFlight.atMost(loop.Concurrency)
	}
	s.addUse(res, over)
	return res
}

// addUse adds how the pools were used over a time.
func (s *simulation) addUse(res *Result, over units.Seconds) {
	if s.conversations != nil {
		res.Sessions = s.conversations.result(over, s.config.Percentile)
	}
	res.ITL = s.gaps.summary()
	res.Workers = s.workers.use(over)
	if len(s.decode.replicas) > 0 {
		use := s.decode.use(over)
		res.Decode = &use
	}
}

// tally collects the requests that count.
type tally struct {
	ttft, tpot, latency         []units.Seconds
	stretch                     []units.Seconds // of limits, without a unit
	input, output, cached, good int
	hosted                      int
	from, to                    units.Seconds
	timeInSystem                units.Seconds   // by all requests, in the simulation
	scratch                     []units.Seconds // to find percentiles in

	waits   []queueWaits // in the queues beside the deployment; none without them
	control arrivalEffect
}

// spareTallies are those of steady simulations that have ended.
//
//nolint:gochecknoglobals // memory alone
var spareTallies sync.Pool

func (t *tally) room(n int) {
	values := make([]units.Seconds, 3*n)
	t.ttft, t.tpot, t.latency = values[:0:n], values[n:n:2*n], values[2*n:2*n:3*n]
}

// restart forgets all but the room.
func (t *tally) restart() {
	*t = tally{ttft: t.ttft[:0], tpot: t.tpot[:0], latency: t.latency[:0], stretch: t.stretch[:0], scratch: t.scratch, waits: t.waits[:0]}
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
	t.hosted += int(q.hosted)
	t.timeInSystem += q.done - q.arrived
	if good {
		t.good++
	}
}

// report sums up the requests over a time.
func (t *tally) report(res *Result, times int, percentile float64, over units.Seconds) {
	res.Counted = len(t.ttft)
	if res.Counted == 0 {
		return
	}
	res.TTFT, res.TPOT = t.summarize(t.ttft, times, percentile), t.summarize(t.tpot, times, percentile)
	res.Latency = t.summarize(t.latency, times, percentile)
	if len(t.stretch) > 0 {
		share, _ := t.share(t.stretch, percentile/100)
		res.Stretch = float64(quantile.Repeated(t.stretch, times, share)[0])
	}
	res.GoodShare = float64(t.good) / float64(res.Counted)
	res.CachedShare = float64(t.cached) / float64(t.input)
	res.HostShare = float64(t.hosted) / float64(t.input)
	t.rates(res, over)
}

// rates are what was served over a time.
func (t *tally) rates(res *Result, over units.Seconds) {
	res.Duration = over
	seconds := float64(over)
	res.RequestRate = float64(len(t.ttft)) / seconds
	res.InputRate = float64(t.input) / seconds
	res.OutputRate = float64(t.output) / seconds
	res.GoodRate = float64(t.good) / seconds
}

// use sums up the replicas of a pool over a time.
func (p *pool) use(over units.Seconds) PoolUse {
	var u PoolUse
	for i := range p.replicas {
		r := &p.replicas[i]
		n := float64(len(p.replicas))
		if over > 0 {
			u.Busy += float64(r.usage.busy/over) / n
			u.KVMean += r.usage.blockTime / float64(over) / float64(r.scheduler.kv.Total()) / n
		}
		u.KVPeak = max(u.KVPeak, float64(r.usage.peak)/float64(r.scheduler.kv.Total()))
		u.Steps += r.usage.steps
		u.PrefillSteps += r.usage.prefillSteps
		u.Preemptions += r.scheduler.preemptions
		u.Fullest, u.Limited = max(u.Fullest, r.usage.fullest), u.Limited || r.usage.limited
		u.Evictions += r.scheduler.kv.Evicted()
		u.Loading, u.Spared = u.Loading+r.usage.loading, u.Spared+r.usage.spared
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
