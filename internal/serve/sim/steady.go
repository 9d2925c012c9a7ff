package sim

import (
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/quantile"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

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
	config   *Config
	clock    *clock
	source   *source
	cluster  *cluster
	recorder *recorder
	view     *clientView

	rule  Steady
	phase phase
	check int // ended requests at which to look again

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

// newSteady prepares a run with places for so many requests in flight.
func newSteady(run *simulation, places int) *steady {
	c := run.config
	s := &steady{
		config: c, clock: &run.clock, source: &run.source, cluster: &run.cluster, recorder: &run.recorder, view: &run.view,
		rule: *c.Steady, variation: 1,
	}
	if old, ok := spareTallies.Get().(*tally); ok {
		s.tally = *old
		s.tally.restart()
	}
	s.controls = newControlVariates(c, places)
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
func (t *steady) requestEnded(q *request) {
	t.done++
	if q.state == finished {
		t.view.count(&t.tally, q)
		if t.controls != nil {
			t.tally.waits = append(t.tally.waits, t.controls.waits[q.id])
		}
	}
	if t.config.Records {
		r := t.view.record(q)
		r.Warmup = t.phase == warming
		t.recorder.records = append(t.recorder.records, r)
	}
	switch {
	case t.phase == closing && t.balanced():
		t.stop(t.out.Ended)
	case t.done >= t.bound, len(t.tally.ttft) == 0 && t.done >= firstCheck: // nothing fits
		t.judged()
		t.stop(Bounded)
	case t.phase == measuring && !t.finalPart && t.done >= t.bound-t.bound/lastPart:
		t.finalPart = true
		t.out.Ended = t.judged()
		t.closeWindow()
	case t.done >= t.check:
		t.decide()
	}
}

// decide looks at a run every so often, a quarter more requests each time.
func (t *steady) decide() {
	n := t.done - t.windowStart
	t.check = t.done + max(firstCheck/2, n/4)
	switch {
	case t.phase == warming && t.latestMiss():
		t.judged()
		t.stop(Decided)
	case t.phase == warming:
		if t.warmedUp(n) {
			t.beginWindow()
		}
	case t.arrivalsStopped || n >= t.replayLength() && t.overloaded():
		t.judged()
		t.stop(Overloaded)
	case t.cannotMeet(n):
		t.judged()
		t.stop(Decided)
	case n >= t.minWindow():
		// Errors that are looked at again and again are small by chance at some time: two looks must agree.
		before := t.out.Ended
		t.out.Ended, t.phase = t.judged(), measuring
		t.decidedByLimits = t.decidedByLimits || t.out.Ended == Decided
		switch {
		case t.drifted():
			t.beginWindow()
		case before != "" && before != Bounded && t.out.Ended != Bounded:
			t.closeWindow()
		}
	}
}

// cannotMeet reports that a window of so many requests will not meet the limits, however long it lasts.
func (t *steady) cannotMeet(n int) bool { return t.queueGrows(n) || t.certainMiss() }

// warmedUp reports that the warm-up has ended after so many requests: every one that runs has been replaced since the start. Where
// the end of the warm-up is not found, the window itself has to show why.
func (t *steady) warmedUp(n int) bool {
	const longest = 1000
	generation, turns := t.generation(), t.turnover()/2
	if t.arrivalsStopped {
		return true
	}
	return n >= firstCheck && t.clock.now >= t.started && !t.cachesFilling() && (n >= turns*generation && warm(&t.tally) || n >= max(longest, 2*turns*generation))
}

// latestMiss reports that requests miss a limit before their mean is known: nearly all of those that ended last do. They wait less
// when an open loop begins, with nothing in flight, than later on, and those of a closed loop generate faster while its clients
// start; how long these wait at first shows nothing. Sessions find nothing in the cache at first, and have to have had a few turns.
func (t *steady) latestMiss() bool {
	const (
		most   = 0.9 // of the last
		lowest = 50  // percentile that this is clear for
		closed = 0.9 // of the time, to be sure
	)
	_, trace := t.config.Client.(*Trace)
	if t.rule.Misses == nil || trace || t.rule.Percentile > 0 && t.rule.Percentile < lowest || t.cachesCold() {
		return false
	}
	newest := func(values []units.Seconds) units.Seconds {
		last := values[len(values)-len(values)/4:]
		if len(last) < firstCheck/8 {
			return 0
		}
		t.tally.scratch = append(t.tally.scratch[:0], last...)
		out := quantile.Of(t.tally.scratch, 1-most)[0]
		if t.source.conversations != nil && t.rule.Percentile == 0 { // a few of the replicas may be overloaded by themselves
			sum := units.Seconds(0)
			for _, v := range last {
				sum += v
			}
			const beyond = 4 // times what chance makes of it
			out = max(out, sum/units.Seconds(len(last))/beyond)
		}
		return out
	}
	if t.source.load.clients > 0 {
		return t.rule.Misses(Times{TPOT: closed * newest(t.tally.tpot)})
	}
	last := Times{newest(t.tally.ttft), newest(t.tally.tpot), newest(t.tally.latency), newest(t.tally.stretch)}
	return t.rule.Misses(last) && (t.source.conversations != nil || t.noBurst(last))
}

// queueGrows reports that in a window of so many requests of an open loop the queue grows, if too slowly for [steady.floods]: the
// last of them miss a limit by far. Groups of such a window differ so much that their mean never is precise enough. A
// shorter window may be a busy time of a load that is carried.
func (t *steady) queueGrows(n int) bool {
	const long = 4000 // chosen: more than the requests of a trial for a verdict
	return n >= long && t.source.load.clients == 0 && t.source.conversations == nil && t.latestMiss()
}

// certainMiss reports that an open loop misses a limit whatever is still to come: it would if all requests that may still end took no
// time. Times of a queue that grows slowly are soon that long, but never precise.
func (t *steady) certainMiss() bool {
	if _, trace := t.config.Client.(*Trace); trace || t.rule.Misses == nil || t.source.load.clients > 0 {
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
func (t *steady) cachesCold() bool {
	const turns = 8
	if t.done < t.replayLength() || t.source.load.replay != nil && t.cachesFilling() {
		return true
	}
	return t.source.conversations != nil && (t.source.load.clients > 0 || t.done < turns*(len(t.source.conversations.open)-len(t.source.conversations.free)))
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
func (t *steady) closeWindow() {
	t.phase, t.closeBefore = closing, t.done+(t.done-t.windowStart)/4
	if t.balanced() {
		t.stop(t.out.Ended)
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
func (t *steady) beginWindow() {
	t.phase, t.windowStart = measuring, t.done
	t.out = Sampling{Warmup: t.done}
	t.check = t.done + firstCheck
	if t.arrivalsStopped {
		t.check = t.done + max(firstCheck, t.cluster.running())
	}
	if t.rule.Requests == 0 { // a window of many requests in flight takes more
		t.bound = max(t.bound, min(DefaultSteadyRequests, t.done+2*t.minWindow()))
	}
	t.from, t.flightAt, t.arrived = t.clock.now, t.recorder.inFlight.n, 0
	t.tally.restart()
	t.recorder.timeline.start(t.clock.now)
	for i := range t.recorder.records {
		t.recorder.records[i].Warmup = true
	}
	t.recorder.inFlight.restart(t.clock.now)
	t.recorder.gaps = histogram{}
	t.source.conversations.restart()
	for i := range t.cluster.replicas {
		r := &t.cluster.replicas[i]
		r.usage.restart(t.clock.now, r.scheduler.kv.Held())
		r.scheduler.preemptions = 0
		r.scheduler.kv.Restart()
	}
	t.cluster.meter()
}

// drifted reports whether the window of a closed loop still has some of the warm-up in it, which may take many times as long
// as a request: its second half alone is precise, and further from the first than chance explains and than the error that is
// asked for. Where requests come by themselves, a calm half is no reason to forget a busy one.
func (t *steady) drifted() bool {
	const sigmas = 4
	if t.source.load.clients == 0 {
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

// stopArrivals ends the arrivals of an open loop that is far overloaded: those that wait keep the replicas busy, and a
// window shows how many they serve.
func (t *steady) stopArrivals() {
	t.arrivalsStopped = true
	t.check = t.done + max(firstCheck, t.cluster.running())
}

// overloaded reports whether requests come faster than they are served: more are in flight than chance explains. Where
// as many are served as come, the difference between the two grows with the square root of the number that came.
func (t *steady) overloaded() bool {
	const sigmas = 8
	more := float64(t.recorder.inFlight.n - t.flightAt)
	return t.source.load.clients == 0 && more > float64(t.flightAt) && more > sigmas*t.variation*math.Sqrt(float64(max(t.arrived, firstCheck)))
}

// balanced reports whether the window can end now: an open loop when as many requests are in flight as when it began, so that as
// many came as were served; and Little's law holds within half a per cent.
func (t *steady) balanced() bool {
	if t.done > t.closeBefore {
		t.phase = measuring // look again later
		return false
	}
	if t.source.load.clients == 0 && t.recorder.inFlight.n != t.flightAt {
		return false
	}
	const little = 0.005
	t.recorder.inFlight.pass(t.clock.now)
	return math.Abs(float64(t.tally.timeInSystem-t.recorder.inFlight.area)) <= little*float64(t.recorder.inFlight.area)
}

// judged works out the sampling errors and reports how the run may end; Bounded if it may not.
func (t *steady) judged() Ending {
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
	case (t.source.load.clients == 0 || t.source.conversations != nil) && (misses(low) || !t.rule.Figures && !misses(high)):
		return Decided
	case t.source.load.clients > 0 && t.source.conversations == nil && rest && t.ttftIrrelevant(low.TTFT, high.TTFT, mean):
		return Decided
	}
	return Bounded
}

// ttftIrrelevant reports whether it does not matter for the limits which TTFT between two it is, nor which half of the window it is of: times
// may still change.
func (t *steady) ttftIrrelevant(low, high units.Seconds, mean Times) bool {
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
func (t *steady) stop(why Ending) {
	t.out.Ended, t.out.DecidedByLimits = why, t.decidedByLimits || why == Decided
	t.phase = ended
}

// generation is the number of requests that end while all that are under way are replaced: those that run, or those of all
// open sessions. Sessions of clients are at all their turns from the start, so that a turn of each replaces what the caches
// began with. An open loop begins with none: while half of the requests of all that are open end, the first have gone through
// their turns.
func (t *steady) generation() int {
	n := t.cluster.running()
	if t.source.conversations == nil {
		return n
	}
	open := len(t.source.conversations.open) - len(t.source.conversations.free)
	if t.source.load.clients > 0 {
		return max(n, open)
	}
	return max(n, int(t.source.conversations.means/2*float64(open)))
}

// minWindow is the least requests of a window: those of a few turns of all that run, and of whole sessions, of all that are open if
// they are asked for.
func (t *steady) minWindow() int {
	n := max(t.turnover()*t.cluster.running(), t.replayLength())
	if t.source.conversations == nil {
		return n
	}
	open := 1
	if t.rule.Sessions {
		open = len(t.source.conversations.open) - len(t.source.conversations.free)
	}
	if slices.ContainsFunc(t.source.conversations.mix, func(k Kind) bool { return k.Session != nil && k.Session.Think > 0 }) {
		const thoughts = 2500 // whose mean is known to 2 %, as other times are
		n = max(n, thoughts)
	}
	return max(n, int(t.source.conversations.means*float64(max(t.turnover(), open))))
}

// cachesFilling reports whether the caches of sessions, or of prompts that are known, have room that they will not have for long:
// contents that nobody asks for again stay until others need the blocks. A quarter of the requests at most is spent on it.
func (t *steady) cachesFilling() bool {
	talks, replay := t.source.conversations != nil && t.source.conversations.known != nil, t.source.load.replay != nil && t.source.load.contents != nil
	if !talks && !replay || t.done > t.bound/4 {
		return false
	}
	for i := range t.cluster.workers.replicas {
		if t.cluster.workers.replicas[i].scheduler.kv.Evicted() == 0 {
			return true
		}
	}
	return false
}

// replayLength is the requests of a trace that is replayed, once around: its busy times and its calm ones. Half of the requests of a run
// are enough of a long trace; 0 is no such trace.
func (t *steady) replayLength() int {
	if t.source.load.replay == nil {
		return 0
	}
	return min(len(t.source.load.replay.like), t.bound/2)
}
