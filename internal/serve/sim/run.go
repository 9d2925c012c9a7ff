package sim

import (
	"context"
	"fmt"
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// simulation is a run in progress.
type simulation struct {
	config   *Config
	load     load
	requests []request
	talks    *talks // sessions; nil without any
	replicas []replica
	workers  pool // of the replicas
	decode   pool // likewise; none unless disaggregated

	now     units.Seconds
	agenda  agenda
	due     []int32 // indices of replicas that begin a step after all other events of this time
	sent    int     // requests the client has sent, or has planned to
	left    int     // requests that have not ended
	refused int
	unsent  int // turns of sessions that ended early
	series  series
	minute  minute
	flight  flight
	steady  *steady  // of a run without end
	records []Record // and its records, if requested
	last    Levels   // requests in flight until the last one of a trace
	gaps    histogram
	err     error

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
	n := c.alike()
	if n == 1 {
		return runAll(ctx, c)
	}
	out, err := runAll(ctx, c.one(n))
	if err == nil {
		out.times(n)
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
	s.open()
	_, more := s.agenda.next()
	for count := 1; s.left > 0 && more; count++ {
		e := s.agenda.pop()
		s.now = e.at
		if s.now >= s.series.next {
			s.sample()
		}
		if s.now >= s.minute.next {
			s.minute.look(s.now)
		}
		s.happen(&e)
		var at units.Seconds
		if at, more = s.agenda.next(); len(s.due) > 0 && (!more || at > s.now) {
			for _, place := range s.due {
				r := &s.replicas[place]
				r.due = false
				r.begin()
			}
			s.due = s.due[:0]
			_, more = s.agenda.next()
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

// happen acts on one event.
func (s *simulation) happen(e *event) {
	switch e.kind() {
	case stepEnds:
		if r := &s.replicas[e.replica]; r.lands(e.of) {
			r.complete()
			if s.watch != nil {
				s.watch(r)
			}
		}
	case cacheArrives:
		s.arrive(&s.requests[e.of], &s.replicas[e.replica])
	case clientSends:
		if e.replica == sessionsOwn {
			s.turn(int(e.of))
			return
		}
		s.receive(&s.requests[e.of])
	case requestReady:
		s.replicas[e.replica].deliver(&s.requests[e.of])
	}
}

// open plans the first requests.
func (s *simulation) open() {
	n := 1
	if s.load.window > 0 {
		n = s.load.window
	}
	if s.steady != nil {
		s.stagger(n)
		return
	}
	for range min(n, s.starts()) {
		s.plan(s.start(s.sent).arrived)
	}
}

// plan has the client send its next request.
func (s *simulation) plan(at units.Seconds) {
	q := s.next()
	q.arrived = at
	s.begins(q, at)
	s.agenda.send(at, q.id)
}

// next is the request to be sent next.
func (s *simulation) next() *request {
	s.sent++
	if s.steady == nil {
		return s.start(s.sent - 1)
	}
	q := s.take()
	s.load.draw(q)
	s.recalls(q)
	q.need = q.input
	return q
}

// vacant is a place for the next turn of a session.
func (s *simulation) vacant() *request {
	s.sent++
	return s.take()
}

// take takes a place that nobody uses.
func (s *simulation) take() *request {
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
	if s.load.window == 0 {
		s.follow()
	}
	s.enter(q)
}

// enter takes a request from the client to its replica.
func (s *simulation) enter(q *request) {
	s.flight.change(s.now, 1)
	if s.steady != nil {
		s.steady.arrived++
		if c := s.steady.controls; c != nil {
			c.take(q, s.now)
		}
	}
	if !s.possible(q) {
		q.state = refused
		s.refused++
		s.gone(q)
		return
	}
	q.state = queued
	r := s.workers.route(q)
	if s.workers.affinity.tokens {
		r.owe(q)
	}
	q.worker = int32(r.index)
	service := r.engine.APIFixed + r.engine.APIPerToken*units.Seconds(q.input)
	if service == 0 {
		r.deliver(q)
		return
	}
	r.apiFree = max(r.apiFree, r.written()) + service
	s.agenda.follow(r.apiFree, requestReady, r.place, q.id)
}

// written is when the API server has sent the tokens of the last step, if not before now.
func (r *replica) written() units.Seconds {
	now, p := r.sim.now, &r.plan
	if r.engine.APIPerOutput == 0 || !r.busy || p.decodes == 0 {
		return now
	}
	step := (p.end - p.start) / units.Seconds(p.steps)
	began := p.start + step*units.Seconds(math.Floor(float64((now-p.start)/step)))
	return max(now, began+min(step, r.engine.APIPerOutput*units.Seconds(p.decodes)))
}

// follow plans the next arrival of an open loop or a trace.
func (s *simulation) follow() {
	switch t := s.steady; {
	case t == nil && s.sent < s.starts():
		s.plan(s.start(s.sent).arrived)
	case t == nil:
		s.last = s.flight.levels(s.now)
	case len(t.free) == 0:
		s.flood()
	default:
		s.plan(s.now + s.load.gap())
	}
}

// possible reports whether a request would fit if it were alone.
func (s *simulation) possible(q *request) bool {
	fits := func(p *pool) bool {
		r := &p.replicas[0]
		return r.cache.blocks(r.kept(q)) <= r.cache.total
	}
	return fits(&s.workers) && (len(s.decode.replicas) == 0 || q.output == 1 || fits(&s.decode))
}

// finish hands a request back to its client.
func (s *simulation) finish(q *request) {
	q.state = finished
	s.gone(q)
}

func (s *simulation) gone(q *request) {
	if s.left == 0 {
		return // others ended the run at this time
	}
	q.done = s.now
	s.flight.change(s.now, -1)
	goesOn := s.replies(q)
	switch {
	case s.steady != nil:
		s.forgets(q)
		s.ends(q)
		if s.load.window > 0 && !goesOn { // a client sends again when it has the answer
			s.plan(s.now + s.away(q) + s.load.think)
		}
		return
	case s.load.window > 0 && s.sent < s.starts() && !goesOn:
		s.plan(s.now + s.load.think)
	}
	s.left--
}

// sound checks the result of a step model.
func (s *simulation) sound(took units.Seconds, p *plan) units.Seconds {
	if took > 0 && !math.IsInf(float64(took), 0) {
		return took
	}
	if s.err == nil {
		s.err = fmt.Errorf("step model: %v for %d steps with %d decoding requests, context %g; a time must be positive and finite",
			float64(took), p.steps, p.decodes, p.context)
	}
	return 1
}
