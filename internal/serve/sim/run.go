package sim

import (
	"context"
	"fmt"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
)

// simulation is a run in progress: a source of requests, a cluster that serves them, what is recorded, and the events to come.
type simulation struct {
	clock   clock
	source  source
	cluster cluster

	config   *Config
	view     clientView
	outcome  statistics.Outcome // of the request that ended last
	recorder statistics.Recorder
	steady   *statistics.SteadyRun // of a run without end
	last     statistics.Levels     // requests in flight until the last one of a trace

	events   eventQueue
	starting []int32 // indices of replicas that begin a step after all other events of this time
	left     int     // requests that have not ended
	refused  int
	err      error
}

// Run simulates a configuration to its end. Of identical replicas it simulates one.
func Run(ctx context.Context, c *Config) (*statistics.Result, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	n := c.identicalReplicas()
	if n == 1 {
		return runAll(ctx, c)
	}
	out, err := runAll(ctx, c.oneOf(n))
	if err == nil {
		out.Scale(n)
	}
	return out, err
}

// runAll simulates every replica.
func runAll(ctx context.Context, c *Config) (*statistics.Result, error) {
	if err := ctx.Err(); err != nil { // drawing many requests takes a while
		return nil, err
	}
	s, err := newSimulation(c)
	if err != nil {
		return nil, err
	}
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	out := s.result()
	recycle(s.source.requests)
	if s.steady != nil {
		s.steady.Release()
	}
	return out, nil
}

// run takes events in order until all requests have ended.
func (s *simulation) run(ctx context.Context) error {
	const often = 1 << 14
	if err := ctx.Err(); err != nil {
		return err
	}
	s.sendFirst()
	_, more := s.events.next()
	for count := 1; s.left > 0 && more; count++ {
		e := s.events.pop()
		s.clock.now = e.at
		if s.clock.now >= s.recorder.Series.Next {
			s.recorder.Series.Record(s.cluster.state(), s.clock.now)
		}
		if s.clock.now >= s.recorder.Timeline.Next {
			s.recorder.Timeline.Look(s.clock.now)
		}
		s.handle(&e)
		var at units.Seconds
		if at, more = s.events.next(); len(s.starting) > 0 && (!more || at > s.clock.now) {
			for _, place := range s.starting {
				s.cluster.replicas[place].beginStep()
			}
			s.starting = s.starting[:0]
			_, more = s.events.next()
		}
		if s.err != nil {
			return s.err
		}
		if count%often == 0 {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if s.config.Progress != nil {
				s.config.Progress(s.progress())
			}
		}
	}
	if s.config.audit {
		if err := s.cluster.auditEmpty(); err != nil {
			return err
		}
	}
	if s.left > 0 {
		return fmt.Errorf("simulating: %d requests never finished", s.left)
	}
	return ctx.Err()
}

// progress is how many requests have ended, of how many at most.
func (s *simulation) progress() (done, of int) {
	if s.steady != nil {
		return s.steady.Progress()
	}
	return len(s.source.requests) - s.left, len(s.source.requests)
}

// handle acts on one event.
func (s *simulation) handle(e *event) {
	switch e.kind() {
	case stepEnds:
		if r := &s.cluster.replicas[e.replica]; r.completePlan(e.of) && s.config.audit {
			s.fail(r.audit())
		}
	case cacheArrives:
		s.arrive(&s.source.requests[e.of], &s.cluster.replicas[e.replica])
	case clientSends:
		if e.replica == sessionsOwn {
			s.nextTurn(int(e.of))
			return
		}
		s.receive(&s.source.requests[e.of])
	case requestReady:
		s.cluster.replicas[e.replica].deliver(&s.source.requests[e.of])
	}
}

// sendFirst plans the first requests.
func (s *simulation) sendFirst() {
	clients, _ := s.source.clients()
	if s.steady != nil {
		s.stagger(clients)
		return
	}
	for range max(1, clients) {
		if at, ok := s.source.planned(); ok {
			s.sendAt(at)
		}
	}
}

// stagger starts the clients of a steady run, or the first arrival. Clients of a closed loop start evenly over about the time
// that a request takes, as they would be found at any time: started at once, they would stay together for long.
func (s *simulation) stagger(clients int) {
	if clients == 0 {
		s.sendAt(s.source.gap())
		return
	}
	first := make([]*request, clients)
	for i := range first {
		first[i] = s.source.next()
	}
	input, output, computed := s.source.meanLengths(first)
	spread := s.source.lasts(s.cluster.takes(input, output, computed, clients)) / units.Seconds(clients)
	for i, q := range first {
		q.arrived = units.Seconds(i) * spread
		s.steady.Started = q.arrived
		s.source.beginConversation(q, q.arrived)
		s.source.resume(q, i, clients)
		s.events.send(q.arrived, q.id)
	}
}

// sendAt has the client send its next request.
func (s *simulation) sendAt(at units.Seconds) {
	q := s.source.next()
	q.arrived = at
	s.source.beginConversation(q, at)
	s.events.send(at, q.id)
}

// receive takes a request from the client, through a router and an API server.
func (s *simulation) receive(q *request) {
	if clients, _ := s.source.clients(); clients == 0 {
		s.sendNext()
	}
	s.enter(q)
}

// enter takes a request from the client to its replica.
func (s *simulation) enter(q *request) {
	s.recorder.InFlight.Change(s.clock.now, 1)
	if s.steady != nil {
		s.steady.RequestCame(q.id, q.input)
	}
	if !s.cluster.possible(q) {
		q.state = refused
		s.refused++
		s.leave(q)
		return
	}
	q.come()
	r := s.cluster.workers.route(q)
	q.worker = int32(r.index)
	done, atOnce := r.accept(q)
	if atOnce {
		r.deliver(q)
		return
	}
	s.events.follow(done, requestReady, r.place, q.id)
}

// sendNext plans the next arrival of an open loop or a trace.
func (s *simulation) sendNext() {
	if s.steady == nil {
		if at, ok := s.source.planned(); ok {
			s.sendAt(at)
		} else {
			s.last = s.recorder.InFlight.Levels(s.clock.now)
		}
		return
	}
	if s.source.full() {
		s.steady.StopArrivals()
		return
	}
	s.sendAt(s.clock.now + s.source.gap())
}

// finish hands a request back to its client.
func (s *simulation) finish(q *request) {
	q.state = finished
	s.leave(q)
}

func (s *simulation) leave(q *request) {
	if s.left == 0 {
		return // others ended the run at this time
	}
	q.done = s.clock.now
	s.recorder.InFlight.Change(s.clock.now, -1)
	away := s.view.deliveryTime(q)
	session := s.source.answered(q, s.clock.now+away, q.state == refused)
	if session.goesOn {
		s.events.reply(session.at, session.session)
	}
	clients, think := s.source.clients()
	sendsNext := clients > 0 && !session.goesOn // when it has the answer
	if s.steady == nil {
		s.left -= session.unsent
		if _, more := s.source.planned(); more && sendsNext {
			s.sendAt(s.clock.now + think)
		}
		s.left--
		return
	}
	s.source.release(q)
	if s.tellSteady(q); s.steady.Ended() {
		s.left = 0
	}
	if sendsNext {
		s.sendAt(s.clock.now + away + think)
	}
}

// startStep implements [Cluster].
func (s *simulation) startStep(place int32) { s.starting = append(s.starting, place) }

// stepEnds implements [Cluster].
func (s *simulation) stepEnds(at units.Seconds, place int32, version uint32) {
	s.events.step(at, place, version)
}

// fail implements [Cluster].
func (s *simulation) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// prefilled implements [Cluster]: it moves the cache of a prefilled request to a decode replica. The client sees the first
// token when decoding can begin.
func (s *simulation) prefilled(q *request, from *replica) {
	to := s.cluster.decode.route(q)
	q.decoder = int32(to.index)
	s.events.follow(from.sendCache(q), cacheArrives, from.place, q.id)
}

// arrive ends a transfer.
func (s *simulation) arrive(q *request, from *replica) {
	from.cacheArrived(q)
	s.cluster.decode.replicas[q.decoder].deliver(q)
}

// nextTurn sends the next request of a session.
func (s *simulation) nextTurn(session int) {
	if q := s.source.nextTurn(session, s.clock.now); q != nil {
		s.enter(q)
	} else {
		s.steady.StopArrivals()
	}
}

// tellSteady tells the steady run of a request that has ended.
func (s *simulation) tellSteady(q *request) {
	if s.config.Records {
		r := s.view.record(q)
		r.Warmup = s.steady.Warming()
		s.recorder.Records = append(s.recorder.Records, r)
	}
	var o *statistics.Outcome
	if q.state == finished {
		s.outcome = s.view.outcome(q)
		o = &s.outcome
	}
	s.steady.RequestEnded(q.id, o)
}

// Now implements [statistics.System].
func (s *simulation) Now() units.Seconds { return s.clock.now }

// Running implements [statistics.System].
func (s *simulation) Running() int { return s.cluster.running() }

// OpenSessions implements [statistics.System].
func (s *simulation) OpenSessions() int { return s.source.openSessions() }

// CachesFilling implements [statistics.System]: contents that nobody asks for again stay until others need the blocks.
func (s *simulation) CachesFilling() bool {
	if !s.source.knowsContents() {
		return false
	}
	for i := range s.cluster.workers.replicas {
		if s.cluster.workers.replicas[i].kv().Evicted() == 0 {
			return true
		}
	}
	return false
}

// BeginWindow implements [statistics.System].
func (s *simulation) BeginWindow() {
	s.source.restartSessions()
	s.cluster.restart()
}
