package sim

import (
	"slices"

	"plimsoll/internal/units"
)

// state is where a request is in its life.
type state uint8

const (
	unborn     state = iota // its client has not sent it yet
	queued                  // at an API server, or waiting for a scheduler
	prefilling              // running: its prompt is being computed
	decoding                // running: it generates
	moving                  // its cache is on the way to a decode replica
	finished
	refused // it could never fit
)

// request is one request and all that is known of it, except for the contents
// of its prompt: without pointers it is no work for the garbage collector.
type request struct {
	id            int
	input, output int // tokens
	kind          int32
	state         state

	arrived, first, done units.Seconds

	// While it runs. need is how many tokens are computed before one is
	// sampled: the prompt, and after a preemption also what it had generated.
	need      int
	context   int // tokens in the cache; while decoding this grows with the replica's token clock, see decode.go
	generated int // likewise
	shared    int // leading blocks that the prefix cache holds for it
	carried   bool

	offset, finish int64         // while decoding: context and end on the token clock
	epoch          uint32        // counts joins and removals, so that old heap entries are known
	last           units.Seconds // when it got its last token, if it does not run

	turn uint32 // when it was admitted, while it runs

	worker, decoder int // replicas, from 0 in their pool
	cached          int // prompt tokens found in the prefix cache at first
	preempted       int // times
}

// running is the requests a scheduler has admitted, in order of admission.
// Those that have left since stay in the list until they are in the way.
type running struct {
	n        int
	requests []request // of the simulation, by identity
	order    []admission
	turns    uint32
}

type admission struct {
	id   int32
	turn uint32
}

func (l *running) push(q *request) {
	if len(l.order) > 2*l.n+64 {
		l.order = slices.DeleteFunc(l.order, l.left)
	}
	l.n++
	l.turns++
	q.turn = l.turns
	l.order = append(l.order, admission{int32(q.id), q.turn})
}

func (l *running) remove(q *request) {
	q.turn = 0
	l.n--
}

// last is the request admitted last; there must be one.
func (l *running) last() *request {
	for {
		a := l.order[len(l.order)-1]
		if !l.left(a) {
			return &l.requests[a.id]
		}
		l.order = l.order[:len(l.order)-1]
	}
}

func (l *running) left(a admission) bool { return l.requests[a.id].turn != a.turn }

// queue is requests in line, a ring that grows. Preempted requests go to the
// front.
type queue struct {
	requests []request // of the simulation, by identity
	ring     []int32
	head     int
	n        int
}

func (u *queue) slot(i int) *int32 { return &u.ring[(u.head+i)&(len(u.ring)-1)] }

func (u *queue) at(i int) *request { return &u.requests[*u.slot(i)] }

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

func (u *queue) push(q *request) {
	u.grow()
	*u.slot(u.n) = int32(q.id)
	u.n++
}

func (u *queue) pushFront(q *request) {
	u.grow()
	u.head = (u.head - 1) & (len(u.ring) - 1)
	*u.slot(0) = int32(q.id)
	u.n++
}

func (u *queue) pop() *request {
	q := u.at(0)
	u.head = (u.head + 1) & (len(u.ring) - 1)
	u.n--
	return q
}
