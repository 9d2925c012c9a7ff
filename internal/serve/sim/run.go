package sim

import (
	"context"
	"fmt"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// clock is the time of a simulation.
type clock struct{ now units.Seconds }

// simulation is a run in progress.
type simulation struct {
	clock

	config        *Config
	load          load
	requests      []request
	conversations *conversations // sessions; nil without any
	replicas      []replica
	workers       pool // of the replicas
	decode        pool // likewise; none unless disaggregated

	events   eventQueue
	starting []int32 // indices of replicas that begin a step after all other events of this time
	sent     int     // requests the client has sent, or has planned to
	left     int     // requests that have not ended
	refused  int
	unsent   int // turns of sessions that ended early
	series   series
	timeline timelineRecorder
	inFlight inFlightMeter
	steady   *steady  // of a run without end
	records  []Record // and its records, if requested
	last     Levels   // requests in flight until the last one of a trace
	gaps     histogram
	err      error

	watch func(*replica) // for tests: sees every replica that has completed a step
}

// Run simulates a configuration to its end. Of identical replicas it simulates one.
func Run(ctx context.Context, c *Config) (*Result, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	n := c.identicalReplicas()
	if n == 1 {
		return runAll(ctx, c)
	}
	out, err := runAll(ctx, c.oneOf(n))
	if err == nil {
		out.scale(n)
	}
	return out, err
}

// runAll simulates every replica.
func runAll(ctx context.Context, c *Config) (*Result, error) {
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
	out, requests := s.result(), s.requests
	spare.Put(&requests)
	if s.steady != nil {
		spareTallies.Put(new(s.steady.tally))
		if s.steady.controls != nil {
			spareControls.Put(s.steady.controls)
		}
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
		s.now = e.at
		if s.now >= s.series.next {
			s.sample()
		}
		if s.now >= s.timeline.next {
			s.timeline.look(s.now)
		}
		s.handle(&e)
		var at units.Seconds
		if at, more = s.events.next(); len(s.starting) > 0 && (!more || at > s.now) {
			for _, place := range s.starting {
				r := &s.replicas[place]
				r.starting = false
				r.begin()
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
	if s.left > 0 {
		return fmt.Errorf("simulating: %d requests never finished", s.left)
	}
	return ctx.Err()
}

// progress is how many requests have ended, of how many at most.
func (s *simulation) progress() (done, of int) {
	if s.steady != nil {
		return s.steady.done, s.steady.bound
	}
	return len(s.requests) - s.left, len(s.requests)
}

// handle acts on one event.
func (s *simulation) handle(e *event) {
	switch e.kind() {
	case stepEnds:
		if r := &s.replicas[e.replica]; r.scheduler.landed(e.of) {
			r.complete()
			if s.watch != nil {
				s.watch(r)
			}
		}
	case cacheArrives:
		s.arrive(&s.requests[e.of], &s.replicas[e.replica])
	case clientSends:
		if e.replica == sessionsOwn {
			s.nextTurn(int(e.of))
			return
		}
		s.receive(&s.requests[e.of])
	case requestReady:
		s.replicas[e.replica].deliver(&s.requests[e.of])
	}
}

// sendFirst plans the first requests.
func (s *simulation) sendFirst() {
	n := 1
	if s.load.clients > 0 {
		n = s.load.clients
	}
	if s.steady != nil {
		s.stagger(n)
		return
	}
	for range min(n, s.starts()) {
		s.sendAt(s.start(s.sent).arrived)
	}
}

// sendAt has the client send its next request.
func (s *simulation) sendAt(at units.Seconds) {
	q := s.next()
	q.arrived = at
	s.beginConversation(q, at)
	s.events.send(at, q.id)
}

// next is the request to be sent next.
func (s *simulation) next() *request {
	s.sent++
	if s.steady == nil {
		return s.start(s.sent - 1)
	}
	q := s.freePlace()
	s.load.draw(q)
	s.assignContents(q)
	q.prefillTokens = q.input
	return q
}

// turnPlace is a place for the next turn of a session.
func (s *simulation) turnPlace() *request {
	s.sent++
	return s.freePlace()
}

// freePlace takes a place that nobody uses.
func (s *simulation) freePlace() *request {
	free := &s.steady.free
	at := (*free)[len(*free)-1]
	*free = (*free)[:len(*free)-1]
	q := &s.requests[at]
	*q = request{id: int(at), serial: int32(s.sent - 1), epoch: q.epoch + 1}
	return q
}

// starts is how many requests the client sends of its own accord: not as the next turn of a session.
func (s *simulation) starts() int {
	if s.load.starts != nil {
		return len(s.load.starts)
	}
	return len(s.requests)
}

// start is one of them.
func (s *simulation) start(i int) *request {
	if s.load.starts != nil {
		i = int(s.load.starts[i])
	}
	return &s.requests[i]
}

// receive takes a request from the client, through a router and an API server.
func (s *simulation) receive(q *request) {
	if s.load.clients == 0 {
		s.sendNext()
	}
	s.enter(q)
}

// enter takes a request from the client to its replica.
func (s *simulation) enter(q *request) {
	s.inFlight.change(s.now, 1)
	if s.steady != nil {
		s.steady.arrived++
		if c := s.steady.controls; c != nil {
			c.take(q, s.now)
		}
	}
	if !s.possible(q) {
		q.state = refused
		s.refused++
		s.leave(q)
		return
	}
	q.state = queued
	r := s.workers.route(q)
	q.worker = int32(r.index)
	x := &r.scheduler
	done, atOnce := r.api.accept(x.engine, s.now, &x.plan, x.busy, q.input)
	if atOnce {
		r.deliver(q)
		return
	}
	s.events.follow(done, requestReady, r.place, q.id)
}

// sendNext plans the next arrival of an open loop or a trace.
func (s *simulation) sendNext() {
	switch t := s.steady; {
	case t == nil && s.sent < s.starts():
		s.sendAt(s.start(s.sent).arrived)
	case t == nil:
		s.last = s.inFlight.levels(s.now)
	case len(t.free) == 0:
		s.stopArrivals()
	default:
		s.sendAt(s.now + s.load.gap())
	}
}

// possible reports whether a request would fit if it were alone.
func (s *simulation) possible(q *request) bool {
	fits := func(p *pool) bool {
		x := &p.replicas[0].scheduler
		return x.kv.Blocks(x.mostTokens(q)) <= x.kv.Total()
	}
	return fits(&s.workers) && (len(s.decode.replicas) == 0 || q.output == 1 || fits(&s.decode))
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
	q.done = s.now
	s.inFlight.change(s.now, -1)
	goesOn := s.continueConversation(q)
	switch {
	case s.steady != nil:
		s.releaseContents(q)
		s.requestEnded(q)
		if s.load.clients > 0 && !goesOn { // a client sends again when it has the answer
			s.sendAt(s.now + s.deliveryTime(q) + s.load.think)
		}
		return
	case s.load.clients > 0 && s.sent < s.starts() && !goesOn:
		s.sendAt(s.now + s.load.think)
	}
	s.left--
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

// prefilled implements [Cluster]: it moves the cache of a prefilled request to a decode replica, over the link that is free
// first. The blocks stay taken here until all of it has arrived. The client sees the first
// token when decoding can begin.
func (s *simulation) prefilled(q *request, from *replica) {
	to := s.decode.route(q)
	q.state = moving
	q.decoder = int32(to.index)
	from.scheduler.sending++
	from.scheduler.sendingTokens += q.context
	sent := from.outbox.send(s.now, &s.config.Link, q.context)
	s.events.follow(sent+s.config.Link.Latency, cacheArrives, from.place, q.id)
}

// arrive ends a transfer.
func (s *simulation) arrive(q *request, from *replica) {
	from.scheduler.sending--
	from.scheduler.sendingTokens -= q.context
	from.scheduler.release(q)
	from.load.requests--
	from.wake()
	q.state = queued
	q.transferred = true
	s.decode.replicas[q.decoder].deliver(q)
}
