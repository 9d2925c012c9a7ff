package server

import (
	"sync"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// State is where a request is in its life.
type State uint8

// The states.
const (
	NotSent    State = iota // its client has not sent it yet
	queued                  // at an API server, or waiting for a scheduler
	prefilling              // running: its prompt is being computed
	ready                   // running: its prompt is computed, and it waits for its turn, see decodequeue.go
	decoding                // running: it generates
	moving                  // its cache is on the way to a decode replica
	Finished
	Refused // it could never fit
)

// Request is one request and all that is known of it, except for the contents
// of its prompt: without pointers it is no work for the garbage collector.
// There are many, so it is kept small.
type Request struct {
	ID            int   // its place among the requests of the simulation
	Input, Output int   // tokens of prompt and answer
	Kind          int32 // of the client's mix
	State         State
	transferred   bool  // its cache came over a link: it can generate at once
	batch         uint8 // in which it generates, see microBatch

	// prefillTokens are computed before one is sampled: the prompt, and after a preemption also what was generated.
	prefillTokens int
	context       int // tokens in the cache or on their way into it; while decoding it grows with the token clock, see decode.go
	generated     int // tokens; while decoding, as of when it joined
	shared        int // leading entries of the prefix cache that it uses

	offset, finish int64         // while decoding: context and end on the token clock
	lastToken      units.Seconds // when it got its last token, if it does not run; before the first, when it came in
	sooner, later  int32         // those in the same bucket of the wheel, while decoding
	Serial         int32         // the number of the request, from 0, in the order in which its client sends
	epoch          uint32        // counts joins to a batch and removals, so that what refers to an earlier one is known
	older, newer   int32         // those admitted before and after it, while it runs; see running

	Arrived, First, Done units.Seconds // on the clock of the simulation: sent, first token, last token

	Worker, Decoder int32 // the replicas that compute prompt and answer, from 0 in their pools
	Cached          int32 // prompt tokens found in the prefix cache at first
	Hosted          int32 // of these, in the host tier
	Conversation    int32 // its session's place, from 1; 0 without one
	pendingPrompt   int32 // tokens of its prompt that a router counts on its replica
	Preempted       int32 // times
	sharedBefore    int32 // entries of the prefix cache in front of what it left there when it was preempted
	FirstBatch      int32 // requests that got a token in the step of its first, itself included
}

// Enter puts a request that its client has just sent in line: all of its prompt is to be computed.
func (q *Request) Enter() { q.State, q.prefillTokens = queued, q.Input }

// Reuse gives the place of a request to another one of the same client.
func (q *Request) Reuse(place, serial int) {
	*q = Request{ID: place, Serial: int32(serial), epoch: q.epoch + 1}
}

// Recycle gives up the memory of requests that nobody needs any more.
func Recycle(requests []Request) { spare.Put(&requests) }

// holdBack delays the first token that a client sees by tokens held back; they
// come at the request's own pace.
func (q *Request) holdBack(tokens int, now units.Seconds) {
	if tokens == 0 || q.Output < 2 {
		return
	}
	share := float64(min(tokens, q.Output-1)) / float64(q.Output-1)
	q.First += (now - q.First) * units.Seconds(share)
}

// spare are the requests of simulations that have ended: a search runs thousands, one
// after the other.
//
//nolint:gochecknoglobals // memory alone
var spare sync.Pool

// NewRequests makes requests about which nothing is known.
func NewRequests(n int) []Request {
	made := NewPlaces(n)
	clear(made)
	return made
}

// NewPlaces makes room for requests, with what was there before.
func NewPlaces(n int) []Request {
	if old, ok := spare.Get().(*[]Request); ok && cap(*old) >= n {
		return (*old)[:n]
	}
	return make([]Request, n)
}

// running is the requests a scheduler has admitted: a list through them in order of
// admission, by identity from 1.
type running struct {
	n        int
	requests []Request // of the simulation, by identity
	newest   int32
}

func (l *running) push(q *Request) {
	id := int32(q.ID) + 1
	q.older, q.newer = l.newest, 0
	if l.newest > 0 {
		l.last().newer = id
	}
	l.newest = id
	l.n++
}

func (l *running) remove(q *Request) {
	if q.older > 0 {
		l.requests[q.older-1].newer = q.newer
	}
	if q.newer > 0 {
		l.requests[q.newer-1].older = q.older
	} else {
		l.newest = q.older
	}
	l.n--
}

// last is the request admitted last; there must be one.
func (l *running) last() *Request { return &l.requests[l.newest-1] }

// inState is how many are in a state.
func (l *running) inState(x State) int {
	n := 0
	for id := l.newest; id > 0; id = l.requests[id-1].older {
		if l.requests[id-1].State == x {
			n++
		}
	}
	return n
}

// queue is requests in line, a ring that grows. Preempted requests go to the
// front.
type queue struct {
	requests []Request // of the simulation, by identity
	ring     []int32
	head     int
	n        int
}

func (u *queue) slot(i int) *int32 { return &u.ring[(u.head+i)&(len(u.ring)-1)] }

func (u *queue) at(i int) *Request { return &u.requests[*u.slot(i)] }

func (u *queue) grow() {
	if u.n < len(u.ring) {
		return
	}
	ring := make([]int32, max(16, 2*len(u.ring)))
	for i := range u.n {
		ring[i] = *u.slot(i)
	}
	u.ring, u.head = ring, 0
}

func (u *queue) push(q *Request) {
	u.grow()
	*u.slot(u.n) = int32(q.ID)
	u.n++
}

func (u *queue) pushFront(q *Request) {
	u.grow()
	u.head = (u.head - 1) & (len(u.ring) - 1)
	*u.slot(0) = int32(q.ID)
	u.n++
}

// remove takes a request out, from wherever it stands; most often it is near the end.
func (u *queue) remove(q *Request) {
	i := u.n - 1
	for u.at(i) != q {
		i--
	}
	for ; i < u.n-1; i++ {
		*u.slot(i) = *u.slot(i + 1)
	}
	u.n--
}

func (u *queue) pop() *Request {
	q := u.at(0)
	u.head = (u.head + 1) & (len(u.ring) - 1)
	u.n--
	return q
}
