package sim

// cache is the KV space of one replica. Blocks are held by requests, or kept
// in the prefix cache for prompts to come, or free:
//
//	total = held + prefix.idle.n·prefix.span + free
//
// Free blocks are taken in the order in which they became free, so that what a
// preempted request had stays there for a while.
type cache struct {
	total, free int
	tokens      int // in a block
	prefix      prefix
	order       []freed // the free blocks in that order; empty while nobody's are among them
}

// freed is free blocks that still have what a preempted request computed, or nobody's.
type freed struct {
	owner *request
	n     int
}

// blocks is how many blocks hold so many tokens.
func (c *cache) blocks(tokens int) int { return (tokens + c.tokens - 1) / c.tokens }

// available is what can be taken: what is free, and what may be evicted.
func (c *cache) available() int { return c.free + c.prefix.idle.n*c.prefix.span }

// held is what requests hold.
func (c *cache) held() int { return c.total - c.available() }

// take takes blocks, evicting the oldest prefixes if it must. Schedulers ask
// what is available first.
func (c *cache) take(n int) {
	for c.free < n {
		evicted := c.prefix.evict((n - c.free + c.prefix.span - 1) / max(1, c.prefix.span))
		if evicted == 0 {
			panic("sim: more blocks taken than there are")
		}
		c.give(evicted * c.prefix.span)
	}
	c.free -= n
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
func (c *cache) give(n int) {
	c.free += n
	if len(c.order) > 0 && n > 0 {
		c.order = append(c.order, freed{n: n})
	}
}

// giveReusable returns the blocks of a request that will want them again.
func (c *cache) giveReusable(q *request, n int) {
	if len(c.order) == 0 && c.free > 0 {
		c.order = append(c.order, freed{n: c.free})
	}
	c.free += n
	c.order = append(c.order, freed{q, n})
}

// reusable is how many of the blocks that a request left nobody has taken.
func (c *cache) reusable(q *request) int {
	for i := range c.order {
		if c.order[i].owner == q {
			return c.order[i].n
		}
	}
	return 0
}

// reclaim has the blocks that a request left taken next, by that request, or gives them up.
func (c *cache) reclaim(q *request, wanted bool) {
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
func (c *cache) forget() {
	for i := range c.order {
		if c.order[i].owner != nil {
			return
		}
	}
	c.order = c.order[:0]
}
