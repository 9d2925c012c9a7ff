package sim

import "github.com/plimsoll-project/plimsoll/internal/basic/units"

// kind orders what happens at the same time: steps end, caches arrive, clients
// send, schedulers see. Only then do replicas begin their next step.
type kind uint8

const (
	stepEnds kind = iota
	cacheArrives
	clientSends
	requestReady
)

// event is a future event. Events are ordered by time, kind and
// the order in which they were planned, so that ties are always broken alike.
// They hold places, not pointers: moving them costs the garbage collector
// nothing.
type event struct {
	at      units.Seconds
	order   uint64 // the kind, above the number of events planned before
	replica int32  // its place among all replicas
	of      uint32 // the request's place; stepEnds: the version of the plan
}

const kindShift = 56

func (e *event) kind() kind { return kind(e.order >> kindShift) }

func (e *event) before(f *event) bool { return e.at < f.at || e.at == f.at && e.order < f.order }

// eventQueue is the events to come. What a client sends, what an API server has done and
// what a link sends is mostly planned in the order in which it happens: such events
// stand in lines, of which only the heads need comparing.
type eventQueue struct {
	heap    []event // steps, and the heads of the lines of replicas
	client  line
	lines   []line // of API servers and of links, two for each replica
	planned uint64
}

// line is events that were planned in order.
type line struct {
	events []event
	head   int
	ahead  bool          // one before the head is in the heap
	last   units.Seconds // when the last one planned comes
}

func (l *line) empty() bool { return l.head == len(l.events) }

func (l *line) pop() event {
	l.head++
	return l.events[l.head-1]
}

func (l *line) push(e event) {
	switch n := len(l.events); {
	case l.head == n:
		l.events, l.head = l.events[:0], 0
	case n == cap(l.events) && l.head > n/2:
		l.events, l.head = l.events[:copy(l.events, l.events[l.head:])], 0
	}
	l.events = append(l.events, e)
}

// line is where an event of an API server or a link stands.
func (a *eventQueue) line(e *event) *line {
	if e.kind() == requestReady {
		return &a.lines[2*e.replica]
	}
	return &a.lines[2*e.replica+1]
}

// clientNext reports whether the client's is the event to come first.
func (a *eventQueue) clientNext() bool {
	l := &a.client
	return l.head < len(l.events) && (len(a.heap) == 0 || l.events[l.head].before(&a.heap[0]))
}

// next is when the first event comes, if there is one.
func (a *eventQueue) next() (at units.Seconds, ok bool) {
	switch {
	case a.clientNext():
		return a.client.events[a.client.head].at, true
	case len(a.heap) > 0:
		return a.heap[0].at, true
	default:
		return 0, false
	}
}

// pop takes the event to come first; there must be one.
func (a *eventQueue) pop() event {
	if a.clientNext() {
		return a.client.pop()
	}
	e := a.heap[0]
	if k := e.kind(); k == requestReady || k == cacheArrives {
		l := a.line(&e)
		if !l.empty() {
			a.sink(l.pop())
			return e
		}
		l.ahead = false
	}
	n := len(a.heap) - 1
	last := a.heap[n]
	a.heap = a.heap[:n]
	if n > 0 {
		a.sink(last)
	}
	return e
}

// plan numbers an event of a kind.
func (a *eventQueue) plan(at units.Seconds, k kind, replica int32, of uint32) event {
	a.planned++
	return event{at: at, order: uint64(k)<<kindShift | a.planned, replica: replica, of: of}
}

// send plans that a client sends.
func (a *eventQueue) send(at units.Seconds, request int) {
	e := a.plan(at, clientSends, 0, uint32(request))
	if l := &a.client; l.empty() || at >= l.events[len(l.events)-1].at {
		l.push(e)
	} else {
		a.push(e)
	}
}

// reply plans that a session sends its next request.
func (a *eventQueue) reply(at units.Seconds, session int) {
	a.push(a.plan(at, clientSends, sessionsOwn, uint32(session)))
}

// sessionsOwn marks what a session sends, in place of a replica.
const sessionsOwn = -1

// step plans the end of a plan's steps.
func (a *eventQueue) step(at units.Seconds, replica int32, version uint32) {
	a.push(a.plan(at, stepEnds, replica, version))
}

// follow plans what an API server or a link does, mostly after all that it is to do before;
// of several links one may be done earlier than another that began before.
func (a *eventQueue) follow(at units.Seconds, k kind, replica int32, request int) {
	e := a.plan(at, k, replica, uint32(request))
	l := a.line(&e)
	if l.ahead && at >= l.last {
		l.last = at
		l.push(e)
		return
	}
	l.ahead, l.last = true, max(at, l.last)
	a.push(e)
}

func (a *eventQueue) push(e event) {
	a.heap = append(a.heap, e)
	h := a.heap
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !e.before(&h[up]) {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = e
}

// sink puts an event in the place of the heap's first.
func (a *eventQueue) sink(e event) {
	h := a.heap
	n, i := len(h), 0
	for {
		down := 2*i + 1
		if down >= n {
			break
		}
		if down+1 < n && h[down+1].before(&h[down]) {
			down++
		}
		if !h[down].before(&e) {
			break
		}
		h[i] = h[down]
		i = down
	}
	h[i] = e
}
