package traffic

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
)

// conversation is a session under way.
type conversation struct {
	serial        int32    // the number of the session, from 0
	kind          int32    // of the mix
	turn, turns   int32    // requests sent, and to be sent in all
	first         int32    // place of its first request, where all requests have places
	historyTokens int      // of its last prompt and answer, with which the next prompt begins
	contents      []uint32 // of its prompts, numbered: the system prompt, if there is one, and the conversation
	resumed       bool     // it was under way when the run began, so that its length says nothing
	started       units.Seconds
	thought       units.Seconds // between answers and the requests that followed, all together
}

// conversations is the sessions of a run. Where one kind of the mix is sessions, every request is a turn of one.
type conversations struct {
	mix       Mix
	open      []conversation
	free      []int32
	begun     int32
	seed      uint64
	source    *rand.PCG
	random    *rand.Rand
	meanTurns float64 // of a session

	// numbers are those of contents of prompts, where there are caches that remember them; nil without.
	numbers *server.Catalog
	system  []int // by kind: entries of the prefix cache that its system prompt fills. The first contents are these prompts

	ended statistics.SessionTally
}

// converses reports whether a mix has sessions of more than one turn or with a common beginning. Other sessions are requests.
func (m Mix) converses() bool {
	return slices.ContainsFunc(m, func(k Kind) bool { return k.Session != nil && (k.Session.Turns > 1 || k.Session.System > 0) })
}

// meanTurns is the mean number of requests that follow from one drawn.
func (m Mix) meanTurns() float64 {
	if m == nil {
		return 1
	}
	sum, turns := 0.0, 0.0
	for i := range m {
		n := 1.0
		if m[i].Session != nil {
			n = m[i].Session.MeanTurns()
		}
		sum, turns = sum+m[i].Share, turns+n*m[i].Share
	}
	return turns / sum
}

// newConversations prepares the sessions of a mix; nil where there are none.
func newConversations(m Mix, seed uint64) *conversations {
	if !m.converses() {
		return nil
	}
	t := &conversations{mix: m, seed: seed, source: rand.NewPCG(0, 0), meanTurns: m.meanTurns()}
	t.random = rand.New(t.source)
	return t
}

// remember prepares contents in blocks of so many tokens.
func (t *conversations) remember(blockTokens int) {
	t.numbers, t.system = &server.Catalog{}, make([]int, len(t.mix))
	for i := range t.mix {
		t.numbers.Add()
		if s := t.mix[i].Session; s != nil {
			t.system[i] = s.System / blockTokens
		}
	}
}

// draws are the random numbers of a turn. They depend on the session and the turn alone, not on what the server does.
func (t *conversations) draws(serial, turn int32) *rand.Rand {
	t.source.Seed(t.seed, mixed64(sessionStream<<56|uint64(serial)<<16|uint64(turn)))
	return t.random
}

// turns draws the number of turns of a session.
func (t *conversations) turns(serial, kind int32) int32 {
	s := t.mix[kind].Session
	if s == nil {
		return 1
	}
	return int32(s.Least() + t.draws(serial, 0).IntN(s.Turns-s.Least()+1))
}

// begin makes a request the first turn of a session. A run without end has the places of sessions that are over for others.
func (t *conversations) begin(q *server.Request, at units.Seconds) *conversation {
	place := len(t.open)
	if n := len(t.free); n > 0 {
		place = int(t.free[n-1])
		t.free = t.free[:n-1]
	} else {
		t.open = append(t.open, conversation{})
	}
	x := &t.open[place]
	*x = conversation{serial: t.begun, kind: q.Kind, turn: 1, turns: t.turns(t.begun, q.Kind), first: int32(q.ID), started: at, contents: x.contents[:0]}
	t.begun++
	if t.numbers != nil {
		if t.system[q.Kind] > 0 {
			x.contents = append(x.contents, uint32(q.Kind))
		}
		x.contents = append(x.contents, t.numbers.Add())
	}
	q.Conversation = int32(place) + 1
	return x
}

// of is the session of a request.
func (t *conversations) of(q *server.Request) *conversation { return &t.open[q.Conversation-1] }

// end ends a session: nobody will ask for what was said again.
func (t *conversations) end(q *server.Request) {
	if x := t.of(q); t.numbers != nil {
		t.numbers.Drop(x.contents[len(x.contents)-1])
	}
	t.free = append(t.free, q.Conversation-1)
}

// Reply is what follows an answer in a session.
type Reply struct {
	GoesOn  bool
	At      units.Seconds // when the session sends its next request, if it goes on
	Session int           // its place
	Unsent  int           // requests with places of their own that will never be sent, if it does not
}

// Answered has the session of a request go on that has ended at a time; one whose prompt was refused ends.
func (s *Source) Answered(q *server.Request, at units.Seconds, refused bool) Reply {
	if s.conversations == nil {
		return Reply{}
	}
	return s.goOn(q, at, refused)
}

// goOn is Answered where there are sessions.
func (s *Source) goOn(q *server.Request, at units.Seconds, refused bool) Reply {
	t, x := s.conversations, s.conversations.of(q)
	if refused || x.turn == x.turns {
		if !refused && !x.resumed {
			t.ended.Add(int(x.turns), at-x.started, x.thought)
		}
		t.end(q)
		if s.Endless {
			return Reply{}
		}
		s.unsent += int(x.turns - x.turn) // those never sent have places too
		return Reply{Unsent: int(x.turns - x.turn)}
	}
	x.historyTokens = q.Input + q.Output
	think := units.Seconds(0)
	if mean := t.mix[x.kind].Session.Think; mean > 0 {
		think = mean * units.Seconds(t.draws(x.serial, x.turn).ExpFloat64())
	}
	x.thought += think
	return Reply{GoesOn: true, At: at + think, Session: int(q.Conversation - 1)}
}

// NextTurn is the next request of a session, which comes now; nil if there is no place for it: then the session ends.
func (s *Source) NextTurn(session int, now units.Seconds) *server.Request {
	x := &s.conversations.open[session]
	var q *server.Request
	switch {
	case !s.Endless:
		q = &s.Requests[x.first+x.turn]
	case s.Full():
		s.conversations.end(&server.Request{Conversation: int32(session) + 1})
		return nil
	default:
		s.sent++
		q = s.freePlace()
	}
	q.Kind, q.Conversation = x.kind, int32(session)+1
	s.drawTurn(x, q)
	q.Arrived = now
	x.turn++
	if s.conversations.numbers != nil {
		s.load.contents[q.ID] = x.contents
	}
	return q
}

// OpenSessions is the number of sessions that have begun and not ended.
func (s *Source) OpenSessions() int { return len(s.conversations.open) - len(s.conversations.free) }

// RestartSessions forgets the sessions that have ended.
func (s *Source) RestartSessions() {
	if s.conversations != nil {
		s.conversations.ended.Restart()
	}
}

// Sessions sums up those that ended over a time; nil without any in the load.
func (s *Source) Sessions(over units.Seconds, percentile float64) *statistics.Sessions {
	if s.conversations == nil {
		return nil
	}
	return s.conversations.ended.Report(over, percentile)
}

// addTurns makes places for all turns of the sessions that the requests of a load begin.
func (l *load) addTurns(m Mix, seed uint64) {
	if l.conversations = newConversations(m, seed); l.conversations == nil {
		return
	}
	n := 0
	l.starts = make([]int32, len(l.requests))
	for i := range l.requests {
		l.starts[i] = int32(n)
		n += int(l.conversations.turns(int32(i), l.requests[i].Kind))
	}
	all := server.NewRequests(n)
	for i := range l.requests {
		all[l.starts[i]] = l.requests[i]
	}
	l.requests = all
}

// MeanLengths are those of a prompt and an answer, and the tokens of a prompt to compute where caches have the rest: of all turns of sessions,
// or else of some requests.
func (s *Source) MeanLengths(of []*server.Request) (input, output, computed float64) {
	if s.conversations != nil {
		return s.conversations.lengths()
	}
	for _, q := range of {
		input += float64(q.Input) / float64(len(of))
		output += float64(q.Output) / float64(len(of))
	}
	return input, output, input
}

// lengths are meanLengths of all turns.
func (t *conversations) lengths() (input, output, computed float64) {
	sum := 0.0
	for i := range t.mix {
		k := &t.mix[i]
		if k.Session == nil {
			continue // few of those under way
		}
		in, out, cached := k.Session.Means()
		n := k.Share * k.Session.MeanTurns()
		sum, input, output, computed = sum+n, input+n*in, output+n*out, computed+n*(in-cached)
	}
	return input / sum, output / sum, math.Max(1, computed/sum)
}

// mixed64 spreads numbers that follow each other over all values: the last step of SplitMix64 (Steele, Lea and Flood,
// "Fast splittable pseudorandom number generators", OOPSLA 2014).
func mixed64(x uint64) uint64 {
	z := (x + 1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
