package sim

import (
	"fmt"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// source is the requests of a simulation as its client sends them: all drawn beforehand, or one after the other where they come without
// end, which take the places of those that have ended.
type source struct {
	client        Client
	load          load
	requests      []request
	conversations *conversations // sessions; nil without any
	endless       bool
	free          []int32 // places that nobody uses, where they come without end
	sent          int     // requests the client has sent, or has planned to
	unsent        int     // turns of sessions that ended early
}

// newSource prepares all requests of a client.
func newSource(c Client, seed uint64) source {
	s := source{client: c, load: c.load(seed)}
	s.drawn()
	return s
}

// newEndlessSource prepares requests without end, with places for so many in flight where they come by themselves. Those of a trace have
// an end.
func newEndlessSource(c Client, seed uint64, places int) source {
	s := source{client: c, load: c.endless(seed)}
	if s.endless = s.load.draw != nil; !s.endless {
		s.drawn()
		return s
	}
	s.conversations = s.load.conversations
	if s.load.clients > 0 {
		places = s.load.clients
	}
	s.requests, s.free = newPlaces(places), make([]int32, places)
	for i := range s.free { // the first is the last
		s.free[i] = int32(places - 1 - i)
	}
	return s
}

// drawn numbers requests that were all drawn beforehand.
func (s *source) drawn() {
	s.requests, s.conversations = s.load.requests, s.load.conversations
	for i := range s.requests {
		q := &s.requests[i]
		q.id, q.serial = i, int32(i)
	}
}

// fitBlocks fits what prompts have in common to the blocks of a KV store: a block of a trace is a few of those, or the other way round.
func (s *source) fitBlocks(tokens int) error {
	if !s.load.coarsen(tokens) {
		return fmt.Errorf("the KV blocks have %d tokens and the trace's blocks %d: one must be a multiple of the other", tokens, s.load.blockTokens)
	}
	return nil
}

// clients is the number of clients of a closed loop, each of which sends its next request some time after an answer; 0 where requests come
// by themselves.
func (s *source) clients() (n int, think units.Seconds) { return s.load.clients, s.load.think }

// counts is how many requests were sent, and how many drawn beforehand never will be, since their session ended early.
func (s *source) counts() (sent, unsent int) { return s.sent, s.unsent }

// numberedContents is how many contents of prompts have numbers, those of sessions or of a trace that is sent over and over.
func (s *source) numberedContents() int {
	if s.conversations != nil {
		return s.conversations.known.size()
	}
	return s.load.replay.known.size()
}

// warmup is how many of the first requests do not count.
func (s *source) warmup() int { return s.load.warmup }

// gap draws the time until the next arrival where requests come by themselves and without end.
func (s *source) gap() units.Seconds { return s.load.gap() }

// full reports whether as many requests without end are in flight as there are places.
func (s *source) full() bool { return len(s.free) == 0 }

// planned is when the next request comes that was drawn beforehand, if there is one that its client sends of its own accord: not as the next
// turn of a session.
func (s *source) planned() (at units.Seconds, ok bool) {
	n := len(s.requests)
	if s.load.starts != nil {
		n = len(s.load.starts)
	}
	if s.sent >= n {
		return 0, false
	}
	return s.start(s.sent).arrived, true
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
	return q
}

// freePlace takes a place that nobody uses.
func (s *source) freePlace() *request {
	last := len(s.free) - 1
	at := s.free[last]
	s.free = s.free[:last]
	q := &s.requests[at]
	q.reuse(int(at), s.sent-1)
	return q
}

// start is one of those that the client sends of its own accord.
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

// release gives the place of a request that has ended to others, where they come without end.
func (s *source) release(q *request) {
	s.free = append(s.free, int32(q.id))
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

// sessionHash is a number of a request's session that spreads sessions evenly.
func (s *source) sessionHash(q *request) uint64 { return mixed64(uint64(s.conversations.of(q).serial)) }

// prompts is what prefix caches of an engine are to know of the prompts to come; nil where nothing is shared.
func (s *source) prompts(e *Engine) *prompts {
	if s.load.prefix > 0 {
		return s.commonPrefix(e)
	}
	if s.conversations != nil {
		return s.spoken(e)
	}
	replayed := s.endless && s.load.replay != nil
	if replayed && s.load.contents == nil {
		s.load.contents = make([][]uint32, len(s.requests))
	}
	if s.load.contents == nil {
		return nil
	}
	p := &prompts{contents: s.load.contents, entryTokens: s.load.blockTokens}
	for _, blocks := range s.load.contents {
		for _, b := range blocks {
			p.known = max(p.known, int(b)+1)
		}
	}
	if replayed {
		p.numbers = &s.load.replay.known
	}
	return p
}

// spoken is the prompts and answers of sessions.
func (s *source) spoken(e *Engine) *prompts {
	if s.conversations.known == nil {
		s.conversations.remember(e.BlockTokens)
		s.load.contents = make([][]uint32, len(s.requests))
	}
	return &prompts{contents: s.load.contents, entryTokens: e.BlockTokens, numbers: s.conversations.known, answers: true, common: s.conversations.system}
}

// commonPrefix is what all prompts begin with: whole blocks, as one entry, since
// none begins with less. It is there from the start.
func (s *source) commonPrefix(e *Engine) *prompts {
	blocks := s.load.prefix / e.BlockTokens
	if blocks == 0 || blocks > e.Blocks {
		return nil
	}
	if s.load.contents == nil {
		s.load.contents = slices.Repeat([][]uint32{{0}}, len(s.requests))
	}
	return &prompts{contents: s.load.contents, known: 1, entryTokens: blocks * e.BlockTokens, warm: true}
}
