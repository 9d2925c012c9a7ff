package sim

import (
	"cmp"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// naive is a second simulator, of one replica without prefix cache: every step
// is taken, every request looked at in every step, every sum added up anew. It
// is slow and shares no code with the first beyond the settings, so that one
// can be held against the other.
type naive struct {
	e       Engine
	step    Stepper
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
	steps   int64 // with decoding
	evicted bool
	fresh   bool
	planned int
}

type naiveRequest struct {
	id, input, output, need, context, generated, planned int
	prefilled, done                                      bool
	chunk                                                int
	arrived, ready, first, end                           units.Seconds
	preempted                                            int
}

func newNaive(c *Config) *naive {
	l := c.Client.load(c.Seed)
	n := &naive{e: c.Workers.Engine.normal(), step: c.Workers.Stepper, window: l.window, think: l.think}
	for i, q := range l.requests {
		n.all = append(n.all, &naiveRequest{id: i, input: q.input, output: q.output, need: q.input, arrived: q.arrived})
	}
	return n
}

func (n *naive) blocks(tokens int) int {
	return int(math.Ceil(float64(tokens) / float64(n.e.BlockTokens)))
}

func (n *naive) held(q *naiveRequest) int {
	if n.e.Policy == InFlight {
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

func (n *naive) decoding() (set []*naiveRequest) {
	for _, q := range n.running {
		if n.e.PrefillAhead && n.e.Policy == PrefillFirst && len(set) == n.e.MaxSequences {
			break
		}
		if q.prefilled {
			set = append(set, q)
		}
	}
	return set
}

// gain is the tokens of the next step with decoding.
func (n *naive) gain() int {
	return int(math.Floor(float64(n.steps+1)*n.e.AcceptedPerStep) - math.Floor(float64(n.steps)*n.e.AcceptedPerStep))
}

// spare is the blocks left after the decoding of the next step.
func (n *naive) spare() int {
	spare := n.free()
	if n.e.Policy == InFlight {
		return spare
	}
	for _, q := range n.decoding() {
		spare -= n.blocks(q.context+n.gain()) - n.blocks(q.context)
	}
	return spare
}

func (n *naive) preempt() {
	last := len(n.running) - 1
	q := n.running[last]
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
	if len(n.running) == 0 || n.since >= n.e.ReceiveInterval {
		for len(n.api) > 0 && n.api[0].ready <= n.now {
			n.noticed = append(n.noticed, n.api[0])
			n.api = n.api[1:]
		}
		n.since = 0
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
	n.since = n.e.ReceiveInterval
	for slices.ContainsFunc(n.all, func(q *naiveRequest) bool { return !q.done }) {
		n.look()
		n.evicted = false
		decodes := n.fill()
		n.take(decodes)
	}
}

// take takes the step that was filled, or waits.
func (n *naive) take(decodes bool) {
	var b Batch
	generate := n.decoding()
	for _, q := range n.running {
		switch {
		case q.chunk > 0:
			b.PrefillRequests++
			b.PrefillTokens += q.chunk
			b.PrefillContext += q.context
			b.PrefillPairs += float64(q.chunk) * (float64(q.context) + float64(q.chunk+1)/2)
			if q.context+q.chunk == q.need {
				b.Sampled++
			}
		case decodes && slices.Contains(generate, q):
			b.Decode++
			b.Sampled++
			even := float64(n.steps) * n.e.AcceptedPerStep
			b.DecodeContext += float64(q.context) + even - math.Floor(even)
		}
	}
	if b.Sampled == 0 && b.PrefillTokens == 0 {
		n.idle()
		return
	}
	n.now += n.step.Step(b)
	n.since++
	if b.PrefillRequests > 0 {
		n.since = n.e.ReceiveInterval
	}
	n.accept(n.now)
	n.tokens(b.Decode > 0)
}

func (n *naive) idle() {
	soonest := units.Seconds(math.Inf(1))
	for _, q := range n.unseen {
		soonest = min(soonest, q.arrived)
	}
	for _, q := range n.api {
		soonest = min(soonest, q.ready)
	}
	n.now = max(n.now, soonest)
	n.since = n.e.ReceiveInterval
}

// tokens hands out what the step brought. Of those that end together, those
// that generated come first, by identity.
func (n *naive) tokens(decoded bool) {
	var ended, after []*naiveRequest
	gain := n.gain()
	generate := n.decoding()
	if decoded {
		n.steps++
	}
	for _, q := range n.running {
		switch {
		case q.chunk > 0:
			q.context += q.chunk
			q.chunk = 0
			if q.context < q.need {
				continue
			}
			q.prefilled = true
			if q.generated++; q.generated == 1 {
				q.first = n.now
			}
			if q.generated == q.output {
				after = append(after, q)
			}
		case decoded && slices.Contains(generate, q):
			q.context += gain
			if q.generated += gain; q.generated >= q.output {
				ended = append(ended, q)
			}
		}
	}
	slices.SortFunc(ended, func(a, b *naiveRequest) int { return a.id - b.id })
	for _, q := range append(ended, after...) {
		q.done, q.end = true, n.now
		n.running = slices.DeleteFunc(n.running, func(p *naiveRequest) bool { return p == q })
		if n.window > 0 && n.next < len(n.all) {
			n.send(n.now + n.think)
		}
	}
}
