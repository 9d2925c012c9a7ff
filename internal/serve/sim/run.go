package sim

import (
	"context"
	"fmt"
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// simulation is a run in progress.
type simulation struct {
	config        *Config
	load          load
	requests      []request
	conversations *conversations // sessions; nil without any
	replicas      []replica
	workers       pool // of the replicas
	decode        pool // likewise; none unless disaggregated

	now      units.Seconds
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

	// For tests: single takes every step by itself, watch sees every replica
	// that has completed a step.
	single bool
	watch  func(*replica)
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
		if r := &s.replicas[e.replica]; r.landed(e.of) {
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
	if s.workers.affinity.tokens {
		r.countPrompt(q)
	}
	q.worker = int32(r.index)
	service := r.engine.APIFixed + r.engine.APIPerToken*units.Seconds(q.input)
	if service == 0 {
		r.deliver(q)
		return
	}
	r.apiFree = max(r.apiFree, r.apiFreeAt()) + service
	s.events.follow(r.apiFree, requestReady, r.place, q.id)
}

// apiFreeAt is when the API server has sent the tokens of the last step, if not before now.
func (r *replica) apiFreeAt() units.Seconds {
	now, p := r.sim.now, &r.plan
	if r.engine.APIPerOutput == 0 || !r.busy || p.decodes == 0 {
		return now
	}
	step := (p.end - p.start) / units.Seconds(p.steps)
	began := p.start + step*units.Seconds(math.Floor(float64((now-p.start)/step)))
	return max(now, began+min(step, r.engine.APIPerOutput*units.Seconds(p.decodes)))
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
		r := &p.replicas[0]
		return r.cache.blocks(r.reservedTokens(q)) <= r.cache.total
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

// checkTime checks the result of a step model.
func (s *simulation) checkTime(took units.Seconds, p *plan) units.Seconds {
	if took > 0 && !math.IsInf(float64(took), 0) {
		return took
	}
	if s.err == nil {
		s.err = fmt.Errorf("step model: %v for %d steps with %d decoding requests, context %g; a time must be positive and finite",
			float64(took), p.steps, p.decodes, p.context)
	}
	return 1
}
