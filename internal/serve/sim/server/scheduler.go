package server

import "github.com/plimsoll-project/plimsoll/internal/basic/units"

// scheduler is the queue of a replica, the requests it runs, and its KV store. Its rules are two parts that can be replaced: who is
// admitted ([Admission]) and how a step is filled ([BatchFormation]).
type scheduler struct {
	engine    *Engine
	clock     *Clock
	kv        KVStore
	admission Admission
	formation BatchFormation

	decodes       bool // false in a prefill pool: requests leave after their prompt
	tokensPerStep int  // the most a request can gain in one step

	waiting     queue
	running     running
	decodeQueue decodeQueue
	partial     *Request // the prompt that was cut off; always the last of running
	batches

	inFlightChunkTokens int // of prompts whose last chunk is in flight
	reservedBlocks      int // that batches in flight take when their steps end
	sending             int // requests whose cache is on its way to a decode replica
	sendingTokens       int // and their tokens

	wait        promptWait
	evicted     bool // a request was preempted when this step was filled
	preemptions int
}

// fill fills the batch and reports whether the requests that generate take part in its step.
func (s *scheduler) fill() (decodes bool) {
	s.chunks = s.chunks[:0]
	s.evicted, s.hold = false, false
	return s.formation.Form(s)
}

// idle reports whether no request waits or runs.
func (s *scheduler) idle() bool { return s.running.n == 0 && s.waiting.n == 0 }

// vacant reports whether nothing holds blocks here.
func (s *scheduler) vacant() bool { return s.running.n == 0 && s.sending == 0 }

// room is how many more requests may be admitted to the batch.
func (s *scheduler) room() int {
	return min(s.engine.MaxSequences-s.running.n, s.engine.BatchSequences-s.decode.n-len(s.chunks))
}

// cut reports whether this step could have been fuller with another budget, cache or order: a request was preempted or held back, a
// prompt was cut, or one waits that there is a place for.
func (s *scheduler) cut() bool {
	return s.evicted || s.hold || s.partial != nil || s.waiting.n > 0 && (s.engine.PrefillAhead || s.room() > 0)
}

// spareBlocks is how many blocks a prompt may take beside the next step of
// generation; below zero, that step itself lacks blocks.
func (s *scheduler) spareBlocks() int {
	spare := s.kv.Available() - s.reservedBlocks
	if s.partial != nil {
		spare -= s.admission.Owed(s)
	}
	if s.decode.n == 0 {
		return spare
	}
	return spare - s.decode.nextBlocks()
}

// more is how many blocks a prompt takes for its next tokens.
func (s *scheduler) more(q *Request, tokens int) int {
	return s.kv.Blocks(q.context+tokens) - s.kv.Blocks(q.context)
}

// mostTokens is the most tokens of a request that are cached here: prompt and answer, or the
// prompt alone where the answer is generated elsewhere.
func (s *scheduler) mostTokens(q *Request) int {
	if s.decodes {
		return q.Input + q.Output + s.tokensPerStep - 1
	}
	return q.Input
}

// toGenerate is how many tokens of a request not yet generating will be
// generated here.
func (s *scheduler) toGenerate(q *Request) int {
	if !s.decodes {
		return 0
	}
	return q.Output - q.generated
}

// admit takes the first request in line into the running ones.
func (s *scheduler) admit(f *fit) {
	q := s.waiting.pop()
	s.running.push(q)
	if q.transferred {
		q.transferred = false
		s.kv.Take(f.takes)
		q.First, q.FirstBatch = s.clock.Now, int32(s.decode.n+1)
		s.join(q, q.First)
		return
	}
	q.State = prefilling
	s.kv.Admit(q, f.found, f.takes)
	q.context = f.tokens
	if q.generated == 0 {
		q.Cached, q.Hosted = int32(q.context), int32(f.hosted)
	}
	s.compute(q, f.compute, f.hosted)
}

// compute puts the next tokens of a prompt into the batch, which loads so many of those before them from the host tier. In a
// pipeline the chunk behind them may be in the batch after it.
func (s *scheduler) compute(q *Request, tokens, hosted int) {
	s.chunks = append(s.chunks, chunk{q: q, from: q.context, tokens: tokens, hosted: hosted, epoch: q.epoch})
	q.context += tokens
	if q.context < q.prefillTokens {
		s.partial = q
		return
	}
	if s.partial == q {
		s.partial = nil
	}
	s.inFlightChunkTokens += q.prefillTokens
}

// join lets a request generate from the next step on, or wait for its turn; it got its last token at
// the time given.
func (s *scheduler) join(q *Request, last units.Seconds) {
	q.lastToken = last
	if s.engine.PrefillAhead && (s.decode.n >= s.engine.BatchSequences || s.decodeQueue.n > 0) {
		q.State = ready
		s.decodeQueue.add(q)
		return
	}
	s.generate(q)
}

// generate has a request generate in the batch.
func (s *scheduler) generate(q *Request) {
	q.batch = s.number
	s.decode.join(q)
	s.gaps.join(q, q.lastToken)
}

// resumeDecode lets as many of those that wait for their turn generate as may.
func (s *scheduler) resumeDecode() {
	for s.decodeQueue.n > 0 && s.decode.n < s.engine.BatchSequences {
		s.generate(s.decodeQueue.next())
	}
}

// makeRoom preempts until the next step of generation has its blocks. One
// request alone always fits.
func (s *scheduler) makeRoom() {
	for s.spareBlocks() < 0 {
		s.preempt()
	}
}

// preempt sends the request admitted last back to the front of the queue. What
// it had is computed again later, but for what the KV store still has of it
// then; what is in flight of it is lost.
func (s *scheduler) preempt() {
	q := s.running.last()
	switch q.State {
	case prefilling:
		s.cancelPrompt(q)
	case ready:
		s.decodeQueue.cancel(q)
	default:
		s.cancelDecode(q)
	}
	s.running.remove(q)
	s.kv.Preempt(q, s.admission.Holds(s, q))
	q.State = queued
	q.context = 0
	q.prefillTokens = q.Input + q.generated
	q.Preempted++
	s.preemptions++
	s.evicted = true
	s.waiting.pushFront(q)
}

// cancelPrompt ends the computing of a prompt that is preempted.
func (s *scheduler) cancelPrompt(q *Request) {
	q.epoch++
	if s.partial == q {
		s.partial = nil
	} else {
		s.inFlightChunkTokens -= q.prefillTokens
	}
}

// cancelDecode ends the generation of a request that is preempted. Its token in flight, if there is one, is lost.
func (s *scheduler) cancelDecode(q *Request) {
	m := &s.all[q.batch]
	if !m.gaps.pending(q) {
		q.lastToken = m.gaps.last
	}
	m.decode.leave(q)
	if m.busy {
		m.plan.decodes--
		s.reserve(m, m.decode.nextBlocks())
	}
}

// reserve keeps blocks for the step of a batch in flight.
func (s *scheduler) reserve(m *microBatch, blocks int) {
	s.reservedBlocks += blocks - m.reserved
	m.reserved = blocks
}

// release gives back the blocks of a request.
func (s *scheduler) release(q *Request) { s.kv.Release(q, s.admission.Holds(s, q)) }

// contextRead is the context of the requests that generate, as attention reads it: of what several share, the first reads all and the
// others as much as reading it again takes. Prompts that are being computed count as readers.
func (s *scheduler) contextRead() float64 {
	context := s.decode.context()
	if s.engine.CachedReadRatio == 1 {
		return context
	}
	again := float64(s.kv.SharedTokens())
	return context - (1-s.engine.CachedReadRatio)*min(again, context*(1-1/float64(s.decode.n)))
}
