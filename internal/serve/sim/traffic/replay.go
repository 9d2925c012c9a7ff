package traffic

import (
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
)

// replay sends the requests of a trace whose prompts are known in their order, over and over: what a prompt has in common with
// others depends on how far apart they come. Contents are new each time around, or a prompt would be found that nobody sends
// twice.
type replay struct {
	kind        int32 // of the mix
	requests    []workload.Request
	coarse      [][]uint32 // blocks of their prompts where a KV block holds several of the trace; else nil
	blockTokens int        // tokens in a block of the trace
	numbers     server.Catalog
	round       []uint32 // by block of the trace: its number this time around, from 1; 0 where it was not sent yet
	sent        int      // requests so far
}

// newReplay prepares the trace of a mix; nil where it has none with known prompts.
func (m Mix) newReplay() *replay {
	for i := range m {
		if k := &m[i]; k.BlockTokens > 0 {
			return &replay{kind: int32(i), requests: k.Like, blockTokens: k.BlockTokens}
		}
	}
	return nil
}

// lengths are those of the next request.
func (r *replay) lengths() (input, output int) {
	at := r.sent % len(r.requests)
	if at == 0 {
		for i, name := range r.round {
			if name > 0 {
				r.numbers.Drop(name - 1)
				r.round[i] = 0
			}
		}
	}
	r.sent++
	return r.requests[at].Input, r.requests[at].Output
}

// prompt puts the contents of the request that was sent last in place of others. They are its own until it ends.
func (r *replay) prompt(out []uint32) []uint32 {
	out = out[:0]
	for _, b := range r.contents((r.sent - 1) % len(r.requests)) {
		if more := int(b) + 1 - len(r.round); more > 0 {
			r.round = append(r.round, make([]uint32, more)...)
		}
		if r.round[b] == 0 {
			r.round[b] = r.numbers.Add() + 1
		}
		id := r.round[b] - 1
		r.numbers.Hold(id)
		out = append(out, id)
	}
	return out
}

// contents are those of a prompt of the trace.
func (r *replay) contents(at int) []uint32 {
	if r.coarse != nil {
		return r.coarse[at]
	}
	return r.requests[at].Blocks
}

// end ends a request with some contents.
func (r *replay) end(contents []uint32) {
	for _, id := range contents {
		r.numbers.Drop(id)
	}
}

// replayKnown prepares a load for the prompts of a mix that are known.
func (l *load) replayKnown(m Mix) {
	if l.replay = m.newReplay(); l.replay != nil {
		l.blockTokens = l.replay.blockTokens
	}
}

// keepContents gives a request that was drawn beforehand its contents.
func (l *load) keepContents(q *server.Request) {
	if l.replay == nil {
		return
	}
	var own []uint32
	if q.Kind == l.replay.kind {
		own = l.replay.prompt(nil)
	}
	l.contents = append(l.contents, own)
}
