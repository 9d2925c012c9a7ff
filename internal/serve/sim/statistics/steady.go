package statistics

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/quantile"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// phase is where a steady run is.
type phase int

const (
	warming phase = iota
	measuring
	closing // precise; the window ends when as many are in flight as at its start
	ended
)

// Load is what is known of the requests of a steady run.
type Load struct {
	Clients int     // of a closed loop; 0 where requests come by themselves
	Rate    float64 // of requests that come by themselves, per second
	// Variation is the standard deviation of the gaps between arrivals over their mean: 1 for Poisson arrivals.
	Variation float64
	Sessions  bool    // requests are turns of sessions
	Turns     float64 // of a session, their mean
	Thinks    bool    // sessions pause between an answer and the next request
	Replay    int     // requests of a trace that is sent over and over; 0 without one
}

// System is what is simulated, as a steady run sees it.
type System interface {
	Now() units.Seconds
	// Running is the number of requests that are computed.
	Running() int
	// OpenSessions is the number of sessions that have begun and not ended.
	OpenSessions() int
	// CachesFilling reports whether a prefix cache has room that it will not have for long.
	CachesFilling() bool
	// BeginWindow has all counters begin again; those of the [Recorder] already have.
	BeginWindow()
}

// SteadyRun is the state of a run that goes on until its figures are steady.
type SteadyRun struct {
	// Started is when the last client of a closed loop starts.
	Started units.Seconds

	load     Load
	system   System
	inFlight *InFlight
	recorder *Recorder

	rule  Steady
	phase phase
	check int // ended requests at which to look again

	bound       int
	windowStart int  // ended requests when the window began
	done        int  // ended requests
	closeBefore int  // ended requests by which the window must have closed
	finalPart   bool // hardly any request may end any more

	from            units.Seconds // the window's start
	inFlightAt      int           // requests in flight at that time
	arrived         int           // since then
	tally           Tally
	controls        *ControlVariates // nil without any
	arrivalsStopped bool             // there was no room for more
	decidedByLimits bool             // as in [Sampling]
	out             Sampling
}

// NewSteadyRun prepares a run; controls may be nil.
func NewSteadyRun(rule *Steady, load *Load, controls *ControlVariates, system System, recorder *Recorder) *SteadyRun {
	s := &SteadyRun{rule: *rule, load: *load, controls: controls, system: system, recorder: recorder, inFlight: &recorder.InFlight}
	if old, ok := spareTallies.Get().(*Tally); ok {
		s.tally = *old
		s.tally.restart()
	}
	if s.rule.Error == 0 {
		s.rule.Error = DefaultSampling
	}
	s.bound = s.rule.bound(load, controls != nil)
	s.check = firstCheck
	if s.open() && s.rule.Misses != nil && !s.rule.Figures && s.rule.Percentile == 0 {
		s.check = firstCheck / 2 // one that is far overloaded shows it by then
	}
	return s
}

// open reports whether requests come by themselves.
func (t *SteadyRun) open() bool { return t.load.Clients == 0 }

// Release gives up the memory of a run that has ended.
func (t *SteadyRun) Release() {
	spareTallies.Put(new(t.tally))
	if t.controls != nil {
		spareControls.Put(t.controls)
	}
}

// Progress is how many requests have ended, of how many at most.
func (t *SteadyRun) Progress() (ended, most int) { return t.done, t.bound }

// Warming reports whether requests that end now are of the warm-up.
func (t *SteadyRun) Warming() bool { return t.phase == warming }

// Ended reports whether the run has ended.
func (t *SteadyRun) Ended() bool { return t.phase == ended }

// RequestCame counts a request with a prompt of so many tokens, which has a place among those under way.
func (t *SteadyRun) RequestCame(place, input int) {
	t.arrived++
	if t.controls != nil {
		t.controls.Take(place, input, t.system.Now())
	}
}

// firstCheck is how many requests end before a run first looks: forty groups for [warm].
const firstCheck = 200

// lastPart is the part of all requests in which the window of a run that is not precise may end.
const lastPart = 5

// RequestEnded counts a request that has ended, refused where it has no outcome, and decides how the run goes on.
func (t *SteadyRun) RequestEnded(place int, o *Outcome) {
	t.done++
	if o != nil {
		t.tally.Add(o)
		if t.controls != nil {
			t.tally.waits = append(t.tally.waits, t.controls.waits[place])
		}
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
func (t *SteadyRun) decide() {
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
func (t *SteadyRun) cannotMeet(n int) bool { return t.queueGrows(n) || t.certainMiss() }

// warmedUp reports that the warm-up has ended after so many requests: every one that runs has been replaced since the start. Where
// the end of the warm-up is not found, the window itself has to show why.
func (t *SteadyRun) warmedUp(n int) bool {
	const longest = 1000
	generation, turns := t.generation(), t.turnover()/2
	if t.arrivalsStopped {
		return true
	}
	return n >= firstCheck && t.system.Now() >= t.Started && !t.cachesFilling() && (n >= turns*generation && warm(&t.tally) || n >= max(longest, 2*turns*generation))
}

// latestMiss reports that requests miss a limit before their mean is known: nearly all of those that ended last do. They wait less
// when an open loop begins, with nothing in flight, than later on, and those of a closed loop generate faster while its clients
// start; how long these wait at first shows nothing. Sessions find nothing in the cache at first, and have to have had a few turns.
func (t *SteadyRun) latestMiss() bool {
	const (
		most   = 0.9 // of the last
		lowest = 50  // percentile that this is clear for
		closed = 0.9 // of the time, to be sure
	)
	if t.rule.Misses == nil || t.rule.Percentile > 0 && t.rule.Percentile < lowest || t.cachesCold() {
		return false
	}
	newest := func(values []units.Seconds) units.Seconds {
		last := values[len(values)-len(values)/4:]
		if len(last) < firstCheck/8 {
			return 0
		}
		t.tally.scratch = append(t.tally.scratch[:0], last...)
		out := quantile.Of(t.tally.scratch, 1-most)[0]
		if t.load.Sessions && t.rule.Percentile == 0 { // a few of the replicas may be overloaded by themselves
			sum := units.Seconds(0)
			for _, v := range last {
				sum += v
			}
			const beyond = 4 // times what chance makes of it
			out = max(out, sum/units.Seconds(len(last))/beyond)
		}
		return out
	}
	if !t.open() {
		return t.rule.Misses(figures.Times{TPOT: closed * newest(t.tally.tpot)})
	}
	last := t.tally.each(newest)
	return t.rule.Misses(last) && (t.load.Sessions || t.noBurst(last))
}

// queueGrows reports that in a window of so many requests of an open loop the queue grows, if too slowly for [SteadyRun.overloaded]: the
// last of them miss a limit by far. Groups of such a window differ so much that their mean never is precise enough. A
// shorter window may be a busy time of a load that is carried.
func (t *SteadyRun) queueGrows(n int) bool {
	const long = 4000 // chosen: more than the requests of a trial for a verdict
	return n >= long && t.open() && !t.load.Sessions && t.latestMiss()
}

// certainMiss reports that an open loop misses a limit whatever is still to come: it would if all requests that may still end took no
// time. Times of a queue that grows slowly are soon that long, but never precise.
func (t *SteadyRun) certainMiss() bool {
	if t.rule.Misses == nil || !t.open() {
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
	return t.rule.Misses(t.tally.each(least))
}

// cachesCold reports that prompts find less in the caches than they will.
func (t *SteadyRun) cachesCold() bool {
	const turns = 8
	if t.done < t.replayLength() || t.load.Replay > 0 && t.cachesFilling() {
		return true
	}
	return t.load.Sessions && (!t.open() || t.done < turns*t.system.OpenSessions())
}

// noBurst reports that it is not by a burst that the last requests miss a limit: all so far miss it as well, and in a window
// or where precise figures are wanted, the last ones by far.
func (t *SteadyRun) noBurst(last figures.Times) bool {
	if t.rule.Figures || t.phase == measuring {
		const far = 2
		last = last.Longer(1.0 / far)
		last.SLORatio /= far
	}
	t.tally.control = arrivalEffect{} // a short while is not compared
	so := func(values []units.Seconds) units.Seconds {
		if len(values) == 0 {
			return 0
		}
		out, _ := t.tally.sampled(values, t.rule.Percentile)
		return out
	}
	return t.rule.Misses(last) && t.rule.Misses(t.tally.each(so))
}

// closeWindow ends the run as soon as the window can end.
func (t *SteadyRun) closeWindow() {
	t.phase, t.closeBefore = closing, t.done+(t.done-t.windowStart)/4
	if t.balanced() {
		t.stop(t.out.Ended)
	}
}

// turnover is how often every request that runs is replaced in a window at least, so that its groups of requests are hardly
// correlated: half as often where a coarse error will do, and queues show how busy it was.
func (t *SteadyRun) turnover() int {
	const fine, coarse = 4, 2
	if t.rule.Error > DefaultSampling && t.controls != nil {
		return coarse
	}
	return fine
}

// beginWindow starts the window: all that was counted so far is dropped.
func (t *SteadyRun) beginWindow() {
	t.phase, t.windowStart = measuring, t.done
	t.out = Sampling{Warmup: t.done}
	t.check = t.done + firstCheck
	if t.arrivalsStopped {
		t.check = t.done + max(firstCheck, t.system.Running())
	}
	if t.rule.Requests == 0 { // a window of many requests in flight takes more
		t.bound = max(t.bound, min(DefaultSteadyRequests, t.done+2*t.minWindow()))
	}
	t.from, t.inFlightAt, t.arrived = t.system.Now(), t.inFlight.n, 0
	t.tally.restart()
	t.recorder.BeginWindow(t.system.Now())
	t.system.BeginWindow()
}

// drifted reports whether the window of a closed loop still has some of the warm-up in it, which may take many times as long
// as a request: its second half alone is precise, and further from the first than chance explains and than the error that is
// asked for. Where requests come by themselves, a calm half is no reason to forget a busy one.
func (t *SteadyRun) drifted() bool {
	const sigmas = 4
	if t.open() {
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

// StopArrivals ends the arrivals of an open loop that is far overloaded: those that wait keep the replicas busy, and a
// window shows how many they serve.
func (t *SteadyRun) StopArrivals() {
	t.arrivalsStopped = true
	t.check = t.done + max(firstCheck, t.system.Running())
}

// overloaded reports whether requests come faster than they are served: more are in flight than chance explains. Where
// as many are served as come, the difference between the two grows with the square root of the number that came.
func (t *SteadyRun) overloaded() bool {
	const sigmas = 8
	more := float64(t.inFlight.n - t.inFlightAt)
	return t.open() && more > float64(t.inFlightAt) && more > sigmas*t.load.Variation*math.Sqrt(float64(max(t.arrived, firstCheck)))
}

// balanced reports whether the window can end now: an open loop when as many requests are in flight as when it began, so that as
// many came as were served; and Little's law holds within half a per cent.
func (t *SteadyRun) balanced() bool {
	if t.done > t.closeBefore {
		t.phase = measuring // look again later
		return false
	}
	if t.open() && t.inFlight.n != t.inFlightAt {
		return false
	}
	const little = 0.005
	t.inFlight.pass(t.system.Now())
	return math.Abs(float64(t.tally.timeInSystem-t.inFlight.area)) <= little*float64(t.inFlight.area)
}

// judged works out the sampling errors and reports how the run may end; Bounded if it may not.
func (t *SteadyRun) judged() Ending {
	var low, mean, high figures.Times
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
	sample(t.tally.sloRatio, &t.out.SLORatio, &low.SLORatio, &mean.SLORatio, &high.SLORatio)
	rest := max(t.out.TPOT, t.out.Latency, t.out.SLORatio) <= t.rule.Error
	switch misses := t.rule.Misses; {
	case rest && t.out.TTFT <= t.rule.Error:
		return Precise
	case misses == nil:
	case (t.open() || t.load.Sessions) && (misses(low) || !t.rule.Figures && !misses(high)):
		return Decided
	case !t.open() && !t.load.Sessions && rest && t.ttftIrrelevant(low.TTFT, high.TTFT, mean):
		return Decided
	}
	return Bounded
}

// ttftIrrelevant reports whether it does not matter for the limits which TTFT between two it is, nor which half of the window it is of: times
// may still change.
func (t *SteadyRun) ttftIrrelevant(low, high units.Seconds, mean figures.Times) bool {
	half := len(t.tally.ttft) / 2
	first, _ := t.tally.sampled(t.tally.ttft[:half], t.rule.Percentile)
	second, _ := t.tally.sampled(t.tally.ttft[half:], t.rule.Percentile)
	count := 0
	all := [...]units.Seconds{low, high, first, second}
	for _, ttft := range all {
		if mean.TTFT = ttft; t.rule.Misses(mean) {
			count++
		}
	}
	return count == 0 || count == len(all)
}

// stop ends the run.
func (t *SteadyRun) stop(why Ending) {
	t.out.Ended, t.out.DecidedByLimits = why, t.decidedByLimits || why == Decided
	t.phase = ended
}

// generation is the number of requests that end while all that are under way are replaced: those that run, or those of all
// open sessions. Sessions of clients are at all their turns from the start, so that a turn of each replaces what the caches
// began with. An open loop begins with none: while half of the requests of all that are open end, the first have gone through
// their turns.
func (t *SteadyRun) generation() int {
	n := t.system.Running()
	if !t.load.Sessions {
		return n
	}
	open := t.system.OpenSessions()
	if !t.open() {
		return max(n, open)
	}
	return max(n, int(t.load.Turns/2*float64(open)))
}

// minWindow is the least requests of a window: those of a few turns of all that run, and of whole sessions, of all that are open if
// they are asked for.
func (t *SteadyRun) minWindow() int {
	n := max(t.turnover()*t.system.Running(), t.replayLength())
	if !t.load.Sessions {
		return n
	}
	open := 1
	if t.rule.Sessions {
		open = t.system.OpenSessions()
	}
	if t.load.Thinks {
		const thoughts = 2500 // whose mean is known to 2 %, as other times are
		n = max(n, thoughts)
	}
	return max(n, int(t.load.Turns*float64(max(t.turnover(), open))))
}

// cachesFilling reports whether the caches of sessions, or of prompts that are known, have room that they will not have for long:
// contents that nobody asks for again stay until others need the blocks. A quarter of the requests at most is spent on it.
func (t *SteadyRun) cachesFilling() bool {
	return t.done <= t.bound/4 && t.system.CachesFilling()
}

// replayLength is the requests of a trace that is replayed, once around: its busy times and its calm ones. Half of the requests of a run
// are enough of a long trace; 0 is no such trace.
func (t *SteadyRun) replayLength() int {
	if t.load.Replay == 0 {
		return 0
	}
	return min(t.load.Replay, t.bound/2)
}

// Report sums up the window, or the whole run if it ended before one began, and returns how long that lasted; each request stands for so
// many equal ones. The rate of an open loop is known, and so the rates are those of the window times what came in it too little or too much
// by chance.
func (t *SteadyRun) Report(res *Result, times int, percentile float64) (over units.Seconds) {
	now := t.system.Now()
	if over = now - t.from; t.phase == warming || over <= 0 {
		over = now
	}
	res.Finished, res.Sampling = t.done-res.Refused, new(t.out)
	res.InFlight = t.inFlight.Levels(now)
	if len(t.tally.ttft) > 0 && over > 0 {
		if t.tally.control = (arrivalEffect{}); t.out.Warmup > 0 && t.out.Ended != Overloaded { // times of a steady state
			t.tally.chooseControl(t.controls)
		}
		t.tally.Report(res, times, percentile, over)
	}
	res.Offered = res.RequestRate
	if t.open() {
		res.Offered = t.load.Rate
		if by := res.Offered * float64(over) / float64(t.arrived); t.out.Ended != Overloaded && t.arrived > 0 {
			for _, x := range []*float64{&res.RequestRate, &res.InputRate, &res.OutputRate, &res.GoodRate, &res.InFlight.Mean} {
				*x *= by
			}
		}
	}
	if n := len(t.tally.latency); n > 0 {
		res.InFlight.shift(res.RequestRate * (float64(res.Latency.Mean) - float64(t.tally.timeInSystem)/float64(n)))
	}
	if !t.open() {
		res.InFlight.atMost(t.load.Clients)
	}
	return over
}
