package sim

import (
	"cmp"
	"context"
	"fmt"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// simulation is a run in progress: a source of requests, a cluster that serves them, what is recorded, and the events to come.
type simulation struct {
	clock   server.Clock
	source  traffic.Source
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
	server.Recycle(s.source.Requests)
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
		s.clock.Now = e.at
		if s.clock.Now >= s.recorder.Series.Next {
			s.recorder.Series.Record(s.cluster.state(), s.clock.Now)
		}
		if s.clock.Now >= s.recorder.Timeline.Next {
			s.recorder.Timeline.Look(s.clock.Now)
		}
		s.handle(&e)
		var at units.Seconds
		if at, more = s.events.next(); len(s.starting) > 0 && (!more || at > s.clock.Now) {
			for _, place := range s.starting {
				s.cluster.replicas[place].BeginStep()
			}
			s.starting = s.starting[:0]
			_, more = s.events.next()
		}
		if s.err != nil {
			return s.err
		}
		if count%often == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			s.reportProgress()
		}
	}
	return cmp.Or(s.checkEnd(), ctx.Err())
}

// checkEnd reports what is left where nothing should be.
func (s *simulation) checkEnd() error {
	if s.config.audit {
		if err := s.cluster.auditEmpty(); err != nil {
			return err
		}
	}
	if s.left > 0 {
		return fmt.Errorf("simulating: %d requests never finished", s.left)
	}
	return nil
}

// reportProgress reports how far the run is, if somebody asks.
func (s *simulation) reportProgress() {
	if s.config.Progress != nil {
		s.config.Progress(s.progress())
	}
}

// progress is how many requests have ended, of how many at most.
func (s *simulation) progress() (done, of int) {
	if s.steady != nil {
		return s.steady.Progress()
	}
	return len(s.source.Requests) - s.left, len(s.source.Requests)
}

// handle acts on one event.
func (s *simulation) handle(e *event) {
	switch e.kind() {
	case stepEnds:
		if r := &s.cluster.replicas[e.replica]; r.CompletePlan(e.of) && s.config.audit {
			s.Fail(r.Audit())
		}
	case cacheArrives:
		s.arrive(&s.source.Requests[e.of], &s.cluster.replicas[e.replica])
	case clientSends:
		if e.replica == sessionsOwn {
			s.nextTurn(int(e.of))
			return
		}
		s.receive(&s.source.Requests[e.of])
	case requestReady:
		s.cluster.replicas[e.replica].Deliver(&s.source.Requests[e.of])
	}
}

// sendFirst plans the first requests.
func (s *simulation) sendFirst() {
	clients, _ := s.source.Clients()
	if s.steady != nil {
		s.stagger(clients)
		return
	}
	for range max(1, clients) {
		if at, ok := s.source.Planned(); ok {
			s.sendAt(at)
		}
	}
}

// stagger starts the clients of a steady run, or the first arrival. Clients of a closed loop start evenly over about the time
// that a request takes, as they would be found at any time: started at once, they would stay together for long.
func (s *simulation) stagger(clients int) {
	if clients == 0 {
		s.sendAt(s.source.Gap())
		return
	}
	first := make([]*server.Request, clients)
	for i := range first {
		first[i] = s.source.Next()
	}
	input, output, computed := s.source.MeanLengths(first)
	spread := s.source.RequestInterval(s.cluster.takes(input, output, computed, clients)) / units.Seconds(clients)
	for i, q := range first {
		q.Arrived = units.Seconds(i) * spread
		s.steady.Started = q.Arrived
		s.source.BeginConversation(q, q.Arrived)
		s.source.Resume(q, i, clients)
		s.events.send(q.Arrived, q.ID)
	}
}

// sendAt has the client send its next request.
func (s *simulation) sendAt(at units.Seconds) {
	q := s.source.Next()
	q.Arrived = at
	s.source.BeginConversation(q, at)
	s.events.send(at, q.ID)
}

// receive takes a request from the client, through a router and an API server.
func (s *simulation) receive(q *server.Request) {
	if clients, _ := s.source.Clients(); clients == 0 {
		s.sendNext()
	}
	s.enter(q)
}

// enter takes a request from the client to its replica.
func (s *simulation) enter(q *server.Request) {
	s.recorder.InFlight.Change(s.clock.Now, 1)
	if s.steady != nil {
		s.steady.RequestCame(q.ID, q.Input)
	}
	if !s.cluster.possible(q) {
		q.State = server.Refused
		s.refused++
		s.leave(q)
		return
	}
	q.Enter()
	r := s.cluster.workers.route(q)
	q.Worker = int32(r.Index)
	done, atOnce := r.Accept(q)
	if atOnce {
		r.Deliver(q)
		return
	}
	s.events.follow(done, requestReady, r.Place, q.ID)
}

// sendNext plans the next arrival of an open loop or a trace.
func (s *simulation) sendNext() {
	if s.steady == nil {
		if at, ok := s.source.Planned(); ok {
			s.sendAt(at)
		} else {
			s.last = s.recorder.InFlight.Levels(s.clock.Now)
		}
		return
	}
	if s.source.Full() {
		s.steady.StopArrivals()
		return
	}
	s.sendAt(s.clock.Now + s.source.Gap())
}

// Finish hands a request back to its client.
func (s *simulation) Finish(q *server.Request) {
	q.State = server.Finished
	s.leave(q)
}

func (s *simulation) leave(q *server.Request) {
	if s.left == 0 {
		return // others ended the run at this time
	}
	q.Done = s.clock.Now
	s.recorder.InFlight.Change(s.clock.Now, -1)
	away := s.view.deliveryTime(q)
	session := s.source.Answered(q, s.clock.Now+away, q.State == server.Refused)
	if session.GoesOn {
		s.events.reply(session.At, session.Session)
	}
	clients, think := s.source.Clients()
	sendsNext := clients > 0 && !session.GoesOn // when it has the answer
	if s.steady == nil {
		s.left -= session.Unsent
		if _, more := s.source.Planned(); more && sendsNext {
			s.sendAt(s.clock.Now + think)
		}
		s.left--
		return
	}
	s.source.Release(q)
	if s.tellSteady(q); s.steady.Ended() {
		s.left = 0
	}
	if sendsNext {
		s.sendAt(s.clock.Now + away + think)
	}
}

// StartStep implements [Cluster].
func (s *simulation) StartStep(place int32) { s.starting = append(s.starting, place) }

// StepEnds implements [Cluster].
func (s *simulation) StepEnds(at units.Seconds, place int32, version uint32) {
	s.events.step(at, place, version)
}

// Fail implements [Cluster].
func (s *simulation) Fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// Prefilled implements [Cluster]: it moves the cache of a prefilled request to a decode replica. The client sees the first
// token when decoding can begin.
func (s *simulation) Prefilled(q *server.Request, from *server.Replica) {
	to := s.cluster.decode.route(q)
	q.Decoder = int32(to.Index)
	s.events.follow(from.SendCache(q), cacheArrives, from.Place, q.ID)
}

// arrive ends a transfer.
func (s *simulation) arrive(q *server.Request, from *server.Replica) {
	from.CacheArrived(q)
	s.cluster.decode.replicas[q.Decoder].Deliver(q)
}

// nextTurn sends the next request of a session.
func (s *simulation) nextTurn(session int) {
	if q := s.source.NextTurn(session, s.clock.Now); q != nil {
		s.enter(q)
	} else {
		s.steady.StopArrivals()
	}
}

// tellSteady tells the steady run of a request that has ended.
func (s *simulation) tellSteady(q *server.Request) {
	if s.config.Records {
		r := s.view.record(q)
		r.Warmup = s.steady.Warming()
		s.recorder.Records = append(s.recorder.Records, r)
	}
	var o *statistics.Outcome
	if q.State == server.Finished {
		o = s.view.outcome(q, &s.outcome)
	}
	s.steady.RequestEnded(q.ID, o)
}

// Now implements [statistics.System].
func (s *simulation) Now() units.Seconds { return s.clock.Now }

// Running implements [statistics.System].
func (s *simulation) Running() int { return s.cluster.running() }

// OpenSessions implements [statistics.System].
func (s *simulation) OpenSessions() int { return s.source.OpenSessions() }

// CachesFilling implements [statistics.System]: contents that nobody asks for again stay until others need the blocks.
func (s *simulation) CachesFilling() bool {
	if !s.source.KnowsContents() {
		return false
	}
	for i := range s.cluster.workers.replicas {
		if s.cluster.workers.replicas[i].KV().Evicted() == 0 {
			return true
		}
	}
	return false
}

// BeginWindow implements [statistics.System].
func (s *simulation) BeginWindow() {
	s.source.RestartSessions()
	s.cluster.restart()
}
