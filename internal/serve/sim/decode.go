package sim

import "math"

// decodeSet is the requests of a replica that generate.
//
// In a step each of them gains the same number of tokens. So one counter per
// replica, the token clock, gives the progress of all: a request that joined at
// clock g with context c has context c − g + clock, and ends when the clock
// reaches g plus what it has left to generate. The set is then sums, a wheel of
// ends, and a tally of where on the clock a block is full; a step of a thousand
// requests costs as much as a step of one.
//
// With speculation the clock gains a, not one, per step: after s steps it shows
// ⌊s·a⌋ tokens.
type decodeSet struct {
	wheel
	steps   int64 // taken with decoding in them
	clock   int64 // tokens
	perStep float64
	offsets int64 // Σ (context at joining − clock at joining)
	ends    int64 // Σ clock at the end
	// fills counts, by clock modulo the tokens of a block, the requests that
	// take a new block when the clock gets there. Nil where blocks are kept from
	// the start.
	fills []int32
}

func newDecodeSet(e *Engine, requests []request) decodeSet {
	d := decodeSet{perStep: e.AcceptedPerStep, wheel: wheel{requests: requests}}
	if e.Policy != InFlight {
		d.fills = make([]int32, e.BlockTokens)
	}
	return d
}

// clockAfter is the token clock so many steps from now.
func (d *decodeSet) clockAfter(steps int64) int64 {
	if d.perStep == 1 {
		return d.clock + steps
	}
	return int64(math.Floor(float64(d.steps+steps) * d.perStep))
}

// stepsTo is how many steps it takes until the clock shows at least this.
func (d *decodeSet) stepsTo(clock int64) int64 {
	if d.perStep == 1 {
		return clock - d.clock
	}
	k := int64(math.Ceil(float64(clock)/d.perStep)) - d.steps
	for k > 1 && d.clockAfter(k-1) >= clock {
		k--
	}
	for d.clockAfter(k) < clock {
		k++
	}
	return max(1, k)
}

// context is the cached tokens of the set. Between whole tokens it is counted
// as if the clock ran evenly, so that the time of a run has a closed form.
func (d *decodeSet) context() float64 {
	return float64(d.offsets) + float64(d.n)*(float64(d.steps)*d.perStep)
}

// tokens is the cached tokens of the set, whole ones.
func (d *decodeSet) tokens() int { return int(d.offsets + int64(d.n)*d.clock) }

// remaining is the tokens the set has still to generate.
func (d *decodeSet) remaining() int { return int(d.ends - int64(d.n)*d.clock) }

// join adds a request whose context and generated tokens are up to date.
func (d *decodeSet) join(q *request) {
	q.state = decoding
	q.epoch++
	q.offset = int64(q.context) - d.clock
	q.finish = d.clock + int64(q.output-q.generated)
	d.offsets += q.offset
	d.ends += q.finish
	if d.fills != nil {
		d.fills[d.slot(q)]++
	}
	d.add(q)
}

// leave removes a request and brings its context and generated tokens up to
// date.
func (d *decodeSet) leave(q *request) {
	q.context = int(q.offset + d.clock)
	q.generated = min(q.output, q.output-int(q.finish-d.clock))
	q.epoch++
	d.remove(q)
	d.offsets -= q.offset
	d.ends -= q.finish
	if d.fills != nil {
		d.fills[d.slot(q)]--
	}
}

// slot is where on the clock, modulo a block, the request writes the first
// token of a new block.
func (d *decodeSet) slot(q *request) int64 {
	b := int64(len(d.fills))
	return ((1-q.offset)%b + b) % b
}

// growth is how many blocks the set takes while the clock gains so many tokens.
func (d *decodeSet) growth(tokens int64) int {
	if d.fills == nil {
		return 0
	}
	b := int64(len(d.fills))
	blocks := int64(d.n) * (tokens / b)
	at := d.clock % b
	for range tokens % b {
		if at++; at == b {
			at = 0
		}
		blocks += int64(d.fills[at])
	}
	return int(blocks)
}

// grows is how many blocks the set takes in its next step.
func (d *decodeSet) grows() int { return d.growth(d.clockAfter(1) - d.clock) }

// stepsWithin is how many of the steps can be taken before the set would need
// more blocks than there are.
func (d *decodeSet) stepsWithin(steps int64, blocks int) int64 {
	if d.fills == nil {
		return steps
	}
	b := int64(len(d.fills))
	tokens := d.clockAfter(steps) - d.clock
	if int64(d.n)*(tokens/b+1) <= int64(blocks) {
		return steps
	}
	tokens = int64(blocks/d.n) * b
	left := int64(blocks % d.n)
	at := d.clock % b
	for range b {
		if at++; at == b {
			at = 0
		}
		if left -= int64(d.fills[at]); left < 0 {
			break
		}
		tokens++
	}
	within := min(steps, d.stepsTo(d.clock+tokens+1)-1)
	return within
}
