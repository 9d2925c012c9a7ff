package server

import "github.com/plimsoll-project/plimsoll/internal/basic/units"

// microBatch is requests that take their steps together. Without a pipeline it is all that
// run; with one there are as many batches as stages, and while one is in the first stage
// the others are further on.
type microBatch struct {
	number   uint8 // among those of the replica
	decode   decodeSet
	chunks   []chunk
	plan     plan
	shape    Batch         // of the step in flight, its first if there are several
	hold     bool          // prompts are held back
	busy     bool          // in flight
	loads    units.Seconds // from the host tier, for this step
	reserved int           // blocks when its step ends, in a pipeline
	gaps     gapMeter
}

// plan is what a replica is doing: one step with prefill, or a run of steps
// without.
type plan struct {
	start, end units.Seconds
	version    uint32
	steps      int64
	decodes    int // requests that generate in it and were not preempted since
	context    float64
	run        bool // no prefill
	cut        bool // ends early, where a new request will be seen
	// launched is when the host has launched a step with prefill, where it runs ahead of the device.
	launched units.Seconds
}

// chunk is a piece of a prompt in a step: with 3,000 tokens and a budget of 2,048 the first has 2,048 of them, the
// second begins there and has 952.
type chunk struct {
	q      *Request
	from   int // tokens before it
	tokens int
	hosted int    // of the tokens before it, those that the step loads from the host tier
	epoch  uint32 // of the request; another one means that it was preempted since
}

// batchShape is the shape of a step.
func (m *microBatch) batchShape(p *plan) Batch {
	b := Batch{
		PrefillRequests: len(m.chunks), Decode: p.decodes, DecodeContext: p.context, Sampled: p.decodes,
	}
	for i := range m.chunks {
		c := &m.chunks[i]
		b.PrefillTokens += c.tokens
		b.PrefillContext += c.from
		b.PrefillPairs += float64(c.tokens) * (float64(c.from) + float64(c.tokens+1)/2)
		if c.from+c.tokens == c.q.prefillTokens {
			b.Sampled++
		}
	}
	return b
}

// prefillTokens is the tokens of prompts in the batch.
func (m *microBatch) prefillTokens() int {
	tokens := 0
	for i := range m.chunks {
		tokens += m.chunks[i].tokens
	}
	return tokens
}

// batches are those of a replica: one, or with a pipeline one for each stage.
type batches struct {
	*microBatch // the one that is filled or whose step ends

	all      []microBatch
	inFlight int
}

// choose takes up a batch that is not in flight: of those with requests the one that came
// back first, or one without. It reports whether there is one.
func (b *batches) choose() bool {
	var next *microBatch
	for i := range b.all {
		m := &b.all[i]
		switch {
		case m.busy:
		case next == nil, m.decode.n > 0 && (next.decode.n == 0 || m.plan.end < next.plan.end):
			next = m
		}
	}
	if next != nil {
		b.microBatch = next
	}
	return next != nil
}

// landed takes up the batch whose plan has such a version, and reports whether there is one.
func (b *batches) landed(version uint32) bool {
	if b.busy && b.plan.version == version {
		return true
	}
	for i := range b.all {
		if m := &b.all[i]; m.busy && m.plan.version == version {
			b.microBatch = m
			return true
		}
	}
	return false
}
