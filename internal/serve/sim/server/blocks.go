package server

// blockStore is the KV store of paged engines: blocks of equal size, and a prefix cache of entries of some blocks each.
// Free blocks are taken in the order in which they became free, so that what a preempted request had stays there for a
// while.
type blockStore struct {
	total, free int
	block       blockSize
	prefix      prefix
	order       []freed // the free blocks in that order; empty while nobody's are among them
	// findable says that full blocks of a preempted request keep their contents until they are taken; with promptOnly those of
	// its prompt. vLLM frees them in that order to the end of its queue of free blocks and finds them by their hashes
	// (v1/core/kv_cache_manager.py, free, and single_type_kv_cache_manager.py); SGLang keeps the prompt in its tree, and what was
	// generated is lost (managers/schedule_batch.py, release_req).
	findable, promptOnly bool
}

// freed is free blocks that still have what a preempted request computed, or nobody's.
type freed struct {
	owner *Request
	n     int
}

func newBlockStore(e *Engine) blockStore {
	return blockStore{
		total: e.Blocks, free: e.Blocks, block: newBlockSize(e.BlockTokens),
		findable: e.PrefixCache, promptOnly: e.Policy == PrefillFirst,
	}
}

// Blocks implements [KVStore].
func (c *blockStore) Blocks(tokens int) int { return c.block.blocks(tokens) }

// Total implements [KVStore].
func (c *blockStore) Total() int { return c.total }

// Available implements [KVStore].
func (c *blockStore) Available() int { return c.free + c.Kept() }

// Held implements [KVStore].
func (c *blockStore) Held() int { return c.total - c.Available() }

// Kept implements [KVStore].
func (c *blockStore) Kept() int { return c.prefix.idle.n * c.prefix.span }

// Take implements [KVStore]. The oldest prefixes are evicted first.
func (c *blockStore) Take(n int) {
	for c.free < n {
		evicted := c.prefix.evict((n - c.free + c.prefix.span - 1) / max(1, c.prefix.span))
		if evicted == 0 {
			panic("sim: more blocks taken than there are")
		}
		c.give(evicted * c.prefix.span)
	}
	c.free -= n
	if len(c.order) > 0 {
		c.takeInOrder(n)
	}
}

// takeInOrder takes the blocks that became free first.
func (c *blockStore) takeInOrder(n int) {
	for len(c.order) > 0 && n > 0 {
		first := &c.order[0]
		some := min(n, first.n)
		first.n -= some
		n -= some
		if first.n == 0 {
			c.order = c.order[1:]
		}
	}
	c.forget()
}

// give returns blocks that are not shared.
func (c *blockStore) give(n int) {
	c.free += n
	if len(c.order) > 0 && n > 0 {
		c.order = append(c.order, freed{n: n})
	}
}

// Find implements [KVStore].
func (c *blockStore) Find(q *Request) found {
	if c.prefix.tokens == 0 && q.Preempted == 0 {
		return found{}
	}
	entries, idle, hosted := c.prefix.match(q.ID, q.prefillTokens-1)
	return found{
		tokens:  max(entries*c.prefix.tokens, c.reusableTokens(q, entries)),
		entries: entries, hosted: hosted * c.prefix.tokens,
		shared: (entries - hosted) * c.prefix.span, idle: idle * c.prefix.span,
	}
}

// Admit implements [KVStore].
func (c *blockStore) Admit(q *Request, f found, blocks int) {
	c.prefix.hold(q.ID, f.entries)
	q.shared = f.entries
	if q.Preempted > 0 {
		c.reclaim(q, f.tokens > f.entries*c.prefix.tokens)
	}
	c.Take(blocks)
}

// Learn implements [KVStore]. Where others computed the same meanwhile, blocks become free.
func (c *blockStore) Learn(q *Request) {
	computed := q.context
	if !c.prefix.answers {
		computed = min(computed, q.Input)
	}
	var duplicates int
	q.shared, duplicates = c.prefix.learn(q.ID, q.shared, computed)
	c.give(duplicates)
}

// Release implements [KVStore].
func (c *blockStore) Release(q *Request, blocks int) {
	c.give(blocks - q.shared*c.prefix.span)
	c.drop(q)
}

// drop ends the use of what is shared.
func (c *blockStore) drop(q *Request) {
	c.prefix.drop(q.ID, q.shared)
	q.shared = 0
}

// Preempt implements [KVStore].
func (c *blockStore) Preempt(q *Request, blocks int) {
	shared := q.shared
	blocks -= shared * c.prefix.span
	c.drop(q)
	full := 0
	if c.findable {
		known := q.context
		if c.promptOnly {
			known = min(known, q.Input)
		}
		full = max(0, known/c.block.tokens-shared*c.prefix.span)
	}
	c.give(blocks - full)
	if full > 0 {
		q.sharedBefore = int32(shared)
		c.giveReusable(q, full)
	}
}

// reusableTokens is how many tokens of a preempted request are still here, with the entries that are remembered. One
// token at least is left to compute.
func (c *blockStore) reusableTokens(q *Request, entries int) int {
	if q.Preempted == 0 || entries < int(q.sharedBefore) {
		return 0
	}
	left := c.reusable(q)
	if left == 0 {
		return 0
	}
	blocks := min(int(q.sharedBefore)*c.prefix.span+left, (q.prefillTokens-1)/c.block.tokens)
	return blocks * c.block.tokens
}

// giveReusable returns the blocks of a request that will want them again.
func (c *blockStore) giveReusable(q *Request, n int) {
	if len(c.order) == 0 && c.free > 0 {
		c.order = append(c.order, freed{n: c.free})
	}
	c.free += n
	c.order = append(c.order, freed{q, n})
}

// reusable is how many of the blocks that a request left nobody has taken.
func (c *blockStore) reusable(q *Request) int {
	for i := range c.order {
		if c.order[i].owner == q {
			return c.order[i].n
		}
	}
	return 0
}

// reclaim has the blocks that a request left taken next, by that request, or gives them up.
func (c *blockStore) reclaim(q *Request, wanted bool) {
	for i := range c.order {
		if f := c.order[i]; f.owner == q {
			f.owner = nil
			if wanted {
				copy(c.order[1:i+1], c.order[:i])
				i = 0
			}
			c.order[i] = f
			break
		}
	}
	c.forget()
}

// forget drops the order of blocks once all of them are nobody's.
func (c *blockStore) forget() {
	for i := range c.order {
		if c.order[i].owner != nil {
			return
		}
	}
	c.order = c.order[:0]
}

// SharedTokens implements [KVStore].
func (c *blockStore) SharedTokens() int { return (c.prefix.shares - c.prefix.live) * c.prefix.tokens }

// Remembers implements [KVStore].
func (c *blockStore) Remembers() bool { return c.prefix.tokens > 0 }

// Evicted implements [KVStore].
func (c *blockStore) Evicted() int64 { return c.prefix.evicted }

// Restart implements [KVStore].
func (c *blockStore) Restart() { c.prefix.evicted = 0 }
