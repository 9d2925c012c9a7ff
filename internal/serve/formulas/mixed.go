package formulas

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
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

// mixer simulates chunked prefill with decode in the same steps.
type mixer struct {
	engine Engine
	load   *Load
	chunks []workload.Piece
	out    figures.Outcome
	// resident is the cache of all requests: none leaves before its last token, and
	// all have begun before the first has.
	resident units.Bytes

	// Requests go through a chunk before any goes on to the next: todo have chunk
	// before them, done the one after it.
	chunk, todo, done int
	ready             queue // in decode
	finished          int

	clock     units.Seconds
	firstSum  units.Seconds // of the times of first tokens, over requests
	finishSum units.Seconds // of those of last tokens
}

// mixed evaluates an aggregated load whose prompts are longer than the budget:
// all requests arrive at once and go through prefill and decode in steps that
// hold both.
func mixed(e Engine, l *Load, o figures.Outcome, chunks []workload.Piece) figures.Outcome {
	m := newMixer(e, l, o, chunks)
	for m.finished < o.Concurrency {
		if !m.step() {
			return m.out
		}
	}
	return m.result()
}

func newMixer(e Engine, l *Load, o figures.Outcome, chunks []workload.Piece) *mixer {
	m := &mixer{
		engine: e, load: l, chunks: chunks, out: o, todo: o.Concurrency, resident: e.Cached(o.Concurrency, l.DecodeSeq()),
	}
	m.out.Chunks = len(chunks)
	return m
}

// result turns sums into averages.
func (m *mixer) result() figures.Outcome {
	o, n := &m.out, units.Seconds(m.out.Concurrency)
	o.TTFT = m.firstSum / n
	if m.load.Output > 1 {
		o.TPOT = (m.finishSum - m.firstSum) / n / units.Seconds(m.load.Output-1)
	}
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
	p, d := decide(m.ready.total, m.todo, m.chunks[m.chunk].Query, budget)
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
	times := m.alike(p, d)
	m.clock += units.Seconds(times) * time
	m.advance(p, d, times)
	return true
}

// alike is how many steps from here are the same: while nothing decodes and
// nothing will, until the chunk is through; while no prompt is computed, until a
// request in decode ends.
func (m *mixer) alike(p, d int) int {
	switch {
	case d == 0 && m.chunk < len(m.chunks)-1:
		return m.todo / p
	case p == 0 && d == m.ready.total:
		return m.ready.shortest()
	}
	return 1
}

func (m *mixer) prefill(p int) (Step, bool) {
	c := m.chunks[m.chunk]
	s := m.engine.Prefill(p, c.Query, c.Seq).holding(m.resident)
	fuller(&m.out, &s)
	if m.out.PrefillTime == 0 {
		m.out.PrefillBound, m.out.PrefillBatch = s.Bound, p
	}
	m.out.PrefillTime = s.Time
	if s.left() < 0 {
		m.out.OOM = figures.Prefill
	}
	return s, s.left() >= 0
}

func (m *mixer) decode(d int) (Step, bool) {
	s := m.engine.Decode(d, m.load.DecodeQuery, m.load.DecodeSeq()).holding(m.resident)
	fuller(&m.out, &s)
	if s.Time > m.out.DecodeTime {
		m.out.DecodeTime, m.out.DecodeBound = s.Time, s.Bound
	}
	if s.left() < 0 {
		m.out.OOM = figures.Decode
	}
	return s, s.left() >= 0
}

// advance moves p requests a chunk on and gives d a token, some times over.
func (m *mixer) advance(p, d, times int) {
	first := m.advancePrefill(times * p)
	// Those with a first token stand before those that have had another one.
	if d == m.ready.total {
		m.finish(m.ready.all(times * min(d, 1)))
		m.ready.push(first, true)
	} else {
		m.ready.push(first, false)
		m.finish(m.ready.some(d))
	}
}

// advancePrefill moves n requests a chunk on and returns those that go on to
// decode; the last chunk yields the first token.
func (m *mixer) advancePrefill(n int) cohort {
	m.todo -= n
	if m.chunk < len(m.chunks)-1 {
		m.done += n
		if m.todo == 0 {
			m.chunk, m.todo, m.done = m.chunk+1, m.done, 0
		}
		return cohort{}
	}
	m.firstSum += units.Seconds(n) * m.clock
	if m.load.Output > 1 {
		return cohort{n, m.load.Output - 1}
	}
	m.finish(n)
	return cohort{}
}

// finish counts requests that end now.
func (m *mixer) finish(n int) {
	m.finished += n
	m.finishSum += units.Seconds(n) * m.clock
}
