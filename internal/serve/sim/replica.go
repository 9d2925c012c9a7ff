package sim

import "github.com/plimsoll-project/plimsoll/internal/basic/units"

// replica is one engine: an API server, a scheduler, a cache. Its life is to
// begin a step (look at the queue, fill it), to complete it (hand out tokens),
// and to begin the next.
type replica struct {
	sim           *simulation
	place         int32 // in simulation.replicas
	index         int   // in its pool
	engine        *Engine
	stepper       Stepper
	launcher      Launcher // nil unless the host runs ahead of the device
	meter         Meter    // nil without one
	decodes       bool     // false in a prefill pool: requests leave after their prompt
	heldTokens    int      // tokens held back; 0 where prompts are computed too
	tokensPerStep int      // the most tokens a request can gain in one step

	apiFree             units.Seconds // when the API server has done what it has
	load                int           // requests sent here that have not left
	pendingPromptTokens int           // tokens of their prompts that are not computed, where a router counts them

	incoming            queue // ready, not yet seen by the scheduler
	visible             int   // number of these for the next step to be filled
	fresh               bool  // the last step came after a time without any
	waiting             queue
	running             running
	tokensOut           []*request // got their first or last token in the step that ended last, where the host runs ahead
	partial             *request   // the prompt that was cut off; always the last of running
	inFlightChunkTokens int        // tokens of prompts whose last piece is in flight
	decodeQueue         decodeQueue
	cache               cache
	reservedBlocks      int // blocks that batches in flight take when their steps end

	*microBatch     // the one that is filled or whose step ends
	batches         []microBatch
	batchesInFlight int // of these, in flight
	pipeline        pipeline
	version         uint32          // counts plans, so that an event of a plan that was cut is known
	priced          *priced         // of the pool
	since           int             // steps of generation since the last look, modulo the interval
	waited          int             // steps counted towards a wait, most of them while prompts were held back
	waitLimit       int             // and the most
	lastPending     int             // tokens of prompts that wait on every rank, and
	lastGrowth      int             // the steps waited when there were last more of them
	evicted         bool            // a request was preempted when this step was filled
	starting        bool            // begins after all other events of this time
	sending         int             // requests whose cache is on its way out
	sendingTokens   int             // and their tokens
	links           []units.Seconds // when each has carried what it has

	usage usage
	// As in [PoolUse].
	fullest int
	limited bool
	power   power
}

// plan is what a replica is doing: one step with prefill, or a run of steps
// without.
type plan struct {
	start, end units.Seconds
	version    uint32
	steps      int64
	decodes    int // requests that generate in it and were not preempted since
	context    float64
	run        bool // no prefill
	cut        bool // ends early, where a new request will be seen
	// launched is when the host has launched a step with prefill, where it runs ahead of the device.
	launched units.Seconds
}

// chunk is a piece of a prompt in a step.
type chunk struct {
	q      *request
	from   int // tokens before it
	tokens int
	epoch  uint32 // of the request; another one means that it was preempted since
}

// usage is the totals of a replica.
type usage struct {
	busy         units.Seconds
	until        units.Seconds // the last step's end
	steps        int64
	prefillSteps int64
	preemptions  int
	loading      units.Seconds // from the host tier
	spared       units.Seconds // computing what was loaded
	blockTime    float64       // Σ blocks held · seconds
	peak         int           // blocks
}

// deliver puts a request in front of the scheduler.
func (r *replica) deliver(q *request) {
	q.lastToken = r.sim.now
	r.incoming.push(q)
	if r.batchesInFlight == len(r.batches) {
		r.interrupt()
	} else {
		r.wake()
	}
}

// wake has a replica begin that could take a step.
func (r *replica) wake() {
	if r.batchesInFlight < len(r.batches) && !r.starting {
		r.starting = true
		r.sim.starting = append(r.sim.starting, r.place)
	}
}

// begin starts the next step, or nothing; in a pipeline that of every batch that is not in flight.
func (r *replica) begin() {
	r.poll()
	if len(r.batches) == 1 {
		r.fill()
		return
	}
	for r.choose() {
		empty := r.decode.n == 0
		if !r.fill() && empty && !r.evicted {
			return // nor would another have anything to do
		}
	}
}

// fill fills the batch and starts its step; it reports whether there is one.
func (r *replica) fill() bool {
	r.chunks = r.chunks[:0]
	r.evicted, r.hold, r.loads = false, false, 0
	decodes := false
	switch r.engine.Policy {
	case PrefillFirst:
		decodes = r.prefillFirst()
	case InFlight:
		decodes = r.inFlight()
	default:
		decodes = r.decodeFirst()
	}
	r.fullness()
	p := plan{start: r.sim.now, steps: 1}
	if decodes {
		p.decodes, p.context = r.decode.n, r.contextRead()
	}
	p.run = len(r.chunks) == 0
	if p.run && p.decodes == 0 {
		return false
	}
	r.shape = r.batch(&p)
	switch {
	case len(r.batches) > 1:
		r.launch(&p)
	case p.run:
		p.steps = r.runLength()
		p.end = p.start + r.sim.checkTime(r.stepper.Decode(p.decodes, p.context, r.growth(p.decodes), int(p.steps)), &p)
	default:
		took := max(r.loads, r.sim.checkTime(r.mixed(&p), &p))
		p.end = p.start + took
		r.meterStep(&p, took)
	}
	r.version++
	p.version = r.version
	r.busy = true
	r.batchesInFlight++
	r.plan = p
	r.sim.events.step(p.end, r.place, p.version)
	return true
}

// fullness notes how full a step is, and whether it could have been fuller.
func (r *replica) fullness() {
	tokens := 0
	for i := range r.chunks {
		tokens += r.chunks[i].tokens
	}
	if r.engine.Policy != PrefillFirst {
		tokens += r.decode.n * r.engine.VerifiedPerStep
	}
	r.fullest = max(r.fullest, tokens)
	r.limited = r.limited || r.evicted || r.hold || r.partial != nil || r.waiting.n > 0 && (r.engine.PrefillAhead || r.room() > 0)
}

// contextRead is the context of the requests that generate, as attention reads it: of what several share, the first reads all and the
// others as much as reading it again takes. Prompts that are being computed count as readers.
func (r *replica) contextRead() float64 {
	context := r.decode.context()
	if r.engine.CachedReadRatio == 1 {
		return context
	}
	again := float64((r.cache.prefix.shares - r.cache.prefix.live) * r.cache.prefix.tokens)
	return context - (1-r.engine.CachedReadRatio)*min(again, context*(1-1/float64(r.decode.n)))
}

// meterStep has the meter see a step with prefill: unlike a run it is never cut short.
func (r *replica) meterStep(p *plan, took units.Seconds) {
	if r.meter != nil && !p.run {
		r.meter.Step(r.shape, took)
	}
}

// poll moves what came in to where the scheduler sees it. A step that was filled ahead has
// what was noticed when the step before it began.
func (r *replica) poll() {
	idle := r.running.n == 0 && r.waiting.n == 0
	now := !r.engine.Overlapped || idle || r.fresh && r.plan.steps == 1
	r.fresh = idle
	if now {
		r.receive()
	}
	r.receiveLate()
	for ; r.visible > 0; r.visible-- {
		r.waiting.push(r.incoming.pop())
	}
	if !now {
		r.receive()
	}
}

// receive has the scheduler receive what came in, if it is time to.
func (r *replica) receive() {
	if r.incoming.n == 0 || r.since != 0 && r.running.n > 0 {
		return
	}
	r.since = 0
	r.visible = r.incoming.n
}

// growth is how much the context of n requests grows per step.
func (r *replica) growth(n int) float64 { return float64(n) * r.decode.perStep }

// priced are steps with prefill that a pool took lately, by their prompts: where
// prompts are equal and nothing generates, there are few different ones.
type priced [8]struct {
	batch  Batch
	took   units.Seconds
	launch Launch
}

// mixed is the time of a step with prefill.
func (r *replica) mixed(p *plan) units.Seconds {
	b := r.shape
	known := &r.priced[b.PrefillRequests%len(r.priced)]
	if b != known.batch {
		known.batch = b
		if r.launcher != nil {
			known.took, known.launch = r.launcher.Launch(b)
		} else {
			known.took = r.stepper.Step(b)
		}
	}
	if r.launcher == nil {
		return known.took
	}
	return r.timeBehind(p, known.took, &known.launch)
}

// batch is the shape of a step.
func (r *replica) batch(p *plan) Batch {
	b := Batch{
		PrefillRequests: len(r.chunks), Decode: p.decodes, DecodeContext: p.context, Sampled: p.decodes,
	}
	for _, c := range r.chunks {
		b.PrefillTokens += c.tokens
		b.PrefillContext += c.from
		b.PrefillPairs += float64(c.tokens) * (float64(c.from) + float64(c.tokens+1)/2)
		if c.from+c.tokens == c.q.prefillTokens {
			b.Sampled++
		}
	}
	return b
}

// complete ends the step or run: tokens are handed out, requests end, pieces of
// prompts are in the cache.
func (r *replica) complete() {
	p := &r.plan
	took := p.end - max(p.start, r.usage.until)
	before := r.cache.held()
	r.busy = false
	r.batchesInFlight--
	if r.reserved > 0 {
		r.reserve(r.microBatch, 0)
	}
	if r.shape.Decode > 0 {
		r.gaps.steps(p)
		gained := r.decode.clockAfter(p.steps) - r.decode.clock
		r.cache.take(r.decode.growth(gained))
		r.decode.clock += gained
		r.decode.steps += p.steps
	}
	held := r.cache.held()
	r.usage.busy += took
	r.usage.until = p.end
	r.usage.steps += p.steps
	r.usage.blockTime += float64(before+held) / 2 * float64(took)
	r.usage.peak = max(r.usage.peak, held)
	if p.run {
		if r.meter != nil {
			r.meter.Decode(r.shape.Decode, p.context, r.growth(r.shape.Decode), int(p.steps), took)
		}
		r.since = int((int64(r.since) + p.steps) % int64(r.engine.ReceiveInterval))
		r.count(p.steps)
	} else {
		r.since = 0 // engines look after every step with prefill
		r.usage.prefillSteps++
	}
	r.tokensOut = r.tokensOut[:0]
	for r.decode.n > 0 {
		q := r.decode.next()
		if q.finish > r.decode.clock {
			break
		}
		r.decode.leave(q)
		r.end(q)
	}
	for _, c := range r.chunks {
		r.advance(c)
	}
	r.wake()
}

// advance puts a piece of a prompt into the cache; the last piece brings a
// token.
func (r *replica) advance(c chunk) {
	q := c.q
	if q.epoch != c.epoch {
		return
	}
	r.cache.give(r.cache.prefix.learn(q))
	if c.from+c.tokens < q.prefillTokens {
		return
	}
	r.inFlightChunkTokens -= q.prefillTokens
	q.generated++
	if q.generated == 1 {
		q.first, q.firstBatch = r.sim.now, int32(r.shape.Sampled)
		r.noteToken(q)
		r.pendingPromptTokens -= int(q.pendingPrompt)
	} else {
		r.gaps.add(r.sim.now-q.lastToken, 1)
	}
	switch {
	case q.generated >= q.output:
		r.end(q)
	case r.decodes:
		r.join(q, r.sim.now)
	default:
		r.running.remove(q)
		r.sim.send(q, r)
	}
}

// join lets a request generate from the next step on; it got its last token at
// the time given.
func (r *replica) join(q *request, last units.Seconds) {
	q.lastToken = last
	if r.decodeFull() {
		r.waitForDecode(q)
		return
	}
	r.generate(q, last)
}

// generate has a request generate in the batch.
func (r *replica) generate(q *request, last units.Seconds) {
	q.batch = r.number
	r.decode.join(q)
	r.gaps.join(q, last)
}

// end ends a request that has all its tokens.
func (r *replica) end(q *request) {
	r.holdBack(q)
	if r.cache.prefix.answers {
		r.cache.give(r.cache.prefix.learn(q))
	}
	r.running.remove(q)
	r.release(q)
	r.load--
	r.sim.finish(q)
	r.noteToken(q)
}

// holdBack delays the first token that a client sees by the tokens held back; they
// come at the request's own pace.
func (r *replica) holdBack(q *request) {
	if r.heldTokens == 0 || q.output < 2 {
		return
	}
	share := float64(min(r.heldTokens, q.output-1)) / float64(q.output-1)
	q.first += (r.sim.now - q.first) * units.Seconds(share)
}

// release gives back the blocks of a request.
func (r *replica) release(q *request) {
	r.cache.give(r.holds(q) - q.shared*r.cache.prefix.span)
	r.cache.prefix.drop(q)
}

// holds is how many blocks a request has, shared ones included.
func (r *replica) holds(q *request) int {
	if r.engine.Policy == InFlight {
		return r.cache.blocks(r.reservedTokens(q))
	}
	return r.cache.blocks(q.context)
}

// reservedTokens is for how many tokens InFlight keeps blocks: prompt and answer, or the
// prompt alone where the answer is generated elsewhere.
func (r *replica) reservedTokens(q *request) int {
	if r.decodes {
		return q.input + q.output + r.tokensPerStep - 1
	}
	return q.input
}
