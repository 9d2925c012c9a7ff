package server

import "math"

// decodeSet is the requests of a batch that generate.
//
// In a step each of them gains the same number of tokens. So one counter per
// batch, the token clock, gives the progress of all: a request that joined at
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
	blocks  blockGrowth
}

func newDecodeSet(e *Engine, grows bool, requests []Request) decodeSet {
	d := decodeSet{perStep: e.AcceptedPerStep, wheel: wheel{requests: requests}}
	if grows {
		d.blocks = newBlockGrowth(e.BlockTokens)
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
func (d *decodeSet) join(q *Request) {
	q.State = decoding
	q.epoch++
	q.offset = int64(q.context) - d.clock
	q.finish = d.clock + int64(q.Output-q.generated)
	d.offsets += q.offset
	d.ends += q.finish
	d.blocks.count(q.offset, 1)
	d.add(q)
}

// leave removes a request and brings its context and generated tokens up to
// date.
func (d *decodeSet) leave(q *Request) {
	q.context = int(q.offset + d.clock)
	q.generated = min(q.Output, q.Output-int(q.finish-d.clock))
	q.epoch++
	d.remove(q)
	d.offsets -= q.offset
	d.ends -= q.finish
	d.blocks.count(q.offset, -1)
}

// growth is how much the context of n requests grows per step.
func (d *decodeSet) growth(n int) float64 { return float64(n) * d.perStep }

// advance takes steps, and returns the blocks they take.
func (d *decodeSet) advance(steps int64) (blocks int) {
	gained := d.clockAfter(steps) - d.clock
	blocks = d.blocks.taken(d.n, d.clock, gained)
	d.clock += gained
	d.steps += steps
	return blocks
}

// nextBlocks is how many blocks the set takes in its next step.
func (d *decodeSet) nextBlocks() int { return d.blocks.taken(d.n, d.clock, d.clockAfter(1)-d.clock) }

// stepsWithin is how many of the steps can be taken before the set would need
// more blocks than there are.
func (d *decodeSet) stepsWithin(steps int64, blocks int) int64 {
	if d.blocks.fills == nil {
		return steps
	}
	tokens := d.clockAfter(steps) - d.clock
	within := d.blocks.tokensWithin(d.n, d.clock, tokens, blocks)
	if within >= tokens {
		return steps
	}
	return min(steps, d.stepsTo(d.clock+within+1)-1)
}
