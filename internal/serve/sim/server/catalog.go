package server

// Catalog numbers the contents of the prompts of sessions, which come without
// end: a number is used again once no session and no cache has the content. All
// methods are for a nil catalog too, of contents that a trace has numbered.
type Catalog struct {
	users []int32 // sessions and caches with the content
	free  []uint32
}

// Add numbers a content that one session has.
func (c *Catalog) Add() uint32 {
	if n := len(c.free); n > 0 {
		id := c.free[n-1]
		c.free = c.free[:n-1]
		c.users[id] = 1
		return id
	}
	c.users = append(c.users, 1)
	return uint32(len(c.users) - 1)
}

// Size is how many numbers there are, those that are free too.
func (c *Catalog) Size() int { return len(c.users) }

// Hold counts a further user of a content.
func (c *Catalog) Hold(id uint32) {
	if c != nil {
		c.users[id]++
	}
}

// Drop ends a use. A number is free when nobody uses its content.
func (c *Catalog) Drop(id uint32) {
	if c == nil {
		return
	}
	if c.users[id]--; c.users[id] == 0 {
		c.free = append(c.free, id)
	}
}
