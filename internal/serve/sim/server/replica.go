package server

import (
	"fmt"
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// Replica is one engine: an API server, an inbox, a scheduler with its KV store, and the device on which steps run. Its life is to
// begin a step (look at the inbox, fill it), to complete it (hand out tokens), and to begin the next.
type Replica struct {
	Place   int32 // among all replicas
	Index   int   // in its pool
	cluster Cluster

	api       apiServer
	inbox     inbox
	scheduler scheduler
	device    device
	outbox    outbox
	usage     usage
	load      routingLoad

	does       Role
	heldTokens int    // generated before a client sees the first; 0 where prompts are computed too
	version    uint32 // counts plans, so that an event of a plan that was cut is known
	starting   bool   // begins after all other events of this time
	single     bool   // takes every step by itself; for tests
}

// Cluster is what a replica tells those around it.
type Cluster interface {
	// StartStep has a replica begin a step after all other events of this time.
	StartStep(place int32)
	// StepEnds plans the end of a plan's steps.
	StepEnds(at units.Seconds, place int32, version uint32)
	// Prefilled takes a request whose prompt is computed and whose answer is generated elsewhere.
	Prefilled(q *Request, from *Replica)
	// Finish takes a request that has all its tokens.
	Finish(q *Request)
	// Fail ends the simulation.
	Fail(err error)
}

// routingLoad is what a router knows of a replica.
type routingLoad struct {
	requests int // sent here that have not left
	// pendingPromptTokens is the tokens of their prompts that are not computed, where a router counts them.
	pendingPromptTokens int
}

// Assign counts a request as load of the replica: it comes next. With tokens those of its prompt count that are not in the cache.
func (r *Replica) Assign(q *Request, tokens bool) {
	r.load.requests++
	if tokens {
		q.pendingPrompt = int32(q.Input - r.Remembered(q))
		r.load.pendingPromptTokens += int(q.pendingPrompt)
	}
}

// Accept has the API server take a request, and returns when the scheduler may see it; at once if the server takes no time.
func (r *Replica) Accept(q *Request) (done units.Seconds, atOnce bool) {
	x := &r.scheduler
	return r.api.accept(x.engine, x.clock.Now, &x.plan, x.busy, q.Input)
}

// Deliver puts a request in front of the scheduler.
func (r *Replica) Deliver(q *Request) {
	q.lastToken = r.scheduler.clock.Now
	r.inbox.incoming.push(q)
	if r.scheduler.inFlight == len(r.scheduler.all) {
		r.interrupt()
	} else {
		r.wake()
	}
}

// wake has a replica begin that could take a step.
func (r *Replica) wake() {
	if r.scheduler.inFlight < len(r.scheduler.all) && !r.starting {
		r.starting = true
		r.cluster.StartStep(r.Place)
	}
}

// BeginStep begins a step that [Cluster.StartStep] has planned.
func (r *Replica) BeginStep() {
	r.starting = false
	r.begin()
}

// begin starts the next step, or nothing; in a pipeline that of every batch that is not in flight.
func (r *Replica) begin() {
	s := &r.scheduler
	r.inbox.poll(s, r.device.launches != nil)
	if len(s.all) == 1 {
		r.fill()
		return
	}
	for s.choose() {
		empty := s.decode.n == 0
		if !r.fill() && empty && !s.evicted {
			return // nor would another have anything to do
		}
	}
}

// fill fills the batch and starts its step; it reports whether there is one.
func (r *Replica) fill() bool {
	s := &r.scheduler
	decodes := s.fill()
	r.loadHosted()
	r.usage.filled(s)
	p := plan{start: s.clock.Now, steps: 1}
	if decodes {
		p.decodes, p.context = s.decode.n, s.contextRead()
	}
	p.run = len(s.chunks) == 0
	if p.run && p.decodes == 0 {
		return false
	}
	s.shape = s.batchShape(&p)
	switch {
	case len(s.all) > 1:
		r.enterPipeline(&p)
	case p.run:
		p.steps = r.runLength()
		p.end = p.start + r.checked(r.device.stepper.Decode(p.decodes, p.context, s.decode.growth(p.decodes), int(p.steps)), &p)
	default:
		took := max(s.loads, r.checked(r.device.time(&s.shape, &p, &s.plan), &p))
		p.end = p.start + took
		r.device.meterStep(&s.shape, &p, took)
	}
	r.version++
	p.version = r.version
	s.busy = true
	s.inFlight++
	s.plan = p
	r.cluster.StepEnds(p.end, r.Place, p.version)
	return true
}

// loadHosted loads from the host tier what the batch found there.
func (r *Replica) loadHosted() {
	s := &r.scheduler
	s.loads = 0
	for i := range s.chunks {
		if c := &s.chunks[i]; c.hosted > 0 {
			took := s.engine.Host.loads(c.hosted)
			s.loads += took
			r.usage.loading += took
			r.usage.spared += r.device.spared(c)
		}
	}
}

// enterPipeline sends a step of the batch through the stages.
func (r *Replica) enterPipeline(p *plan) {
	s, d := &r.scheduler, &r.device
	took, stage := d.pipeline.model.Through(s.shape)
	p.end = d.pipeline.enter(p.start, max(s.loads, r.checked(took, p)), max(s.loads, stage))
	d.meterStep(&s.shape, p, p.end-max(p.start, d.pipeline.until))
	d.pipeline.until = p.end
	if p.decodes > 0 {
		s.reserve(s.microBatch, s.decode.nextBlocks())
	}
}

// checked checks the result of a step model.
func (r *Replica) checked(took units.Seconds, p *plan) units.Seconds {
	if took > 0 && !math.IsInf(float64(took), 0) {
		return took
	}
	r.cluster.Fail(fmt.Errorf("step model: %v for %d steps with %d decoding requests, context %g; a time must be positive and finite",
		float64(took), p.steps, p.decodes, p.context))
	return 1
}

// runLength is how many steps can be taken at once when nothing is prefilled:
// until a request ends, blocks run out, the scheduler would look at its inbox, or
// would decide again.
func (r *Replica) runLength() int64 {
	s := &r.scheduler
	if s.evicted || r.single {
		return 1 // what was preempted may be admitted again
	}
	steps := s.decode.stepsTo(s.decode.next().finish)
	available := s.kv.Available()
	steps = s.decode.stepsWithin(steps, available)
	if s.waiting.n > 0 && s.admission.ByChunk() {
		if kept := s.kv.Kept(); kept > 0 {
			// The first in line waits for blocks for its remembered beginning and one
			// chunk more. Once that beginning is evicted, a chunk is enough.
			steps = max(1, s.decode.stepsWithin(steps, available-kept))
		}
	}
	steps = r.inbox.look(steps, s.engine.ReceiveInterval)
	if s.hold {
		steps = min(steps, int64(s.wait.limit-s.wait.waited))
	}
	return steps
}

// interrupt cuts a run at the first boundary where the scheduler sees what has
// just come in.
func (r *Replica) interrupt() {
	s := &r.scheduler
	p := &s.plan
	if !p.run || p.cut || p.steps == 1 {
		return
	}
	// Behind one that is waiting nothing can be admitted before something ends;
	// but more prompts may end a batch wait.
	if s.waiting.n > 0 && !s.hold && s.engine.ReceiveInterval == 1 && !s.engine.Overlapped {
		return
	}
	p.cut = true
	growth := s.decode.growth(p.decodes)
	steps, end := stepsUntil(r.device.stepper, p, growth, s.clock.Now)
	if every := int64(s.engine.ReceiveInterval); every > 1 {
		more := (every - (int64(r.inbox.since)+steps)%every) % every
		if steps += more; more > 0 && steps < p.steps {
			end = p.start + r.device.stepper.Decode(p.decodes, p.context, growth, int(steps))
		}
	}
	if steps >= p.steps {
		return
	}
	p.steps = steps
	r.version++
	p.version = r.version
	p.end = max(s.clock.Now, end)
	r.cluster.StepEnds(p.end, r.Place, p.version)
}

// CompletePlan completes the steps that were planned with a version, unless they have been planned anew since.
func (r *Replica) CompletePlan(version uint32) (done bool) {
	if r.scheduler.landed(version) {
		r.complete()
		return true
	}
	return false
}

// complete ends the step or run: tokens are handed out, requests end, pieces of
// prompts are in the cache.
func (r *Replica) complete() {
	s := &r.scheduler
	p := &s.plan
	took := p.end - max(p.start, r.usage.until)
	before := s.kv.Held()
	s.busy = false
	s.inFlight--
	if s.reserved > 0 {
		s.reserve(s.microBatch, 0)
	}
	held := before
	if s.shape.Decode > 0 {
		s.gaps.steps(p)
		if blocks := s.decode.advance(p.steps); blocks > 0 {
			s.kv.Take(blocks)
			held = s.kv.Held()
		}
	}
	r.usage.stepped(p, took, before, held)
	r.inbox.stepped(p, s.engine.ReceiveInterval)
	if p.run {
		r.device.meterRun(&s.shape, p, s.decode.growth(s.shape.Decode), took)
		s.formation.Stepped(s, p.steps)
	}
	r.device.launches.forget()
	for s.decode.n > 0 {
		q := s.decode.next()
		if q.finish > s.decode.clock {
			break
		}
		s.decode.leave(q)
		r.end(q)
	}
	for i := range s.chunks {
		r.advance(&s.chunks[i])
	}
	r.wake()
}

// advance puts a piece of a prompt into the cache; the last piece brings a
// token.
func (r *Replica) advance(c *chunk) {
	s, q := &r.scheduler, c.q
	if q.epoch != c.epoch {
		return
	}
	s.kv.Learn(q)
	if c.from+c.tokens < q.prefillTokens {
		return
	}
	s.inFlightChunkTokens -= q.prefillTokens
	q.generated++
	if q.generated == 1 {
		q.First, q.FirstBatch = s.clock.Now, int32(s.shape.Sampled)
		r.device.launches.note(q)
		r.load.pendingPromptTokens -= int(q.pendingPrompt)
	} else {
		s.gaps.add(s.clock.Now-q.lastToken, 1)
	}
	switch {
	case q.generated >= q.Output:
		r.end(q)
	case s.decodes:
		s.join(q, s.clock.Now)
	default:
		s.running.remove(q)
		r.cluster.Prefilled(q, r)
	}
}

// end ends a request that has all its tokens.
func (r *Replica) end(q *Request) {
	s := &r.scheduler
	q.holdBack(r.heldTokens, s.clock.Now)
	s.kv.Learn(q)
	s.running.remove(q)
	s.release(q)
	r.load.requests--
	r.cluster.Finish(q)
	r.device.launches.note(q)
}
