package serving

import (
	"math"

	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// slack is how far a step may go over its token budget to fit one more chunk.
const slack = 1.15

// decide divides a step: decode first, then chunks of query tokens each with
// what the slackened budget leaves. ready is the requests in decode, waiting
// those at the head of the queue with the same chunk.
func decide(ready, waiting, query, budget int) (prefill, decode int) {
	decode = min(ready, budget)
	if query > 0 {
		room := int(math.Floor(float64(budget)*slack)) - decode
		prefill = min(max(0, floorDiv(room, query)), waiting)
	}
	return prefill, decode
}

func floorDiv(a, b int) int { return int(math.Floor(float64(a) / float64(b))) }

// group is requests in the same state.
type group struct {
	n     int
	chunk int           // next chunk, while in prefill
	left  int           // tokens to go, while in decode
	first units.Seconds // when their first token came
}

// queue is first in, first out.
type queue struct {
	groups []group
	head   int
	total  int
}

func (q *queue) push(g group) {
	if g.n > 0 {
		q.groups = append(q.groups, g)
		q.total += g.n
	}
}

// take removes up to n requests from the head of the first group.
func (q *queue) take(n int) group {
	g := &q.groups[q.head]
	out := *g
	out.n = min(n, g.n)
	g.n -= out.n
	q.total -= out.n
	if g.n == 0 {
		q.head++
	}
	return out
}

// compact drops what was taken, so that a long run does not grow.
func (q *queue) compact() {
	if q.head > 64 && q.head*2 > len(q.groups) {
		q.groups = q.groups[:copy(q.groups, q.groups[q.head:])]
		q.head = 0
	}
}

// leading is the requests at the head with the head's chunk.
func (q *queue) leading() int {
	n := 0
	for _, g := range q.groups[q.head:] {
		if g.chunk != q.groups[q.head].chunk {
			break
		}
		n += g.n
	}
	return n
}

// mixer simulates chunked prefill with decode in the same steps.
type mixer struct {
	engine  Engine
	load    *Load
	chunks  []workload.Piece
	out     Outcome
	waiting queue // in prefill
	ready   queue // in decode

	clock    units.Seconds
	finished int
	firstSum units.Seconds
	tpotSum  units.Seconds

	prefills map[[2]int]Step
	decodes  map[int]Step
}

// mixed evaluates an aggregated load whose prompts are longer than the budget:
// all requests arrive at once and go through prefill and decode in steps that
// hold both.
func mixed(e Engine, l *Load, o Outcome, chunks []workload.Piece) Outcome {
	m := mixer{
		engine: e, load: l, chunks: chunks, out: o,
		prefills: map[[2]int]Step{}, decodes: map[int]Step{},
	}
	m.out.Chunks = len(chunks)
	m.waiting.push(group{n: o.Concurrency})
	for m.finished < o.Concurrency {
		if !m.step() {
			return m.out
		}
	}
	return m.result()
}

// result turns sums into averages.
func (m *mixer) result() Outcome {
	o, n := &m.out, units.Seconds(m.out.Concurrency)
	o.TTFT = m.firstSum / n
	o.TPOT = m.tpotSum / n
	o.Makespan = m.clock
	tokens := float64(m.load.Output) * float64(o.Concurrency)
	if m.load.Accounting == Steady {
		o.Throughput = tokens / float64(m.clock)
	} else {
		o.Throughput = tokens / float64(o.TTFT+o.TPOT*units.Seconds(m.load.Output))
	}
	return *o
}

// step runs one step, or several equal ones; false when it does not fit.
func (m *mixer) step() bool {
	l := m.load
	budget := l.Budget * l.DP
	query, waiting := budget, 0
	if m.waiting.total > 0 {
		query = m.chunks[m.waiting.groups[m.waiting.head].chunk].Query
		waiting = m.waiting.leading()
	}
	p, d := decide(m.ready.total, waiting, query, budget)
	var time units.Seconds
	if p > 0 {
		s, ok := m.prefill(p)
		if !ok {
			return false
		}
		time = s.Time
	}
	if d > 0 {
		s, ok := m.decode(d)
		if !ok {
			return false
		}
		time = max(time, s.Time/units.Seconds(l.Fold))
	}
	// While nothing waits and all decode, steps are alike until a group ends.
	times := 1
	if m.waiting.total == 0 && d == m.ready.total {
		times = m.shortest()
	}
	m.clock += units.Seconds(times) * time
	decoding := m.ready.total
	m.advancePrefill(p)
	m.advanceDecode(min(d, decoding), times)
	m.waiting.compact()
	m.ready.compact()
	return true
}

// shortest is the fewest tokens any group in decode has to go.
func (m *mixer) shortest() int {
	n := math.MaxInt
	for _, g := range m.ready.groups[m.ready.head:] {
		n = min(n, g.left)
	}
	return n
}

func (m *mixer) prefill(p int) (Step, bool) {
	chunk := m.waiting.groups[m.waiting.head].chunk
	key := [2]int{p, chunk}
	s, ok := m.prefills[key]
	if !ok {
		c := m.chunks[chunk]
		s = m.engine.Prefill(p, c.Query, c.Seq)
		m.prefills[key] = s
		m.out.fuller(&s)
		if m.out.PrefillTime == 0 {
			m.out.PrefillBound, m.out.PrefillBatch = s.Bound, p
		}
		m.out.PrefillTime = s.Time
	}
	if s.left() < 0 {
		m.out.OOM = PrefillPhase
		return s, false
	}
	return s, true
}

func (m *mixer) decode(d int) (Step, bool) {
	s, ok := m.decodes[d]
	if !ok {
		s = m.engine.Decode(d, m.load.DecodeQuery, m.load.DecodeSeq())
		m.decodes[d] = s
		m.out.fuller(&s)
		if s.Time > m.out.DecodeTime {
			m.out.DecodeTime, m.out.DecodeBound = s.Time, s.Bound
		}
	}
	if s.left() < 0 {
		m.out.OOM = DecodePhase
		return s, false
	}
	return s, true
}

// advancePrefill moves n requests a chunk on; the last chunk yields the first
// token.
func (m *mixer) advancePrefill(n int) {
	for n > 0 {
		g := m.waiting.take(n)
		n -= g.n
		g.chunk++
		if g.chunk < len(m.chunks) {
			m.waiting.push(g)
			continue
		}
		m.firstSum += units.Seconds(g.n) * m.clock
		g.first, g.left = m.clock, m.load.Output-1
		if g.left <= 0 {
			m.finished += g.n
			continue
		}
		m.ready.push(g)
	}
}

// advanceDecode gives n requests a number of tokens each.
func (m *mixer) advanceDecode(n, tokens int) {
	for n > 0 {
		g := m.ready.take(n)
		n -= g.n
		g.left -= tokens
		if g.left > 0 {
			m.ready.push(g)
			continue
		}
		m.finished += g.n
		m.tpotSum += units.Seconds(g.n) * (m.clock - g.first) / units.Seconds(m.load.Output-1)
	}
}
