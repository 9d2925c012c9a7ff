package sim

// fit is what admitting a request would take.
type fit struct {
	entries int // remembered beginning of its prompt
	done    int // tokens that are in the cache: of these, and of what it left there when it was preempted
	hosted  int // of these, in the host tier
	tokens  int // to compute in this step
	needs   int // blocks that must be available for it to be admitted
	takes   int // blocks it takes now
}

// admission works out how a waiting request would be admitted with so many tokens
// left in the budget.
func (r *replica) admission(q *request, budget int) fit {
	c := &r.cache
	if q.transferred { // its cache came with it; it can generate at once
		f := fit{takes: c.blocks(q.context), needs: c.blocks(q.context + r.tokensPerStep)}
		if r.engine.Policy == InFlight {
			f.takes = c.blocks(r.reservedTokens(q))
			f.needs = f.takes
		}
		return f
	}
	entries, idle, hosted := c.prefix.match(q)
	done := max(entries*c.prefix.tokens, r.reusableTokens(q, entries))
	f := fit{entries: entries, hosted: hosted, done: done, tokens: min(q.prefillTokens-done, budget)}
	shared := (entries - hosted) * c.prefix.span
	whole := q.prefillTokens
	if r.engine.Policy == InFlight {
		if f.tokens = q.prefillTokens - done; r.engine.Chunked {
			f.tokens = max(0, min(f.tokens, budget))
		}
		whole = r.reservedTokens(q)
		f.takes = c.blocks(whole) - shared
	} else {
		f.takes = c.blocks(done+f.tokens) - shared
		if r.engine.Policy == DecodeFirst && !r.engine.ReservePrompt {
			whole = done + f.tokens
		}
	}
	// Entries that were idle can no longer be evicted.
	f.needs = c.blocks(whole) - shared + idle*c.prefix.span
	return f
}

// admit takes the first request in line into the running ones.
func (r *replica) admit(f fit) {
	q := r.waiting.pop()
	r.running.push(q)
	if q.transferred {
		q.transferred = false
		r.cache.take(f.takes)
		q.first, q.firstBatch = r.sim.now, int32(r.decode.n+1)
		r.join(q, q.first)
		return
	}
	q.state = prefilling
	r.cache.prefix.hold(q, f.entries)
	if q.preempted > 0 {
		r.cache.reclaim(q, f.done > f.entries*r.cache.prefix.tokens)
	}
	r.cache.take(f.takes)
	q.context = f.done
	if q.generated == 0 {
		q.cached, q.hosted = int32(q.context), int32(f.hosted*r.cache.prefix.tokens)
	}
	if f.hosted > 0 {
		r.fetch(q, f.hosted*r.cache.prefix.tokens)
	}
	r.compute(q, f.tokens)
}

// compute puts the next tokens of a prompt into the batch. In a pipeline the piece behind
// them may be in the batch after it.
func (r *replica) compute(q *request, tokens int) {
	r.chunks = append(r.chunks, chunk{q: q, from: q.context, tokens: tokens, epoch: q.epoch})
	q.context += tokens
	if q.context < q.prefillTokens {
		r.partial = q
		return
	}
	if r.partial == q {
		r.partial = nil
	}
	r.inFlightChunkTokens += q.prefillTokens
}

// room is how many more requests may be admitted to the batch.
func (r *replica) room() int {
	return min(r.engine.MaxSequences-r.running.n, r.engine.BatchSequences-r.decode.n-len(r.chunks))
}

// vacant reports whether nothing holds blocks here.
func (r *replica) vacant() bool { return r.running.n == 0 && r.sending == 0 }

// spareBlocks is how many blocks a prompt may take beside the next step of
// generation; below zero, that step itself lacks blocks.
func (r *replica) spareBlocks() int {
	spare := r.cache.available() - r.reservedBlocks - r.blocksOwedToPrompt()
	if r.decode.n == 0 {
		return spare
	}
	return spare - r.decode.grows()
}

// blocksOwedToPrompt is the blocks that the prompt under way takes later on and that were there for it
// when it was admitted.
func (r *replica) blocksOwedToPrompt() int {
	if r.partial == nil || r.engine.Policy != PrefillFirst {
		return 0
	}
	return r.more(r.partial, r.partial.prefillTokens-r.partial.context)
}

// makeRoom preempts until the next step of generation has its blocks. One
// request alone always fits.
func (r *replica) makeRoom() {
	for r.spareBlocks() < 0 {
		r.preempt()
	}
}

// preempt sends the request admitted last back to the front of the queue. What
// it had is computed again later, but for what a prefix cache still has of it
// then; what is in flight of it is lost.
func (r *replica) preempt() {
	q := r.running.last()
	switch q.state {
	case prefilling:
		r.cancelPrompt(q)
	case ready:
		r.leaveDecodeQueue(q)
	default:
		r.batches[q.batch].leave(q, r)
	}
	r.running.remove(q)
	r.releasePreempted(q)
	q.state = queued
	q.context = 0
	q.prefillTokens = q.input + q.generated
	q.preempted++
	r.usage.preemptions++
	r.evicted = true
	r.waiting.pushFront(q)
}

// releasePreempted returns the blocks of a preempted request. With a prefix cache full blocks keep
// their contents until they are taken, the last first: vLLM frees them in that order to the
// end of its queue of free blocks and finds them by their hashes (v1/core/kv_cache_manager.py, free, and
// single_type_kv_cache_manager.py); SGLang keeps the prompt in its tree, and what was generated is lost
// (managers/schedule_batch.py, release_req).
func (r *replica) releasePreempted(q *request) {
	shared := int32(q.shared)
	blocks := r.holds(q) - q.shared*r.cache.prefix.span
	r.cache.prefix.drop(q)
	full := 0
	if r.engine.PrefixCache {
		known := q.context
		if r.engine.Policy == PrefillFirst {
			known = min(known, q.input)
		}
		full = max(0, known/r.cache.tokens-int(shared)*r.cache.prefix.span)
	}
	r.cache.give(blocks - full)
	if full > 0 {
		q.sharedBefore = shared
		r.cache.giveReusable(q, full)
	}
}

// reusableTokens is how many tokens of a preempted request are still in the cache, with the entries that are remembered. One
// token at least is left to compute.
func (r *replica) reusableTokens(q *request, entries int) int {
	if q.preempted == 0 || entries < int(q.sharedBefore) {
		return 0
	}
	c := &r.cache
	left := c.reusable(q)
	if left == 0 {
		return 0
	}
	blocks := min(int(q.sharedBefore)*c.prefix.span+left, (q.prefillTokens-1)/c.tokens)
	return blocks * c.tokens
}
