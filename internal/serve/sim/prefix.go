package sim

// prefix is the prompts a replica remembers: an entry per block of content,
// found by its number, which stands for the block and all before it. An entry
// that no request uses is idle; idle entries are evicted, least recently used
// first, when blocks are short, and go to the host tier if there is one.
type prefix struct {
	tokens  int // in an entry; 0 when nothing is shared
	span    int // blocks in an entry
	refs    []int32
	idle    recency
	host    host
	live    int
	shares  int        // Σ entries held by requests, each request counted
	answers bool       // contents go on where prompts end: answers are remembered too
	known   *catalog   // of the contents, where numbers are used again
	all     [][]uint32 // contents, by the identity of the request
	evicted int64      // blocks
}

const absent = -1

func newPrefix(contents [][]uint32, kinds, tokens, span int) prefix {
	p := prefix{tokens: tokens, span: span, all: contents}
	p.reach(int32(kinds))
	return p
}

// reach makes room for an index.
func (p *prefix) reach(i int32) {
	for int(i) >= len(p.refs) {
		p.refs = append(p.refs, absent)
	}
	p.idle.reach(i)
}

// uses is the number of requests that use an entry, or absent.
func (p *prefix) uses(i int32) int32 {
	if int(i) >= len(p.refs) {
		return absent
	}
	return p.refs[i]
}

// warm remembers content that no request has computed.
func (p *prefix) warm(content int32) {
	p.refs[content+1] = 0
	p.idle.link(content + 1)
}

// match counts the leading entries of a prompt that are remembered, how many of
// those are idle, and how many are not here but in the host tier. One token at
// least is left to compute.
func (p *prefix) match(q *request) (entries, idle, hosted int) {
	if p.tokens == 0 {
		return 0, 0, 0
	}
	blocks := p.all[q.id]
	most := min(len(blocks), (q.need-1)/p.tokens)
	for entries < most {
		i := int32(blocks[entries]) + 1
		switch refs := p.uses(i); {
		case refs == 0:
			idle++
		case refs == absent && !p.host.contains(i):
			return entries, idle, hosted
		case refs == absent:
			hosted++
		}
		entries++
	}
	return entries, idle, hosted
}

// hold makes a request a user of its leading entries.
func (p *prefix) hold(q *request, entries int) {
	q.shared = entries
	if entries == 0 {
		return
	}
	blocks := p.all[q.id][:entries]
	for j := 0; j < entries; {
		if i := int32(blocks[j]) + 1; p.uses(i) != 0 {
			p.use(i)
			j++
			continue
		}
		n := p.idle.run(blocks[j:])
		for _, b := range blocks[j : j+n] {
			p.refs[b+1] = 1
		}
		p.live += n
		j += n
	}
	p.shares += entries
}

func (p *prefix) use(i int32) {
	switch p.uses(i) {
	case absent:
		p.reach(i)
		if p.refs[i] = 0; p.host.contains(i) {
			p.host.remove(i)
		} else {
			p.known.hold(uint32(i - 1))
		}
		p.live++
	case 0:
		p.idle.unlink(i)
		p.live++
	}
	p.refs[i]++
}

// learn remembers what a request has computed of its prompt, and returns how
// many blocks became spare because others had computed the same meanwhile.
func (p *prefix) learn(q *request) (spare int) {
	if p.tokens == 0 {
		return 0
	}
	blocks := p.all[q.id]
	computed := q.context
	if !p.answers {
		computed = min(computed, q.input)
	}
	most := min(len(blocks), computed/p.tokens)
	for ; q.shared < most; q.shared++ {
		i := int32(blocks[q.shared]) + 1
		if p.uses(i) != absent {
			spare += p.span
		}
		p.use(i)
		p.shares++
	}
	return spare
}

// drop ends the use of a request's entries, the last first, so that the ends of
// prompts are evicted before their beginnings.
func (p *prefix) drop(q *request) {
	if q.shared == 0 {
		return
	}
	blocks := p.all[q.id]
	newest, idle := p.idle.older[0], 0
	for j := q.shared - 1; j >= 0; j-- {
		i := int32(blocks[j]) + 1
		if p.refs[i]--; p.refs[i] == 0 {
			p.idle.newer[newest], p.idle.older[i] = i, newest
			newest = i
			idle++
		}
	}
	p.idle.newer[newest], p.idle.older[0] = 0, newest
	p.idle.n += idle
	p.live -= idle
	p.shares -= q.shared
	q.shared = 0
}

// evict takes the oldest idle entry out of the cache.
func (p *prefix) evict() bool {
	if p.idle.n == 0 {
		return false
	}
	i := p.idle.oldest()
	p.idle.unlink(i)
	p.refs[i] = absent
	p.evicted += int64(p.span)
	if dropped := p.host.put(i); dropped > 0 {
		p.known.drop(uint32(dropped - 1))
	}
	return true
}
