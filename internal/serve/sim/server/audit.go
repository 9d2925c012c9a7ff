package server

import (
	"errors"
	"fmt"
)

// Audit counts the blocks of a replica one by one, and reports what does not add up. It takes long: tests ask for it after every step.
func (r *Replica) Audit() error {
	s, kv := &r.scheduler, r.scheduler.kv.(*blockStore)
	private, shares := 0, 0
	live := map[[2]int]bool{} // entries of the prefix cache in use, by content
	requests := r.inbox.incoming.requests
	for i := range requests {
		at := requests[i]
		if !r.keeps(&at) {
			continue
		}
		if at.State == decoding {
			at.context = int(at.offset + s.all[at.batch].decode.clock)
		}
		private += s.admission.Holds(s, &at) - at.shared*kv.prefix.span
		shares += at.shared
		for entry := range at.shared {
			contents := kv.prefix.contents[i]
			content, begins := kv.prefix.locate(contents, entry)
			live[[2]int{int(contents[content]), entry - begins}] = true
		}
	}
	p := &kv.prefix
	if len(live) != p.live || shares != p.shares {
		return fmt.Errorf("%d contents in use, %d counted; %d shares, %d counted", len(live), p.live, shares, p.shares)
	}
	if held := private + len(live)*p.span; held != kv.Held() || kv.free < 0 || held+p.idle.n*p.span+kv.free != kv.total {
		return fmt.Errorf("%d blocks held, %d counted; %d idle, %d free of %d", held, kv.Held(), p.idle.n*p.span, kv.free, kv.total)
	}
	return nil
}

// keeps reports whether a request of the simulation has blocks here.
func (r *Replica) keeps(q *Request) bool {
	switch {
	case r.does == DecodeOnly:
		return int(q.Decoder) == r.Index && (q.State == decoding || q.State == ready || q.State == prefilling && q.generated > 0)
	case int(q.Worker) != r.Index:
		return false
	case r.does == PrefillOnly: // what has a token is computed again where it was generated
		return q.State == moving || (q.State == prefilling || q.State == ready) && q.generated == 0
	default:
		return q.State == prefilling || q.State == ready || q.State == decoding || q.State == moving
	}
}

// AuditEmpty reports what a replica keeps when all requests have ended.
func (r *Replica) AuditEmpty() error {
	s, kv := &r.scheduler, r.scheduler.kv.(*blockStore)
	if kv.Held() != 0 || r.load != (routingLoad{}) || s.running.n != 0 || kv.prefix.live != 0 || s.inFlight != 0 || s.reservedBlocks != 0 || s.inFlightChunkTokens != 0 {
		return errors.New("a replica is not empty at the end")
	}
	return nil
}
