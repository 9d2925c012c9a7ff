package sim

// catalog numbers the contents of the prompts of sessions, which come without
// end: a number is used again once no session and no cache has the content. All
// methods are for a nil catalog too, of contents that a trace has numbered.
type catalog struct {
	users []int32 // sessions and caches with the content
	free  []uint32
}

// add numbers a content that one session has.
func (c *catalog) add() uint32 {
	if n := len(c.free); n > 0 {
		id := c.free[n-1]
		c.free = c.free[:n-1]
		c.users[id] = 1
		return id
	}
	c.users = append(c.users, 1)
	return uint32(len(c.users) - 1)
}

// size is how many numbers there are, those that are free too.
func (c *catalog) size() int { return len(c.users) }

func (c *catalog) hold(id uint32) {
	if c != nil {
		c.users[id]++
	}
}

func (c *catalog) drop(id uint32) {
	if c == nil {
		return
	}
	if c.users[id]--; c.users[id] == 0 {
		c.free = append(c.free, id)
	}
}
