package sim

import (
	"fmt"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// newSimulation checks a configuration and sets the stage.
func newSimulation(c *Config) (*simulation, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	s := &simulation{config: c}
	s.draw()
	s.conversations = s.load.conversations
	s.series = newSeries()
	if e := &c.Workers.Engine; e.PrefixCache && !s.load.coarsen(e.BlockTokens) {
		return nil, fmt.Errorf("workers: the KV blocks have %d tokens and the trace's blocks %d: one must be a multiple of the other",
			e.BlockTokens, s.load.blockTokens)
	}
	workers, decode := max(1, c.Workers.Replicas), 0
	if c.Decode != nil {
		decode = max(1, c.Decode.Replicas)
	}
	s.replicas = make([]replica, workers+decode)
	s.events.lines = make([]line, 2*len(s.replicas))
	s.workers = s.build(&c.Workers, 0, workers, c.Decode == nil)
	s.workers.countsTokens = c.Workers.Routing.affinity().tokens
	for i := range s.workers.replicas {
		r := &s.workers.replicas[i]
		s.remember(r.scheduler.engine, r.scheduler.kv.(*blockStore))
	}
	if c.Decode != nil {
		for i := range s.workers.replicas {
			s.workers.replicas[i].outbox.free = make([]units.Seconds, max(1, c.Link.Parallel))
		}
		caches := *c.Decode
		caches.Engine.ReceiveInterval = 1 // arrived caches are looked for in every step
		s.decode = s.build(&caches, workers, workers+decode, true)
		for i := range s.decode.replicas {
			s.decode.replicas[i].heldTokens = caches.Engine.Held
		}
	}
	s.watchTimeline()
	if s.steady == nil {
		s.meter()
	}
	return s, nil
}

// draw prepares the requests: all of them, or places for those in flight where they come without end.
func (s *simulation) draw() {
	c := s.config
	if c.Steady == nil {
		s.load = c.Client.load(c.Seed)
	} else if s.load = c.Client.endless(c.Seed); s.load.draw != nil {
		n := s.load.clients
		if n == 0 {
			n = mostInFlight(c)
		}
		s.load.requests = places(n)
		s.steady = newSteady(c, n)
	}
	s.requests = s.load.requests
	s.left = len(s.requests)
	if s.steady != nil {
		return
	}
	for i := range s.requests {
		q := &s.requests[i]
		q.id, q.serial, q.prefillTokens = i, int32(i), q.input
	}
}

// mostInFlight is how many requests of an open loop there is room for: many times as many as all replicas run at
// a time. With more it is overloaded.
func mostInFlight(c *Config) int {
	const times, least, most = 16, 1 << 12, 1 << 18
	n := max(1, c.Workers.Replicas) * c.Workers.Engine.MaxSequences
	if c.Decode != nil {
		n += max(1, c.Decode.Replicas) * c.Decode.Engine.MaxSequences
	}
	return min(max(times*n, least), most)
}

// build makes the replicas of a pool, in the places given.
func (s *simulation) build(p *Pool, from, to int, decodes bool) pool {
	engine, recent := p.Engine.normal(), new(stepMemo)
	made := pool{router: p.Routing.router(s.conversations), replicas: s.replicas[from:to]}
	admission, formation := admissionOf(&engine), formationOf(&engine)
	batches, stores := make([]microBatch, engine.Stages*len(made.replicas)), make([]blockStore, len(made.replicas))
	for i := range batches {
		batches[i] = microBatch{
			number: uint8(i % engine.Stages),
			decode: newDecodeSet(&engine, admission.Grows(), s.requests), gaps: gapMeter{all: &s.gaps, requests: s.requests},
		}
	}
	for i := range made.replicas {
		own := batches[i*engine.Stages : (i+1)*engine.Stages]
		stores[i] = newBlockStore(&engine)
		r := &made.replicas[i]
		r.place, r.index, r.cluster = int32(from+i), i, s
		r.device = device{stepper: p.Stepper, launches: newLaunchQueue(p, decodes), pipeline: newPipeline(p.Stepper, engine.Stages), recent: recent}
		r.inbox.incoming.requests = s.requests
		x := &r.scheduler
		x.engine, x.clock, x.kv, x.admission, x.formation = &engine, &s.clock, &stores[i], admission, formation
		x.decodes, x.tokensPerStep = decodes, engine.tokensPerStep()
		x.microBatch, x.all = &own[0], own
		x.waiting.requests, x.running.requests, x.decodeQueue.requests = s.requests, s.requests, s.requests
	}
	return made
}

// remember gives a replica a prefix cache, if it is to have one. Decode replicas
// have none: what comes over the link is not shared.
func (s *simulation) remember(e *Engine, kv *blockStore) {
	if !e.PrefixCache {
		return
	}
	if s.load.prefix > 0 {
		s.warm(e, kv)
		return
	}
	tier := e.Host.room()
	if s.conversations != nil {
		s.converse(e, kv)
		kv.prefix.host.room = tier
		return
	}
	replayed := s.steady != nil && s.load.replay != nil
	if replayed && s.load.contents == nil {
		s.load.contents = make([][]uint32, len(s.requests))
	}
	if s.load.contents == nil {
		return
	}
	kinds := 0
	for _, blocks := range s.load.contents {
		for _, b := range blocks {
			kinds = max(kinds, int(b)+1)
		}
	}
	tokens := s.load.blockTokens
	span := tokens / e.BlockTokens
	kv.prefix = newPrefix(s.load.contents, kinds, tokens, span)
	if replayed {
		kv.prefix.numbers = &s.load.replay.known
	}
	kv.prefix.host.room = tier / span
}

// converse gives a replica a cache for the prompts and answers of sessions.
func (s *simulation) converse(e *Engine, kv *blockStore) {
	if s.conversations.known == nil {
		s.conversations.remember(e.BlockTokens)
		s.load.contents = make([][]uint32, len(s.requests))
	}
	kv.prefix = newPrefix(s.load.contents, 0, e.BlockTokens, 1)
	p := &kv.prefix
	p.numbers, p.answers = s.conversations.known, true
	for _, entries := range s.conversations.system {
		p.common = append(p.common, make([]int32, entries+1))
	}
}

// warm gives a replica what all prompts begin with: whole blocks, as one entry, since
// none begins with less.
func (s *simulation) warm(e *Engine, kv *blockStore) {
	span := s.load.prefix / e.BlockTokens
	if span == 0 || span > kv.total {
		return
	}
	if s.load.contents == nil {
		s.load.contents = slices.Repeat([][]uint32{{0}}, len(s.requests))
	}
	kv.prefix = newPrefix(s.load.contents, 1, span*e.BlockTokens, span)
	kv.prefix.warm(0)
	kv.free -= span
}
