package sim

import "plimsoll/internal/units"

// kind orders what happens at the same time: steps end, caches arrive, clients
// send, schedulers see. Only then do replicas begin their next step.
type kind uint8

const (
	stepEnds kind = iota
	cacheArrives
	clientSends
	requestReady
)

// event is something that will happen. Events are ordered by time, kind and
// the order in which they were planned, so that ties are always broken alike.
// They hold places, not pointers: moving them costs the garbage collector
// nothing.
type event struct {
	at      units.Seconds
	kind    kind
	version uint32 // stepEnds: the plan it belongs to
	replica int32  // its place in simulation.replicas
	request int32  // its place in simulation.requests
	planned uint64
}

func (e *event) before(f *event) bool {
	switch {
	case e.at != f.at:
		return e.at < f.at
	case e.kind != f.kind:
		return e.kind < f.kind
	default:
		return e.planned < f.planned
	}
}

// agenda is the events to come: a heap, and a line of what clients send, which they
// mostly plan in the order in which it happens.
type agenda struct {
	heap    []event
	line    []event
	head    int // of the line
	planned uint64
}

// next is the event to come first, nil if there is none.
func (a *agenda) next() *event {
	switch {
	case a.head < len(a.line) && (len(a.heap) == 0 || a.line[a.head].before(&a.heap[0])):
		return &a.line[a.head]
	case len(a.heap) > 0:
		return &a.heap[0]
	default:
		return nil
	}
}

// pop takes the event to come first; there must be one.
func (a *agenda) pop() event {
	e := *a.next()
	if e.kind == clientSends && a.head < len(a.line) && a.line[a.head].planned == e.planned {
		a.head++
	} else {
		a.popHeap()
	}
	return e
}

// send plans that a client sends.
func (a *agenda) send(e event) {
	switch n := len(a.line); {
	case a.head == n:
		a.line, a.head = a.line[:0], 0
	case e.at < a.line[n-1].at:
		a.push(e)
		return
	case n == cap(a.line) && a.head > n/2:
		a.line, a.head = a.line[:copy(a.line, a.line[a.head:])], 0
	}
	e.planned = a.planned
	a.planned++
	a.line = append(a.line, e)
}

func (a *agenda) push(e event) {
	e.planned = a.planned
	a.planned++
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

func (a *agenda) popHeap() {
	h := a.heap
	n := len(h) - 1
	e := h[n]
	h = h[:n]
	i := 0
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
	if n > 0 {
		h[i] = e
	}
	a.heap = h
}
