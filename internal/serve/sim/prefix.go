package sim

// prefix is the prompts a replica remembers: an entry per block of content,
// found by its number, which stands for the block and all before it. An entry
// that no request uses is idle; idle entries are evicted, least recently used
// first, when blocks are short.
type prefix struct {
	tokens int // in an entry; 0 when nothing is shared
	span   int // blocks in an entry
	refs   []int32
	// The idle entries, oldest first: a list through the arrays, closed at
	// index 0. Content i is at index i+1.
	older, newer []int32
	idle, live   int
	shares       int        // Σ entries held by requests, each request counted
	contents     [][]uint32 // of prompts, by the identity of the request
}

const absent = -1

func newPrefix(contents [][]uint32, kinds, tokens, span int) prefix {
	p := prefix{
		tokens: tokens, span: span, contents: contents,
		refs: make([]int32, kinds+1), older: make([]int32, kinds+1), newer: make([]int32, kinds+1),
	}
	for i := range p.refs {
		p.refs[i] = absent
	}
	return p
}

// warm remembers content that no request has computed.
func (p *prefix) warm(content int32) {
	p.refs[content+1] = 0
	p.link(content + 1)
}

// match counts the leading entries of a prompt that are remembered, and how
// many of those are idle. One token at least is left to compute.
func (p *prefix) match(q *request) (entries, idle int) {
	if p.tokens == 0 {
		return 0, 0
	}
	blocks := p.contents[q.id]
	most := min(len(blocks), (q.need-1)/p.tokens)
	for entries < most {
		refs := p.refs[blocks[entries]+1]
		if refs == absent {
			break
		}
		if refs == 0 {
			idle++
		}
		entries++
	}
	return entries, idle
}

// hold makes a request a user of its leading entries.
func (p *prefix) hold(q *request, entries int) {
	q.shared = entries
	if entries == 0 {
		return
	}
	for _, b := range p.contents[q.id][:entries] {
		p.use(int32(b) + 1)
	}
	p.shares += entries
}

func (p *prefix) use(i int32) {
	if p.refs[i] <= 0 {
		if p.refs[i] == 0 {
			p.unlink(i)
		} else {
			p.refs[i] = 0
		}
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
	blocks := p.contents[q.id]
	most := min(len(blocks), min(q.context, q.input)/p.tokens)
	for ; q.shared < most; q.shared++ {
		i := int32(blocks[q.shared]) + 1
		if p.refs[i] != absent {
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
	blocks := p.contents[q.id]
	for j := q.shared - 1; j >= 0; j-- {
		i := int32(blocks[j]) + 1
		if p.refs[i]--; p.refs[i] == 0 {
			p.live--
			p.link(i)
		}
	}
	p.shares -= q.shared
	q.shared = 0
}

// evict forgets the oldest idle entry.
func (p *prefix) evict() bool {
	if p.idle == 0 {
		return false
	}
	i := p.newer[0]
	p.unlink(i)
	p.refs[i] = absent
	return true
}

func (p *prefix) link(i int32) {
	newest := p.older[0]
	p.newer[newest], p.older[i] = i, newest
	p.newer[i], p.older[0] = 0, i
	p.idle++
}

func (p *prefix) unlink(i int32) {
	p.newer[p.older[i]], p.older[p.newer[i]] = p.newer[i], p.older[i]
	p.idle--
}
