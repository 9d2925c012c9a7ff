package sim

import (
	"cmp"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// naive is a second simulator, of one replica without prefix cache: every step
// is taken, every request looked at in every step, every sum added up again. It
// is slow and shares no code with the first beyond the settings, so that one
// can be held against the other.
type naive struct {
	e       server.Engine
	step    server.Pipeline
	all     []*naiveRequest
	unseen  []*naiveRequest // sent, in order of sending; not yet at the API server
	api     []*naiveRequest // at the API server or in its outbox
	noticed []*naiveRequest
	waiting []*naiveRequest
	running []*naiveRequest // in order of admission
	next    int
	window  int
	think   units.Seconds
	now     units.Seconds
	apiFree units.Seconds
	since   int
	waited  int
	pending int
	grown   int
	evicted bool
	fresh   bool
	planned int
	lanes   []naiveLane // a batch for each stage
	lane    int         // the one that is filled
	stages  []units.Seconds
	queue   []int // free blocks by number, in the order in which they became free
}

// naiveLane is a batch, in flight until its end.
type naiveLane struct {
	steps   int64 // with decoding
	decodes bool
	hold    bool
	parts   []naivePart
	busy    bool
	end     units.Seconds
}

// naivePart is a piece of a prompt in flight.
type naivePart struct {
	q    *naiveRequest
	last bool
	of   int // preemptions of the request so far
}

type naiveRequest struct {
	id, input, output, need, context, generated, planned int
	prefilled, done                                      bool
	chunk, lane                                          int
	arrived, ready, first, end                           units.Seconds
	preempted                                            int
	has, had                                             []int // blocks by number, and those it had when it was preempted
}

func newNaive(c *Config) *naive {
	source := traffic.NewSource(c.Client, c.Seed)
	window, think := source.Clients()
	n := &naive{e: c.Workers.Engine.WithDefaults(), step: c.Workers.Stepper.(server.Pipeline), window: window, think: think}
	n.lanes, n.stages = make([]naiveLane, n.e.Stages), make([]units.Seconds, n.e.Stages)
	for i, q := range source.Requests {
		n.all = append(n.all, &naiveRequest{id: i, input: q.Input, output: q.Output, need: q.Input, arrived: q.Arrived})
	}
	for i := range n.e.Blocks {
		n.queue = append(n.queue, i)
	}
	return n
}

// number hands out the blocks that were taken since.
func (n *naive) number() {
	for _, q := range n.running {
		for len(q.has) < n.held(q) {
			block := n.queue[0]
			q.has, n.queue = append(q.has, block), n.queue[1:]
			for _, other := range n.waiting { // whose contents are overwritten
				if i := slices.Index(other.had, block); i >= 0 {
					other.had = other.had[:i]
				}
			}
		}
	}
}

// unnumber returns the blocks of a request, the last first.
func (n *naive) unnumber(q *naiveRequest) {
	slices.Reverse(q.has)
	n.queue = append(n.queue, q.has...)
	q.has = nil
}

// again is how many tokens of a preempted request are in blocks that nobody took since.
func (n *naive) again(q *naiveRequest) int {
	n.number()
	return min(len(q.had), (q.need-1)/n.e.BlockTokens) * n.e.BlockTokens
}

func (n *naive) blocks(tokens int) int {
	return int(math.Ceil(float64(tokens) / float64(n.e.BlockTokens)))
}

func (n *naive) held(q *naiveRequest) int {
	if n.e.Policy == server.InFlight {
		return n.blocks(q.input + q.output + int(math.Ceil(n.e.AcceptedPerStep)) - 1)
	}
	return n.blocks(q.context + q.chunk)
}

func (n *naive) free() int {
	free := n.e.Blocks
	for _, q := range n.running {
		free -= n.held(q)
	}
	return free
}

// decoding are the requests of the batch that generate.
func (n *naive) decoding() []*naiveRequest { return n.decodingIn(n.lane) }

func (n *naive) decodingIn(lane int) (set []*naiveRequest) {
	for _, q := range n.running {
		if n.e.PrefillAhead && n.e.Policy == server.PrefillFirst && len(set) == n.e.BatchSequences {
			break
		}
		if q.prefilled && q.lane == lane {
			set = append(set, q)
		}
	}
	return set
}

// room is how many more may be admitted to the batch.
func (n *naive) room() int {
	in := 0
	for _, q := range n.running {
		if q.chunk > 0 || q.prefilled && q.lane == n.lane {
			in++
		}
	}
	return min(n.e.MaxSequences-len(n.running), n.e.BatchSequences-in)
}

// gain is the tokens of a batch's next step with decoding.
func (n *naive) gain(lane int) int {
	steps := float64(n.lanes[lane].steps)
	return int(math.Floor((steps+1)*n.e.AcceptedPerStep) - math.Floor(steps*n.e.AcceptedPerStep))
}

// spare is the blocks left after the decoding of the steps in flight and of the next, and
// where prompts are admitted as a whole, the rest of those.
func (n *naive) spare() int {
	spare := n.free()
	if n.e.Policy == server.InFlight {
		return spare
	}
	for i := range n.lanes {
		if i != n.lane && !n.lanes[i].decodes {
			continue
		}
		for _, q := range n.decodingIn(i) {
			spare -= n.blocks(q.context+n.gain(i)) - n.blocks(q.context)
		}
	}
	for _, q := range n.running {
		if n.e.Policy == server.PrefillFirst && !q.prefilled {
			spare -= n.blocks(q.need) - n.held(q)
		}
	}
	return spare
}

func (n *naive) preempt() {
	last := len(n.running) - 1
	q := n.running[last]
	n.number()
	if n.e.PrefixCache {
		q.had = slices.Clone(q.has[:q.context/n.e.BlockTokens])
		if n.e.Policy == server.PrefillFirst {
			q.had = q.had[:min(len(q.had), q.input/n.e.BlockTokens)]
		}
	}
	n.unnumber(q)
	n.running = n.running[:last]
	q.need, q.context, q.prefilled = q.input+q.generated, 0, false
	q.preempted++
	n.waiting = slices.Insert(n.waiting, 0, q)
	n.evicted = true
}

func (n *naive) send(at units.Seconds) {
	q := n.all[n.next]
	q.arrived, q.planned = at, n.planned
	n.planned++
	n.next++
	n.unseen = append(n.unseen, q)
}

// accept has the API server take what was sent before the time.
func (n *naive) accept(before units.Seconds) {
	for {
		if n.window == 0 && n.next < len(n.all) {
			n.send(n.all[n.next].arrived)
		}
		slices.SortFunc(n.unseen, func(a, b *naiveRequest) int {
			return cmp.Or(cmp.Compare(a.arrived, b.arrived), a.planned-b.planned)
		})
		if len(n.unseen) == 0 || n.unseen[0].arrived >= before {
			return
		}
		q := n.unseen[0]
		n.unseen = n.unseen[1:]
		if n.blocks(q.input+q.output+int(math.Ceil(n.e.AcceptedPerStep))-1) > n.e.Blocks {
			q.done, q.end = true, q.arrived
			if n.window > 0 && n.next < len(n.all) {
				n.send(q.arrived + n.think)
			}
			continue
		}
		q.ready = max(n.apiFree, q.arrived) + n.e.APIFixed + n.e.APIPerToken*units.Seconds(q.input)
		n.apiFree = q.ready
		n.api = append(n.api, q)
	}
}

// look has the scheduler see what it can.
func (n *naive) look() {
	n.accept(units.Seconds(math.Nextafter(float64(n.now), math.Inf(1))))
	idle := len(n.running)+len(n.waiting) == 0
	ahead := n.e.Overlapped && !idle && !n.fresh
	n.fresh = idle
	if ahead { // this step was filled when the one before it began
		n.waiting, n.noticed = append(n.waiting, n.noticed...), nil
	}
	if len(n.running) == 0 || n.since%n.e.ReceiveInterval == 0 {
		for len(n.api) > 0 && n.api[0].ready <= n.now {
			n.noticed = append(n.noticed, n.api[0])
			n.api = n.api[1:]
			n.since = 0
		}
	}
	if !ahead {
		n.waiting, n.noticed = append(n.waiting, n.noticed...), nil
	}
}

// run simulates to the end.
func (n *naive) run() {
	for range max(1, n.window) {
		if n.window > 0 && n.next < len(n.all) {
			n.send(n.all[n.next].arrived)
		}
	}
	for n.left() {
		n.look()
		for n.choose() {
			empty := len(n.decoding()) == 0
			n.evicted = false
			if !n.launch(n.fill()) && empty && (!n.evicted || len(n.lanes) == 1) {
				break
			}
		}
		n.wait()
	}
}

// left reports whether a request has not ended.
func (n *naive) left() bool {
	return slices.ContainsFunc(n.all, func(q *naiveRequest) bool { return !q.done })
}

// choose takes up the batch that came back first of those with requests, else one without.
func (n *naive) choose() bool {
	best := -1
	for i := range n.lanes {
		if n.lanes[i].busy {
			continue
		}
		has := len(n.decodingIn(i)) > 0
		if best < 0 || has && (len(n.decodingIn(best)) == 0 || n.lanes[i].end < n.lanes[best].end) {
			best = i
		}
	}
	n.lane = max(0, best)
	return best >= 0
}

// launch sends the batch that was filled through the stages, if there is anything in it.
func (n *naive) launch(decodes bool) bool {
	var b server.Batch
	l := &n.lanes[n.lane]
	l.parts, l.decodes = nil, false
	for _, q := range n.running {
		if q.chunk == 0 {
			continue
		}
		b.PrefillRequests++
		b.PrefillTokens += q.chunk
		b.PrefillContext += q.context
		b.PrefillPairs += float64(q.chunk) * (float64(q.context) + float64(q.chunk+1)/2)
		q.context += q.chunk
		q.chunk = 0
		if q.context == q.need {
			b.Sampled++
		}
		l.parts = append(l.parts, naivePart{q, q.context == q.need, q.preempted})
	}
	for _, q := range n.decoding() {
		if decodes {
			b.Decode++
			b.Sampled++
			even := float64(l.steps) * n.e.AcceptedPerStep
			b.DecodeContext += float64(q.context) + even - math.Floor(even)
			l.decodes = true
		}
	}
	if b.Sampled == 0 && b.PrefillTokens == 0 {
		return false
	}
	took, slowest := n.step.Through(b)
	each, at := took/units.Seconds(len(n.stages)), n.now
	for i, free := range n.stages {
		at = max(at, free) + each
		n.stages[i] = at + max(0, slowest-each)
	}
	l.busy, l.end = true, at
	return true
}

// wait lets time pass until a batch comes back or, if one could be filled, something comes in.
func (n *naive) wait() {
	soonest, lane, idle := units.Seconds(math.Inf(1)), -1, false
	for i := range n.lanes {
		if l := &n.lanes[i]; !l.busy {
			idle = true
		} else if l.end < soonest {
			soonest, lane = l.end, i
		}
	}
	if idle {
		for _, q := range n.unseen {
			if q.arrived > n.now {
				soonest = min(soonest, q.arrived)
			}
		}
		for _, q := range n.api {
			if q.ready > n.now {
				soonest = min(soonest, q.ready)
			}
		}
	}
	if math.IsInf(float64(soonest), 1) {
		if n.left() {
			panic("naive: nothing will ever happen")
		}
		return
	}
	n.now = soonest
	n.accept(n.now)
	if lane >= 0 && n.lanes[lane].end == n.now {
		n.land(lane)
	}
}

// land ends the step of a batch.
func (n *naive) land(lane int) {
	l := &n.lanes[lane]
	l.busy = false
	n.since++
	every := n.e.RankWaitSteps
	switch {
	case len(l.parts) > 0:
		n.since = 0
	case l.hold:
		n.waited++
	case n.e.Policy == server.InFlight && n.e.Ranks > 1 && every > 0:
		n.waited = (n.waited + 1) % every
	}
	n.tokens(lane)
	l.decodes, l.hold = false, false
}

// tokens hands out what the step brought. Of those that end together, those
// that generated come first, by identity.
func (n *naive) tokens(lane int) {
	var ended, after []*naiveRequest
	l := &n.lanes[lane]
	gain := n.gain(lane)
	if l.decodes {
		for _, q := range n.decodingIn(lane) {
			q.context += gain
			if q.generated += gain; q.generated >= q.output {
				ended = append(ended, q)
			}
		}
		l.steps++
	}
	n.number()
	for _, p := range l.parts {
		q := p.q
		if !p.last || p.of != q.preempted {
			continue
		}
		q.prefilled, q.lane = true, lane
		if q.generated++; q.generated == 1 {
			q.first = n.now
		}
		if q.generated == q.output {
			after = append(after, q)
		}
	}
	slices.SortFunc(ended, func(a, b *naiveRequest) int { return a.id - b.id })
	for _, q := range append(ended, after...) {
		q.done, q.end = true, n.now
		n.unnumber(q)
		n.running = slices.DeleteFunc(n.running, func(p *naiveRequest) bool { return p == q })
		if n.window > 0 && n.next < len(n.all) {
			n.send(n.now + n.think)
		}
	}
}
