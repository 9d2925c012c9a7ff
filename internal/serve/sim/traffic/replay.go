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
	like        []workload.Request
	coarse      [][]uint32 // contents of their prompts in larger blocks; nil where those of the trace do
	blockTokens int
	known       server.Catalog
	names       []uint32 // of the contents this time around, from 1, as far as they were sent; 0 where none was
	sent        int
}

// newReplay prepares the trace of a mix; nil where it has none with known prompts.
func (m Mix) newReplay() *replay {
	for i := range m {
		if k := &m[i]; k.BlockTokens > 0 {
			return &replay{kind: int32(i), like: k.Like, blockTokens: k.BlockTokens}
		}
	}
	return nil
}

// lengths are those of the next request.
func (r *replay) lengths() (input, output int) {
	at := r.sent % len(r.like)
	if at == 0 {
		for i, name := range r.names {
			if name > 0 {
				r.known.Drop(name - 1)
				r.names[i] = 0
			}
		}
	}
	r.sent++
	return r.like[at].Input, r.like[at].Output
}

// prompt puts the contents of the request that was sent last in place of others. They are its own until it ends.
func (r *replay) prompt(out []uint32) []uint32 {
	out = out[:0]
	for _, b := range r.contents((r.sent - 1) % len(r.like)) {
		if more := int(b) + 1 - len(r.names); more > 0 {
			r.names = append(r.names, make([]uint32, more)...)
		}
		if r.names[b] == 0 {
			r.names[b] = r.known.Add() + 1
		}
		id := r.names[b] - 1
		r.known.Hold(id)
		out = append(out, id)
	}
	return out
}

// contents are those of a prompt of the trace.
func (r *replay) contents(at int) []uint32 {
	if r.coarse != nil {
		return r.coarse[at]
	}
	return r.like[at].Blocks
}

// end ends a request with some contents.
func (r *replay) end(contents []uint32) {
	for _, id := range contents {
		r.known.Drop(id)
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
