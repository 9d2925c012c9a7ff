package operation

import "container/list"

// cache keeps answers up to a number of bytes; the least recently used go first.
type cache struct {
	most, held int
	byUse      *list.List // of answer, the latest first
	at         map[key]*list.Element
}

type answer struct {
	key  key
	data []byte
}

// overhead is about what an answer takes beside its bytes.
const overhead = 256

func newCache(most int) *cache {
	return &cache{most: most, byUse: list.New(), at: map[key]*list.Element{}}
}

func (c *cache) get(k key) ([]byte, bool) {
	e, ok := c.at[k]
	if !ok {
		return nil, false
	}
	c.byUse.MoveToFront(e)
	return e.Value.(answer).data, true
}

func (c *cache) put(k key, data []byte) {
	if _, ok := c.at[k]; ok || len(data)+overhead > c.most {
		return
	}
	c.at[k] = c.byUse.PushFront(answer{k, data})
	c.held += len(data) + overhead
	for c.held > c.most {
		last := c.byUse.Back()
		old := last.Value.(answer)
		c.byUse.Remove(last)
		delete(c.at, old.key)
		c.held -= len(old.data) + overhead
	}
}
