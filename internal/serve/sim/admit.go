package sim

// fit is what admitting a request would take.
type fit struct {
	entries int // remembered beginning of its prompt
	tokens  int // to compute in this step
	needs   int // blocks that must be available for it to be admitted
	takes   int // blocks it takes now
}

// fits works out how a waiting request would be admitted with so many tokens
// left in the budget.
func (r *replica) fits(q *request, budget int) fit {
	c := &r.cache
	if q.carried { // its cache came with it; it can generate at once
		f := fit{takes: c.blocks(q.context), needs: c.blocks(q.context + r.burst)}
		if r.engine.Policy == InFlight {
			f.takes = c.blocks(r.kept(q))
			f.needs = f.takes
		}
		return f
	}
	entries, idle := c.prefix.match(q)
	done := entries * c.prefix.tokens
	f := fit{entries: entries, tokens: min(q.need-done, budget)}
	shared := entries * c.prefix.span
	whole := q.need
	if r.engine.Policy == InFlight {
		f.tokens = q.need - done
		whole = r.kept(q)
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
	if q.carried {
		q.carried = false
		r.cache.take(f.takes)
		q.first = r.sim.now
		r.join(q, q.first)
		return
	}
	q.state = prefilling
	r.cache.prefix.hold(q, f.entries)
	r.cache.take(f.takes)
	q.context = f.entries * r.cache.prefix.tokens
	if q.generated == 0 {
		q.cached = int32(q.context)
	}
	r.chunks = append(r.chunks, chunk{q, f.tokens})
}

// vacant reports whether nothing holds blocks here.
func (r *replica) vacant() bool { return r.running.n == 0 && r.sending == 0 }

// spare is how many blocks a prompt may take beside the next step of
// generation; below zero, that step itself lacks blocks.
func (r *replica) spare() int {
	if r.decode.n == 0 {
		return r.cache.available()
	}
	return r.cache.available() - r.decode.growth(r.decode.clockAfter(1)-r.decode.clock)
}

// makeRoom preempts until the next step of generation has its blocks. One
// request alone always fits.
func (r *replica) makeRoom() {
	for r.spare() < 0 {
		r.preempt()
	}
}

// preempt sends the request admitted last back to the front of the queue. All
// it had is computed again later.
func (r *replica) preempt() {
	q := r.running.last()
	switch {
	case q == r.partial:
		r.partial = nil
	case q.state != decoding:
		r.sendBack(q)
	default:
		r.decode.leave(q)
		q.last = max(q.last, r.gaps.last)
	}
	r.running.remove(q)
	r.release(q)
	q.state = queued
	q.context = 0
	q.need = q.input + q.generated
	q.preempted++
	r.usage.preemptions++
	r.evicted = true
	r.waiting.pushFront(q)
}
