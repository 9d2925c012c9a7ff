package traffic

import (
	"fmt"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
)

// Source is the requests of a simulation as its client sends them: all drawn beforehand, or one after the other where they come without
// end, which take the places of those that have ended.
type Source struct {
	client        Client
	load          load
	Requests      []server.Request
	conversations *conversations // sessions; nil without any
	Endless       bool
	free          []int32 // places that nobody uses, where they come without end
	sent          int     // requests the client has sent, or has planned to
	unsent        int     // turns of sessions that ended early
}

// NewSource prepares all requests of a client.
func NewSource(c Client, seed uint64) Source {
	s := Source{client: c, load: c.load(seed)}
	s.drawn()
	return s
}

// NewEndlessSource prepares requests without end, with places for so many in flight where they come by themselves. Those of a trace have
// an end.
func NewEndlessSource(c Client, seed uint64, places int) Source {
	s := Source{client: c, load: c.endless(seed)}
	if s.Endless = s.load.draw != nil; !s.Endless {
		s.drawn()
		return s
	}
	s.conversations = s.load.conversations
	if s.load.clients > 0 {
		places = s.load.clients
	}
	s.Requests, s.free = server.NewPlaces(places), make([]int32, places)
	for i := range s.free { // the first is the last
		s.free[i] = int32(places - 1 - i)
	}
	return s
}

// drawn numbers requests that were all drawn beforehand.
func (s *Source) drawn() {
	s.Requests, s.conversations = s.load.requests, s.load.conversations
	for i := range s.Requests {
		q := &s.Requests[i]
		q.ID, q.Serial = i, int32(i)
	}
}

// FitBlocks fits what prompts have in common to the blocks of a KV store: a block of a trace is a few of those, or the other way round.
func (s *Source) FitBlocks(tokens int) error {
	if !s.load.coarsen(tokens) {
		return fmt.Errorf("the KV blocks have %d tokens and the trace's blocks %d: one must be a multiple of the other", tokens, s.load.blockTokens)
	}
	return nil
}

// Clients is the number of clients of a closed loop, each of which sends its next request some time after an answer; 0 where requests come
// by themselves.
func (s *Source) Clients() (n int, think units.Seconds) { return s.load.clients, s.load.think }

// Counts is how many requests were sent, and how many drawn beforehand never will be, since their session ended early.
func (s *Source) Counts() (sent, unsent int) { return s.sent, s.unsent }

// NumberedContents is how many contents of prompts have numbers, those of sessions or of a trace that is sent over and over.
func (s *Source) NumberedContents() int {
	if s.conversations != nil {
		return s.conversations.numbers.Size()
	}
	return s.load.replay.numbers.Size()
}

// LastArrival is when the last request came that was drawn beforehand. Turns of sessions come in another order than that of their places.
func (s *Source) LastArrival() units.Seconds {
	last := s.Requests[len(s.Requests)-1].Arrived
	if s.conversations == nil {
		return last
	}
	for i := range s.Requests {
		last = max(last, s.Requests[i].Arrived)
	}
	return last
}

// Warmup is how many of the first requests do not count.
func (s *Source) Warmup() int { return s.load.warmup }

// Gap draws the time until the next arrival where requests come by themselves and without end.
func (s *Source) Gap() units.Seconds { return s.load.gap() }

// Full reports whether as many requests without end are in flight as there are places.
func (s *Source) Full() bool { return len(s.free) == 0 }

// Planned is when the next request comes that was drawn beforehand, if there is one that its client sends of its own accord: not as the next
// turn of a session.
func (s *Source) Planned() (at units.Seconds, ok bool) {
	n := len(s.Requests)
	if s.load.starts != nil {
		n = len(s.load.starts)
	}
	if s.sent >= n {
		return 0, false
	}
	return s.start(s.sent).Arrived, true
}

// Next is the request to be sent next.
func (s *Source) Next() *server.Request {
	s.sent++
	if !s.Endless {
		return s.start(s.sent - 1)
	}
	q := s.freePlace()
	s.load.draw(q)
	s.assignContents(q)
	return q
}

// freePlace takes a place that nobody uses.
func (s *Source) freePlace() *server.Request {
	last := len(s.free) - 1
	at := s.free[last]
	s.free = s.free[:last]
	q := &s.Requests[at]
	q.Reuse(int(at), s.sent-1)
	return q
}

// start is one of those that the client sends of its own accord.
func (s *Source) start(i int) *server.Request {
	if s.load.starts != nil {
		i = int(s.load.starts[i])
	}
	return &s.Requests[i]
}

// BeginConversation makes a request that is about to be sent the first turn of a session.
func (s *Source) BeginConversation(q *server.Request, at units.Seconds) {
	if s.conversations == nil {
		return
	}
	s.conversations.begin(q, at)
	if s.conversations.numbers != nil {
		s.load.contents[q.ID] = s.conversations.of(q).contents
	}
}

// drawTurn draws the lengths of the next request of a session.
func (s *Source) drawTurn(x *conversation, q *server.Request) {
	k := &s.conversations.mix[x.kind]
	random := s.conversations.draws(x.serial, x.turn)
	_ = random.ExpFloat64() // the time before this turn
	user, answer := Lengths{Tokens: k.Session.User, Low: k.Session.LengthLow}, k.answer()
	q.Input, q.Output = x.historyTokens+user.draw(random), answer.draw(random)
}

// assignContents notes the contents of a request that is about to be sent, where there are caches that remember them.
func (s *Source) assignContents(q *server.Request) {
	r := s.load.replay
	if r == nil || s.load.contents == nil {
		return
	}
	own := &s.load.contents[q.ID]
	if *own = (*own)[:0]; q.Kind == r.kind {
		*own = r.prompt(*own)
	}
}

// Release gives the place of a request that has ended to others, where they come without end.
func (s *Source) Release(q *server.Request) {
	s.free = append(s.free, int32(q.ID))
	if r := s.load.replay; r != nil && s.load.contents != nil {
		r.end(s.load.contents[q.ID])
		s.load.contents[q.ID] = s.load.contents[q.ID][:0]
	}
}

// Resume has a session of one of the clients be under way when the run begins: each is at another turn, as they would be found at
// any time. What was said before is in no cache yet.
func (s *Source) Resume(q *server.Request, client, clients int) {
	if s.conversations == nil {
		return
	}
	x := s.conversations.of(q)
	for range int(x.turns) * client / clients {
		x.historyTokens = q.Input + q.Output
		s.drawTurn(x, q)
		x.turn++
		x.resumed = true
	}
}

// RequestInterval is how long it is from one request of a client to the next, if each takes so long.
func (s *Source) RequestInterval(took units.Seconds) units.Seconds {
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

// KnowsContents reports whether prompts come without end whose contents prefix caches remember.
func (s *Source) KnowsContents() bool {
	return s.conversations != nil && s.conversations.numbers != nil || s.load.replay != nil && s.load.contents != nil
}

// SessionHash is a number of a request's session that spreads sessions evenly.
func (s *Source) SessionHash(q *server.Request) uint64 {
	return mixed64(uint64(s.conversations.of(q).serial))
}

// Prompts is what prefix caches of an engine are to know of the prompts to come; nil where nothing is shared.
func (s *Source) Prompts(e *server.Engine) *server.Prompts {
	if s.load.prefix > 0 {
		return s.commonPrefix(e)
	}
	if s.conversations != nil {
		return s.spoken(e)
	}
	replayed := s.Endless && s.load.replay != nil
	if replayed && s.load.contents == nil {
		s.load.contents = make([][]uint32, len(s.Requests))
	}
	if s.load.contents == nil {
		return nil
	}
	p := &server.Prompts{Contents: s.load.contents, EntryTokens: s.load.blockTokens}
	for _, blocks := range s.load.contents {
		for _, b := range blocks {
			p.Numbered = max(p.Numbered, int(b)+1)
		}
	}
	if replayed {
		p.Catalog = &s.load.replay.numbers
	}
	return p
}

// spoken is the prompts and answers of sessions.
func (s *Source) spoken(e *server.Engine) *server.Prompts {
	if s.conversations.numbers == nil {
		s.conversations.remember(e.BlockTokens)
		s.load.contents = make([][]uint32, len(s.Requests))
	}
	return &server.Prompts{Contents: s.load.contents, EntryTokens: e.BlockTokens, Catalog: s.conversations.numbers, Answers: true, Common: s.conversations.system}
}

// commonPrefix is what all prompts begin with: whole blocks, as one entry, since
// none begins with less. It is there from the start.
func (s *Source) commonPrefix(e *server.Engine) *server.Prompts {
	blocks := s.load.prefix / e.BlockTokens
	if blocks == 0 || blocks > e.Blocks {
		return nil
	}
	if s.load.contents == nil {
		s.load.contents = slices.Repeat([][]uint32{{0}}, len(s.Requests))
	}
	return &server.Prompts{Contents: s.load.contents, Numbered: 1, EntryTokens: blocks * e.BlockTokens, Warm: true}
}
