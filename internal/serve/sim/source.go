package sim

import (
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// source is the requests of a simulation as its client sends them: all drawn beforehand, or one after the other where they come without
// end, which take the places of those that have ended.
type source struct {
	load          load
	requests      []request
	conversations *conversations // sessions; nil without any
	endless       bool
	free          []int32 // places that nobody uses, where they come without end
	sent          int     // requests the client has sent, or has planned to
	unsent        int     // turns of sessions that ended early
}

// newSource prepares the requests: all of them, or places for those in flight.
func newSource(c *Config) source {
	var s source
	if c.Steady == nil {
		s.load = c.Client.load(c.Seed)
	} else {
		s.load = c.Client.endless(c.Seed)
		s.endless = s.load.draw != nil
	}
	s.conversations = s.load.conversations
	if s.endless {
		n := s.load.clients
		if n == 0 {
			n = mostInFlight(c)
		}
		s.load.requests, s.free = places(n), make([]int32, n)
		for i := range s.free { // the first is the last
			s.free[i] = int32(n - 1 - i)
		}
	}
	s.requests = s.load.requests
	for i := range s.requests {
		if q := &s.requests[i]; !s.endless {
			q.id, q.serial, q.prefillTokens = i, int32(i), q.input
		}
	}
	return s
}

// next is the request to be sent next.
func (s *source) next() *request {
	s.sent++
	if !s.endless {
		return s.start(s.sent - 1)
	}
	q := s.freePlace()
	s.load.draw(q)
	s.assignContents(q)
	q.prefillTokens = q.input
	return q
}

// turnPlace is a place for the next turn of a session.
func (s *source) turnPlace() *request {
	s.sent++
	return s.freePlace()
}

// freePlace takes a place that nobody uses.
func (s *source) freePlace() *request {
	last := len(s.free) - 1
	at := s.free[last]
	s.free = s.free[:last]
	q := &s.requests[at]
	*q = request{id: int(at), serial: int32(s.sent - 1), epoch: q.epoch + 1}
	return q
}

// starts is how many requests the client sends of its own accord: not as the next turn of a session.
func (s *source) starts() int {
	if s.load.starts != nil {
		return len(s.load.starts)
	}
	return len(s.requests)
}

// start is one of them.
func (s *source) start(i int) *request {
	if s.load.starts != nil {
		i = int(s.load.starts[i])
	}
	return &s.requests[i]
}

// beginConversation makes a request that is about to be sent the first turn of a session.
func (s *source) beginConversation(q *request, at units.Seconds) {
	if s.conversations == nil {
		return
	}
	s.conversations.begin(q, at)
	if s.conversations.known != nil {
		s.load.contents[q.id] = s.conversations.of(q).contents
	}
}

// drawTurn draws the lengths of the next request of a session.
func (s *source) drawTurn(x *conversation, q *request) {
	k := &s.conversations.mix[x.kind]
	random := s.conversations.draws(x.serial, x.turn)
	_ = random.ExpFloat64() // the time before this turn
	user, answer := Lengths{Tokens: k.Session.User, Low: k.Session.LengthLow}, k.answer()
	q.input, q.output = x.said+user.draw(random), answer.draw(random)
}

// assignContents notes the contents of a request that is about to be sent, where there are caches that remember them.
func (s *source) assignContents(q *request) {
	r := s.load.replay
	if r == nil || s.load.contents == nil {
		return
	}
	own := &s.load.contents[q.id]
	if *own = (*own)[:0]; q.kind == r.kind {
		*own = r.prompt(*own)
	}
}

// releaseContents ends what assignContents began.
func (s *source) releaseContents(q *request) {
	if r := s.load.replay; r != nil && s.load.contents != nil {
		r.end(s.load.contents[q.id])
		s.load.contents[q.id] = s.load.contents[q.id][:0]
	}
}

// resume has a session of one of the clients be under way when the run begins: each is at another turn, as they would be found at
// any time. What was said before is in no cache yet.
func (s *source) resume(q *request, client, clients int) {
	if s.conversations == nil {
		return
	}
	x := s.conversations.of(q)
	for range int(x.turns) * client / clients {
		x.said = q.input + q.output
		s.drawTurn(x, q)
		x.turn++
		x.resumed = true
	}
	q.prefillTokens = q.input
}

// lasts is how long it is from one request of a client to the next, if each takes so long.
func (s *source) lasts(took units.Seconds) units.Seconds {
	if s.conversations == nil {
		return took
	}
	turns, think := 0.0, units.Seconds(0)
	for i := range s.conversations.mix {
		k, n := &s.conversations.mix[i], 1.0
		if x := k.Session; x != nil {
			n = x.MeanTurns()
			think += x.Think * units.Seconds(k.Share*(n-1))
		}
		turns += k.Share * n
	}
	return took + think/units.Seconds(turns)
}

// knowsContents reports whether prompts come without end whose contents prefix caches remember.
func (s *source) knowsContents() bool {
	return s.conversations != nil && s.conversations.known != nil || s.load.replay != nil && s.load.contents != nil
}

// mostInFlight is how many requests of an open loop there is room for: many times as many as all replicas run at
// a time. With more it is overloaded.
func mostInFlight(c *Config) int {
	const times, least, most = 16, 1 << 12, 1 << 18
	n := max(1, c.Workers.Replicas) * c.Workers.Engine.MaxSequences
	if c.Decode != nil {
		n += max(1, c.Decode.Replicas) * c.Decode.Engine.MaxSequences
	}
	return min(max(times*n, least), most)
}

// remember gives a replica a prefix cache, if it is to have one. Decode replicas
// have none: what comes over the link is not shared.
func (s *source) remember(e *Engine, kv *blockStore) {
	if !e.PrefixCache {
		return
	}
	if s.load.prefix > 0 {
		s.warm(e, kv)
		return
	}
	tier := e.Host.room()
	if s.conversations != nil {
		s.converse(e, kv)
		kv.prefix.host.room = tier
		return
	}
	replayed := s.endless && s.load.replay != nil
	if replayed && s.load.contents == nil {
		s.load.contents = make([][]uint32, len(s.requests))
	}
	if s.load.contents == nil {
		return
	}
	kinds := 0
	for _, blocks := range s.load.contents {
		for _, b := range blocks {
			kinds = max(kinds, int(b)+1)
		}
	}
	tokens := s.load.blockTokens
	span := tokens / e.BlockTokens
	kv.prefix = newPrefix(s.load.contents, kinds, tokens, span)
	if replayed {
		kv.prefix.numbers = &s.load.replay.known
	}
	kv.prefix.host.room = tier / span
}

// converse gives a replica a cache for the prompts and answers of sessions.
func (s *source) converse(e *Engine, kv *blockStore) {
	if s.conversations.known == nil {
		s.conversations.remember(e.BlockTokens)
		s.load.contents = make([][]uint32, len(s.requests))
	}
	kv.prefix = newPrefix(s.load.contents, 0, e.BlockTokens, 1)
	p := &kv.prefix
	p.numbers, p.answers = s.conversations.known, true
	for _, entries := range s.conversations.system {
		p.common = append(p.common, make([]int32, entries+1))
	}
}

// warm gives a replica what all prompts begin with: whole blocks, as one entry, since
// none begins with less.
func (s *source) warm(e *Engine, kv *blockStore) {
	span := s.load.prefix / e.BlockTokens
	if span == 0 || span > kv.total {
		return
	}
	if s.load.contents == nil {
		s.load.contents = slices.Repeat([][]uint32{{0}}, len(s.requests))
	}
	kv.prefix = newPrefix(s.load.contents, 1, span*e.BlockTokens, span)
	kv.prefix.warm(0)
	kv.free -= span
}
