package sim

// cache is the KV space of one replica. Blocks are held by requests, or kept
// in the prefix cache for prompts to come, or free:
//
//	total = held + prefix.idle.n·prefix.span + free
type cache struct {
	total, free int
	tokens      int // in a block
	prefix      prefix
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
		if !c.prefix.evict() {
			panic("sim: more blocks taken than there are")
		}
		c.free += c.prefix.span
	}
	c.free -= n
}

// give returns blocks that are not shared.
func (c *cache) give(n int) { c.free += n }
