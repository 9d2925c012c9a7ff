package sim

import (
	"fmt"
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/quantile"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// Steady asks for the figures of a load that lasts, instead of those of a benchmark with a beginning and an end. Requests
// come without end. Clients of a closed loop start one after the other over about the time that a request takes. The
// warm-up is simulated and dropped (see [warm]); a window follows, and all figures are of the window. It ends when the sampling
// error of the judged times is small enough.
//
// The number and the length of a client's requests in time do not matter, nor do its warm-up and spread. A trace has an end:
// all of its requests count, and its rates are those until the last one arrives.
type Steady struct {
	// Percentile of the times that is judged; 0 is their mean.
	Percentile float64
	// Error is the largest sampling error, a relative standard error; 0 means [DefaultSampling].
	Error float64
	// Requests is how many may end before the run does, steady or not; 0 means [DefaultSteadyRequests], and for closed loops
	// at least so many for each client that the rule can be met.
	Requests int
	// Sessions asks for figures of whole sessions: the window lasts as long as those under way take.
	Sessions bool
	// Misses, if not nil, reports whether times miss a limit. The run ends as soon as it is clear whether the judged times do; with
	// Figures, only if they do: those that do not are wanted precisely. A closed loop of plain requests has precise rates all the same:
	// only TTFT, a small part of the time of a request, may be less precise where the limits leave no doubt, and in the warm-up the
	// run ends only where TPOT misses one.
	Misses  func(Times) bool
	Figures bool
}

const (
	// DefaultSampling is the sampling error at which a run ends: a quarter of the error of the best predictions.
	DefaultSampling = 0.02
	// DefaultSteadyRequests bounds a run: about a tenth of a second.
	DefaultSteadyRequests = 50_000
	// controlledRequests bounds a run with [controls]: near capacity its mean times are more precise than those of 50,000 requests without,
	// percentiles about as precise.
	controlledRequests = 15_000
	// requestsPerClient of a closed loop may end: the warm-up and the window take some ten.
	requestsPerClient = 32
	// sessionsPerClient may end: one passes in the window at least.
	sessionsPerClient = 4
)

// Times are those of requests that limits apply to, and with [Config.Together] how far they are from the limits.
type Times struct {
	TTFT, TPOT, Latency units.Seconds
	Stretch             units.Seconds // without a unit
}

// Ending is why a steady run ended.
type Ending string

// The endings. Only Precise and Decided have figures of a steady state.
const (
	Precise    Ending = "precise"    // sampling errors are small enough
	Decided    Ending = "decided"    // it is clear which limits are met
	Overloaded Ending = "overloaded" // requests come faster than they are served
	Bounded    Ending = "bounded"    // too many requests without a small enough error
	Replayed   Ending = "replayed"   // the trace has ended
)

// Sampling is how a steady run went.
type Sampling struct {
	Ended  Ending
	Warmup int // requests that ended before the window
	// TTFT, TPOT and Latency are relative standard errors of the judged percentile or mean; 0 where nothing is known.
	TTFT, TPOT, Latency float64
	Stretch             float64 `json:",omitempty"`
	// DecidedByLimits says that limits had a say in when it ended.
	DecidedByLimits bool `json:"-"`
}

// Steady reports whether the figures are of a steady state.
func (s *Sampling) Steady() bool { return s.Ended == Precise || s.Ended == Decided }

// phase is where a steady run is.
type phase int

const (
	warming phase = iota
	measuring
	closing // precise; the window ends when as many are in flight as at its start
	ended
)

// steady is the state of a run that goes on until its figures are steady.
type steady struct {
	rule  Steady
	phase phase
	check int // ended requests at which to look again

	free        []int32 // places of requests that nobody uses
	bound       int
	windowStart int  // ended requests when the window began
	done        int  // ended requests
	closeBefore int  // ended requests by which the window must have closed
	finalPart   bool // hardly any request may end any more

	started         units.Seconds // when the last client starts
	from            units.Seconds // the window's start
	flightAt        int           // requests in flight at that time
	arrived         int           // since then
	tally           tally
	controls        *controlVariates // nil without any
	variation       float64          // of arrivals
	arrivalsStopped bool             // there was no room for more
	decidedByLimits bool             // as in [Sampling]
	out             Sampling
}

func (r *Steady) check() error {
	switch {
	case r == nil:
		return nil
	case !(r.Percentile >= 0 && r.Percentile < 100):
		return fmt.Errorf("steady: percentile must be at least 0 and below 100, got %g", r.Percentile)
	case !(r.Error >= 0) || r.Requests < 0 || r.Requests > maxRequests:
		return fmt.Errorf("steady: error and requests must not be negative, nor requests above %d", maxRequests)
	}
	return nil
}

// bound is how many requests may end.
func (r *Steady) bound(c *Config) int {
	if r.Requests > 0 {
		return r.Requests
	}
	if c.controlled() {
		return controlledRequests
	}
	loop, _ := c.Client.(ClosedLoop)
	each := requestsPerClient
	if loop.Mix.converses() {
		each = int(math.Ceil(sessionsPerClient * loop.Mix.meanTurns()))
	}
	return max(DefaultSteadyRequests, each*loop.Concurrency)
}

// newSteady prepares a run with places for so many requests in flight.
func newSteady(c *Config, places int) *steady {
	s := &steady{rule: *c.Steady, variation: 1, free: make([]int32, places)}
	if old, ok := spareTallies.Get().(*tally); ok {
		s.tally = *old
		s.tally.restart()
	}
	s.controls = newControlVariates(c, places)
	for i := range s.free { // the first is the last
		s.free[i] = int32(places - 1 - i)
	}
	if s.rule.Error == 0 {
		s.rule.Error = DefaultSampling
	}
	s.bound = s.rule.bound(c)
	if loop, ok := c.Client.(OpenLoop); ok && loop.Process == Gamma {
		s.variation = math.Max(1, loop.Variation)
	}
	if loop, ok := c.Client.(OpenLoop); ok && loop.Mix.converses() { // the turns of a session come together
		s.variation *= math.Sqrt(loop.Mix.meanTurns())
	}
	s.check = firstCheck
	if _, open := c.Client.(OpenLoop); open && s.rule.Misses != nil && !s.rule.Figures && s.rule.Percentile == 0 {
		s.check = firstCheck / 2 // one that is far overloaded shows it by then
	}
	return s
}

// firstCheck is how many requests end before a run first looks: forty groups for [warm].
const firstCheck = 200

// lastPart is the part of all requests in which the window of a run that is not precise may end.
const lastPart = 5

// requestEnded counts a request that has ended and decides how the run goes on.
func (s *simulation) requestEnded(q *request) {
	t := s.steady
	t.done++
	if q.state == finished {
		s.count(&t.tally, q)
		if t.controls != nil {
			t.tally.waits = append(t.tally.waits, t.controls.waits[q.id])
		}
	}
	if s.config.Records {
		r := s.record(q)
		r.Warmup = t.phase == warming
		s.records = append(s.records, r)
	}
	t.free = append(t.free, int32(q.id))
	switch {
	case t.phase == closing && s.balanced():
		s.stop(t.out.Ended)
	case t.done >= t.bound, len(t.tally.ttft) == 0 && t.done >= firstCheck: // nothing fits
		s.judged()
		s.stop(Bounded)
	case t.phase == measuring && !t.finalPart && t.done >= t.bound-t.bound/lastPart:
		t.finalPart = true
		t.out.Ended = s.judged()
		s.closeWindow()
	case t.done >= t.check:
		s.decide()
	}
}

// decide looks at a run every so often, a quarter more requests each time.
func (s *simulation) decide() {
	t := s.steady
	n := t.done - t.windowStart
	t.check = t.done + max(firstCheck/2, n/4)
	switch {
	case t.phase == warming && s.latestMiss():
		s.judged()
		s.stop(Decided)
	case t.phase == warming:
		if s.warmedUp(n) {
			s.beginWindow()
		}
	case t.arrivalsStopped || n >= s.replayLength() && s.overloaded():
		s.judged()
		s.stop(Overloaded)
	case s.cannotMeet(n):
		s.judged()
		s.stop(Decided)
	case n >= s.minWindow():
		// Errors that are looked at again and again are small by chance at some time: two looks must agree.
		before := t.out.Ended
		t.out.Ended, t.phase = s.judged(), measuring
		t.decidedByLimits = t.decidedByLimits || t.out.Ended == Decided
		switch {
		case s.drifted():
			s.beginWindow()
		case before != "" && before != Bounded && t.out.Ended != Bounded:
			s.closeWindow()
		}
	}
}

// cannotMeet reports that a window of so many requests will not meet the limits, however long it lasts.
func (s *simulation) cannotMeet(n int) bool { return s.queueGrows(n) || s.certainMiss() }

// warmedUp reports that the warm-up has ended after so many requests: every one that runs has been replaced since the start. Where
// the end of the warm-up is not found, the window itself has to show why.
func (s *simulation) warmedUp(n int) bool {
	const longest = 1000
	t, generation, turns := s.steady, s.generation(), s.steady.turnover()/2
	if t.arrivalsStopped {
		return true
	}
	return n >= firstCheck && s.now >= t.started && !s.cachesFilling() && (n >= turns*generation && warm(&t.tally) || n >= max(longest, 2*turns*generation))
}

// latestMiss reports that requests miss a limit before their mean is known: nearly all of those that ended last do. They wait less
// when an open loop begins, with nothing in flight, than later on, and those of a closed loop generate faster while its clients
// start; how long these wait at first shows nothing. Sessions find nothing in the cache at first, and have to have had a few turns.
func (s *simulation) latestMiss() bool {
	t := s.steady
	const (
		most   = 0.9 // of the last
		lowest = 50  // percentile that this is clear for
		closed = 0.9 // of the time, to be sure
	)
	_, trace := s.config.Client.(*Trace)
	if t.rule.Misses == nil || trace || t.rule.Percentile > 0 && t.rule.Percentile < lowest || s.cachesCold() {
		return false
	}
	newest := func(values []units.Seconds) units.Seconds {
		last := values[len(values)-len(values)/4:]
		if len(last) < firstCheck/8 {
			return 0
		}
		t.tally.scratch = append(t.tally.scratch[:0], last...)
		out := quantile.Of(t.tally.scratch, 1-most)[0]
		if s.conversations != nil && t.rule.Percentile == 0 { // a few of the replicas may be overloaded by themselves
			sum := units.Seconds(0)
			for _, v := range last {
				sum += v
			}
			const beyond = 4 // times what chance makes of it
			out = max(out, sum/units.Seconds(len(last))/beyond)
		}
		return out
	}
	if s.load.clients > 0 {
		return t.rule.Misses(Times{TPOT: closed * newest(t.tally.tpot)})
	}
	last := Times{newest(t.tally.ttft), newest(t.tally.tpot), newest(t.tally.latency), newest(t.tally.stretch)}
	return t.rule.Misses(last) && (s.conversations != nil || t.noBurst(last))
}

// queueGrows reports that in a window of so many requests of an open loop the queue grows, if too slowly for [simulation.floods]: the
// last of them miss a limit by far. Groups of such a window differ so much that their mean never is precise enough. A
// shorter window may be a busy time of a load that is carried.
func (s *simulation) queueGrows(n int) bool {
	const long = 4000 // chosen: more than the requests of a trial for a verdict
	return n >= long && s.load.clients == 0 && s.conversations == nil && s.latestMiss()
}

// certainMiss reports that an open loop misses a limit whatever is still to come: it would if all requests that may still end took no
// time. Times of a queue that grows slowly are soon that long, but never precise.
func (s *simulation) certainMiss() bool {
	t := s.steady
	if _, trace := s.config.Client.(*Trace); trace || t.rule.Misses == nil || s.load.clients > 0 {
		return false
	}
	least := func(values []units.Seconds) units.Seconds {
		n := float64(len(values))
		all := n + float64(t.bound-t.done)
		if p := t.rule.Percentile; p > 0 {
			share := 1 - (1-p/100)*all/n // of the values, which are the longest
			if !(share > 0) {
				return 0
			}
			t.tally.scratch = append(t.tally.scratch[:0], values...)
			return quantile.Of(t.tally.scratch, share)[0]
		}
		sum := units.Seconds(0)
		for _, v := range values {
			sum += v
		}
		return sum / units.Seconds(all)
	}
	return t.rule.Misses(Times{least(t.tally.ttft), least(t.tally.tpot), least(t.tally.latency), least(t.tally.stretch)})
}

// cachesCold reports that prompts find less in the caches than they will.
func (s *simulation) cachesCold() bool {
	const turns = 8
	t := s.steady
	if t.done < s.replayLength() || s.load.replay != nil && s.cachesFilling() {
		return true
	}
	return s.conversations != nil && (s.load.clients > 0 || t.done < turns*(len(s.conversations.open)-len(s.conversations.free)))
}

// noBurst reports that it is not by a burst that the last requests miss a limit: all so far miss it as well, and in a window
// or where precise figures are wanted, the last ones by far.
func (t *steady) noBurst(last Times) bool {
	if t.rule.Figures || t.phase == measuring {
		const far = 2
		last = Times{last.TTFT / far, last.TPOT / far, last.Latency / far, last.Stretch / far}
	}
	t.tally.control = arrivalEffect{} // a short while is not compared
	so := func(values []units.Seconds) units.Seconds {
		if len(values) == 0 {
			return 0
		}
		out, _ := t.tally.sampled(values, t.rule.Percentile)
		return out
	}
	return t.rule.Misses(last) && t.rule.Misses(Times{so(t.tally.ttft), so(t.tally.tpot), so(t.tally.latency), so(t.tally.stretch)})
}

// closeWindow ends the run as soon as the window can end.
func (s *simulation) closeWindow() {
	t := s.steady
	t.phase, t.closeBefore = closing, t.done+(t.done-t.windowStart)/4
	if s.balanced() {
		s.stop(t.out.Ended)
	}
}

// turnover is how often every request that runs is replaced in a window at least, so that its groups of requests are hardly
// correlated: half as often where a coarse error will do, and queues show how busy it was.
func (t *steady) turnover() int {
	const fine, coarse = 4, 2
	if t.rule.Error > DefaultSampling && t.controls != nil {
		return coarse
	}
	return fine
}

// beginWindow starts the window: all that was counted so far is dropped.
func (s *simulation) beginWindow() {
	t := s.steady
	t.phase, t.windowStart = measuring, t.done
	t.out = Sampling{Warmup: t.done}
	t.check = t.done + firstCheck
	if t.arrivalsStopped {
		t.check = t.done + max(firstCheck, s.running())
	}
	if t.rule.Requests == 0 { // a window of many requests in flight takes more
		t.bound = max(t.bound, min(DefaultSteadyRequests, t.done+2*s.minWindow()))
	}
	t.from, t.flightAt, t.arrived = s.now, s.inFlight.n, 0
	t.tally.restart()
	s.timeline.start(s.now)
	for i := range s.records {
		s.records[i].Warmup = true
	}
	s.inFlight.restart(s.now)
	s.gaps = histogram{}
	s.conversations.restart()
	for i := range s.replicas {
		r := &s.replicas[i]
		r.usage.restart(s.now, r.scheduler.kv.Held())
		r.scheduler.preemptions = 0
		r.scheduler.kv.Restart()
	}
	s.meter()
}

// drifted reports whether the window of a closed loop still has some of the warm-up in it, which may take many times as long
// as a request: its second half alone is precise, and further from the first than chance explains and than the error that is
// asked for. Where requests come by themselves, a calm half is no reason to forget a busy one.
func (s *simulation) drifted() bool {
	const sigmas = 4
	t := s.steady
	if s.load.clients == 0 {
		return false
	}
	apart := false
	for _, values := range [...][]units.Seconds{t.tally.ttft, t.tally.tpot, t.tally.latency} {
		if len(values) == 0 {
			continue
		}
		half := len(values) / 2
		second, e := t.tally.sampled(values[half:], t.rule.Percentile)
		if e > t.rule.Error {
			return false
		}
		first, _ := t.tally.sampled(values[:half], t.rule.Percentile)
		apart = apart || math.Abs(float64(first-second)) > max(sigmas*e, t.rule.Error)*float64(second)
	}
	return apart
}

// meter has the pools' meters see the steps from now on.
func (s *simulation) meter() {
	for _, p := range []*Pool{&s.config.Workers, s.config.Decode} {
		if p != nil && p.Meter != nil {
			p.Meter.Restart()
		}
	}
	for i := range s.workers.replicas {
		s.workers.replicas[i].device.meter = s.config.Workers.Meter
	}
	for i := range s.decode.replicas {
		s.decode.replicas[i].device.meter = s.config.Decode.Meter
	}
}

// stopArrivals ends the arrivals of an open loop that is far overloaded: those that wait keep the replicas busy, and a
// window shows how many they serve.
func (s *simulation) stopArrivals() {
	t := s.steady
	t.arrivalsStopped = true
	t.check = t.done + max(firstCheck, s.running())
}

// running is the number of requests that run.
func (s *simulation) running() int {
	n := 0
	for i := range s.replicas {
		n += s.replicas[i].scheduler.running.n
	}
	return n
}

// overloaded reports whether requests come faster than they are served: more are in flight than chance explains. Where
// as many are served as come, the difference between the two grows with the square root of the number that came.
func (s *simulation) overloaded() bool {
	const sigmas = 8
	t := s.steady
	more := float64(s.inFlight.n - t.flightAt)
	return s.load.clients == 0 && more > float64(t.flightAt) && more > sigmas*t.variation*math.Sqrt(float64(max(t.arrived, firstCheck)))
}

// balanced reports whether the window can end now: an open loop when as many requests are in flight as when it began, so that as
// many came as were served; and Little's law holds within half a per cent.
func (s *simulation) balanced() bool {
	t := s.steady
	if t.done > t.closeBefore {
		t.phase = measuring // look again later
		return false
	}
	if s.load.clients == 0 && s.inFlight.n != t.flightAt {
		return false
	}
	const little = 0.005
	s.inFlight.pass(s.now)
	return math.Abs(float64(t.tally.timeInSystem-s.inFlight.area)) <= little*float64(s.inFlight.area)
}

// judged works out the sampling errors and reports how the run may end; Bounded if it may not.
func (s *simulation) judged() Ending {
	t := s.steady
	var low, mean, high Times
	t.tally.chooseControl(t.controls)
	sample := func(values []units.Seconds, out *float64, low, mean, high *units.Seconds) {
		if len(values) == 0 {
			return
		}
		value, e := t.tally.sampled(values, t.rule.Percentile)
		const sigmas = 3
		*out, *low, *mean, *high = e, value*units.Seconds(1-sigmas*e), value, value*units.Seconds(1+sigmas*e)
	}
	sample(t.tally.ttft, &t.out.TTFT, &low.TTFT, &mean.TTFT, &high.TTFT)
	sample(t.tally.tpot, &t.out.TPOT, &low.TPOT, &mean.TPOT, &high.TPOT)
	sample(t.tally.latency, &t.out.Latency, &low.Latency, &mean.Latency, &high.Latency)
	sample(t.tally.stretch, &t.out.Stretch, &low.Stretch, &mean.Stretch, &high.Stretch)
	rest := max(t.out.TPOT, t.out.Latency, t.out.Stretch) <= t.rule.Error
	switch misses := t.rule.Misses; {
	case rest && t.out.TTFT <= t.rule.Error:
		return Precise
	case misses == nil:
	case (s.load.clients == 0 || s.conversations != nil) && (misses(low) || !t.rule.Figures && !misses(high)):
		return Decided
	case s.load.clients > 0 && s.conversations == nil && rest && s.ttftIrrelevant(low.TTFT, high.TTFT, mean):
		return Decided
	}
	return Bounded
}

// ttftIrrelevant reports whether it does not matter for the limits which TTFT between two it is, nor which half of the window it is of: times
// may still change.
func (s *simulation) ttftIrrelevant(low, high units.Seconds, mean Times) bool {
	t := s.steady
	half := len(t.tally.ttft) / 2
	first, _ := t.tally.sampled(t.tally.ttft[:half], t.rule.Percentile)
	second, _ := t.tally.sampled(t.tally.ttft[half:], t.rule.Percentile)
	count := 0
	all := [...]units.Seconds{low, high, first, second}
	for _, ttft := range all {
		if t.rule.Misses(Times{ttft, mean.TPOT, mean.Latency, mean.Stretch}) {
			count++
		}
	}
	return count == 0 || count == len(all)
}

// stop ends the run.
func (s *simulation) stop(why Ending) {
	t := s.steady
	t.out.Ended, t.out.DecidedByLimits = why, t.decidedByLimits || why == Decided
	t.phase = ended
	s.left = 0
}
