package server

import (
	"errors"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// Link is the network between a prefill and a decode replica. Every rank of the one sends its
// part of a cache to ranks of the other, all at the same time; so a link is that of the rank
// with the most to carry.
type Link struct {
	BytesPerToken units.Bytes // of KV cache, through the busiest rank
	Bandwidth     units.BytesPerSecond
	Latency       units.Seconds
	// Parallel is the number of caches that a prefill replica sends in parallel, one for each
	// data-parallel rank; 0 means 1. Others wait.
	Parallel int
}

// Carries is how long a cache of so many tokens occupies the link; it arrives one latency
// later.
func (l *Link) Carries(tokens int) units.Seconds {
	if l.BytesPerToken == 0 {
		return 0
	}
	return units.Seconds(float64(l.BytesPerToken*units.Bytes(tokens)) / float64(l.Bandwidth))
}

// Check reports what is wrong with a link.
func (l *Link) Check() error {
	if l.BytesPerToken < 0 || l.BytesPerToken > 0 && !(l.Bandwidth > 0) || !Sound(l.Latency) || l.Parallel < 0 {
		return errors.New("link: bandwidth must be positive, bytes, latency and parallel caches must not be negative")
	}
	return nil
}

// outbox is the links of a prefill replica, over which the caches of prompts go to decode replicas.
type outbox struct {
	link *Link
	free []units.Seconds // when each link has carried what it has
}

func newOutbox(l *Link) outbox { return outbox{l, make([]units.Seconds, max(1, l.Parallel))} }

// send takes the link that is free first, and returns when a cache of so many tokens has arrived.
func (o *outbox) send(now units.Seconds, tokens int) units.Seconds {
	at := 0
	for i := range o.free {
		if o.free[i] < o.free[at] {
			at = i
		}
	}
	o.free[at] = max(now, o.free[at]) + o.link.Carries(tokens)
	return o.free[at] + o.link.Latency
}

// SendCache moves the cache of a request whose prompt is computed to a decode replica, and returns when it arrives. The blocks stay taken
// here until all of it has.
func (r *Replica) SendCache(q *Request) units.Seconds {
	q.State = moving
	r.scheduler.sending++
	r.scheduler.sendingTokens += q.context
	return r.outbox.send(r.scheduler.clock.Now, q.context)
}

// CacheArrived ends a transfer: the request is another replica's.
func (r *Replica) CacheArrived(q *Request) {
	r.scheduler.sending--
	r.scheduler.sendingTokens -= q.context
	r.scheduler.release(q)
	r.load.requests--
	r.wake()
	q.State = queued
	q.transferred = true
}
