package server

import "math"

// prefix is the prompts a replica remembers. A prompt is one content after the other: the system prompt of its kind and what
// its session said, or a block of a trace after the other, where a number stands for the block and all before it. A content
// has entries, of some blocks each, and is remembered from its beginning. Entries that no request uses are idle; they are
// evicted, least recently used first, when blocks are short, and go to the host tier if there is one.
type prefix struct {
	tokens     int // in an entry; 0 when nothing is shared
	span       int // blocks in an entry
	remembered []remembered
	common     [][]int32 // of contents that several sessions begin with, which come first: how many requests use so many of their entries
	idle       lruRuns
	host       host
	live       int
	shares     int        // Σ entries held by requests, each request counted
	answers    bool       // contents go on where prompts end: answers are remembered too
	numbers    *Catalog   // of the contents, where numbers are used again
	contents   [][]uint32 // contents, by the identity of the request
	evicted    int64      // blocks
}

// Prompts is what prefix caches are to know of the prompts to come.
type Prompts struct {
	Contents    [][]uint32 // of each request, by its identity
	EntryTokens int        // that an entry of the caches has; of a trace's prompts a content is an entry
	Numbered    int        // contents that are numbered already
	Catalog     *Catalog   // of contents that come without end; nil where all are numbered
	Answers     bool       // contents go on where prompts end: answers are remembered too
	Common      []int      // entries of the contents that several sessions begin with, which come first
	Warm        bool       // content 0 is in the caches from the start
}

// Remember gives a replica a prefix cache. Decode replicas
// have none: what comes over the link is not shared.
func (r *Replica) Remember(p *Prompts) {
	e, kv := r.scheduler.engine, r.scheduler.kv.(*blockStore)
	blocks := p.EntryTokens / e.BlockTokens
	kv.prefix = newPrefix(p.Contents, p.Numbered, p.EntryTokens, blocks)
	if p.Warm {
		kv.prefix.warm(0)
		kv.free -= blocks
		return
	}
	kv.prefix.numbers, kv.prefix.answers = p.Catalog, p.Answers
	for _, entries := range p.Common {
		kv.prefix.common = append(kv.prefix.common, make([]int32, entries+1))
	}
	kv.prefix.host.room = e.Host.room() / blocks
}

// remembered is what a replica has of a content.
type remembered struct {
	entries int32 // from its beginning
	used    int32 // of these, by requests
	users   int32
}

func newPrefix(contents [][]uint32, kinds, tokens, span int) prefix {
	return prefix{tokens: tokens, span: span, contents: contents, remembered: make([]remembered, kinds), idle: lruRuns{first: make([]int32, kinds)}}
}

// known is what is remembered of a content.
func (p *prefix) known(content uint32) remembered {
	if int(content) >= len(p.remembered) {
		return remembered{}
	}
	return p.remembered[content]
}

// size is the most entries of a content.
func (p *prefix) size(content uint32) int {
	switch {
	case !p.answers:
		return 1
	case int(content) < len(p.common):
		return len(p.common[content]) - 1
	default:
		return math.MaxInt32
	}
}

// locate is the content of a prompt in which an entry is, and the entry with which it begins.
func (p *prefix) locate(contents []uint32, entry int) (i, begins int) {
	if !p.answers {
		return entry, entry
	}
	for begins+p.size(contents[i]) <= entry {
		begins += p.size(contents[i])
		i++
	}
	return i, begins
}

// entriesIn is how many entries so many tokens of a prompt fill.
func (p *prefix) entriesIn(contents []uint32, tokens int) int {
	if p.answers {
		return tokens / p.tokens
	}
	return min(len(contents), tokens/p.tokens)
}

// warm remembers content that no request has computed.
func (p *prefix) warm(content int32) {
	p.remembered[content].entries = 1
	p.idle.add(content, 0, 1)
}

// match counts the leading entries of a prompt that are remembered, how many of
// those are idle, and how many are not here but in the host tier. One token at
// least is left to compute.
func (p *prefix) match(id, tokens int) (entries, idle, hosted int) {
	if p.tokens == 0 {
		return 0, 0, 0
	}
	contents := p.contents[id]
	most := p.entriesIn(contents, tokens)
	for i := 0; entries < most; i++ {
		has, size := p.known(contents[i]), min(p.size(contents[i]), most-entries)
		here := min(int(has.entries), size)
		idle += max(0, here-int(has.used))
		there := min(int(p.host.count(contents[i])), size-here)
		hosted += there
		entries += here + there
		if here+there < size {
			break
		}
	}
	return entries, idle, hosted
}

// hold makes a request a user of its leading entries.
func (p *prefix) hold(id, entries int) {
	for i, left := 0, entries; left > 0; i++ {
		content := p.contents[id][i]
		n := min(p.size(content), left)
		p.use(content, 0, n)
		left -= n
	}
	p.shares += entries
}

// use has a request that used some entries of a content use more of them.
func (p *prefix) use(content uint32, from, to int) {
	for int(content) >= len(p.remembered) {
		p.remembered = append(p.remembered, remembered{})
	}
	x, i, end := &p.remembered[content], int32(content), int32(to)
	if from == 0 {
		x.users++
	}
	if int(content) < len(p.common) {
		if from > 0 {
			p.common[content][from]--
		}
		p.common[content][to]++
	}
	if end <= x.used {
		return
	}
	if x.used < x.entries {
		p.idle.take(i, end)
	}
	if end > x.entries {
		if x.entries == 0 && p.host.count(content) == 0 {
			p.numbers.Hold(content)
		}
		p.host.take(i, end)
		x.entries = end
	}
	p.live += int(end - x.used)
	x.used = end
}

// learn remembers the tokens that a request has computed of its prompt, of which it shared some entries before. It returns how
// many it shares then, and how many blocks became spare because others had computed the same meanwhile.
func (p *prefix) learn(id, shared, computed int) (entries, spare int) {
	if p.tokens == 0 {
		return shared, 0
	}
	contents := p.contents[id]
	most := p.entriesIn(contents, computed)
	if shared >= most {
		return shared, 0
	}
	for i, begins := p.locate(contents, shared); shared < most; i++ {
		content := contents[i]
		from, to := shared-begins, min(p.size(content), most-begins)
		spare += p.span * max(0, min(int(p.known(content).entries), to)-from)
		p.use(content, from, to)
		p.shares += to - from
		shared = begins + to
		begins = shared
	}
	return shared, spare
}

// drop ends the use of a request's entries, the last first, so that the ends of
// prompts are evicted before their beginnings.
func (p *prefix) drop(id, shared int) {
	if shared == 0 {
		return
	}
	contents := p.contents[id]
	i, begins := p.locate(contents, shared-1)
	p.release(contents[i], shared-begins)
	for i--; i >= 0; i-- {
		p.release(contents[i], p.size(contents[i]))
	}
	p.shares -= shared
}

// release ends the use of so many entries of a content by one request.
func (p *prefix) release(content uint32, entries int) {
	x := &p.remembered[content]
	x.users--
	used := x.used
	if int(content) < len(p.common) {
		p.common[content][entries]--
		for used > 0 && p.common[content][used] == 0 {
			used--
		}
	} else if x.users == 0 {
		used = 0
	}
	if used < x.used {
		p.idle.add(int32(content), used, x.used)
		p.live -= int(x.used - used)
		x.used = used
	}
}

// evict takes up to so many of the oldest idle entries out of the cache, and returns how many.
func (p *prefix) evict(most int) int {
	if p.idle.n == 0 {
		return 0
	}
	content, from, to := p.idle.pop(most)
	p.remembered[content].entries = from
	p.evicted += int64(to-from) * int64(p.span)
	if p.host.room > 0 {
		p.host.put(content, from, to)
		for p.host.n > p.host.room {
			p.forget(p.host.drop())
		}
	} else {
		p.forget(content)
	}
	return int(to - from)
}

// forget gives up the number of a content that is no longer here.
func (p *prefix) forget(content int32) {
	if p.remembered[content].entries == 0 && p.host.count(uint32(content)) == 0 {
		p.numbers.Drop(uint32(content))
	}
}
