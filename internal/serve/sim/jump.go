package sim

import "github.com/plimsoll-project/plimsoll/internal/basic/units"

// runLength is how many steps can be taken at once when nothing is prefilled:
// until a request ends, blocks run out, the scheduler would look at a queue, or
// would decide again.
func (r *replica) runLength() int64 {
	if len(r.batches) > 1 {
		return 1 // the others take their steps meanwhile
	}
	steps := r.decode.stepsTo(r.decode.next().finish)
	steps = r.decode.stepsWithin(steps, r.cache.available())
	if r.evicted || r.sim.single {
		return 1 // what was preempted may be admitted again
	}
	if r.waiting.n > 0 && r.cache.prefix.idle.n > 0 && r.engine.Policy == DecodeFirst && !r.engine.ReservePrompt {
		// The first in line waits for blocks for its remembered beginning and one
		// piece more. Once that beginning is evicted, a piece is enough.
		steps = max(1, r.decode.stepsWithin(steps, r.cache.free))
	}
	if r.visible > 0 {
		steps = min(steps, 1)
	} else if r.incoming.n > 0 {
		steps = min(steps, int64(r.engine.ReceiveInterval-r.since))
	}
	if r.hold {
		steps = min(steps, int64(r.waitLimit-r.waited))
	}
	return steps
}

// interrupt cuts a run at the first boundary where the scheduler sees what has
// just come in.
func (r *replica) interrupt() {
	p := &r.plan
	if !p.run || p.cut || p.steps == 1 {
		return
	}
	// Behind one that is waiting nothing can be admitted before something ends;
	// but more prompts may end a batch wait.
	if r.waiting.n > 0 && !r.hold && r.engine.ReceiveInterval == 1 && !r.engine.Overlapped {
		return
	}
	p.cut = true
	steps, end := r.stepsUntil()
	if every := int64(r.engine.ReceiveInterval); every > 1 {
		more := (every - (int64(r.since)+steps)%every) % every
		if steps += more; more > 0 && steps < p.steps {
			end = p.start + r.stepper.Decode(p.decodes, p.context, r.growth(p.decodes), int(steps))
		}
	}
	if steps >= p.steps {
		return
	}
	p.steps = steps
	r.version++
	p.version = r.version
	p.end = max(r.sim.now, end)
	r.sim.events.step(p.end, r.place, p.version)
}

// stepsUntil is the number of steps of the run after which the time is now or
// later, and that time. The time of a run is nearly linear in its steps, so the secant
// finds it in a try or two; halving bounds them. Steps do not get shorter as contexts
// grow, so one step less ends at least a mean step earlier.
func (r *replica) stepsUntil() (int64, units.Seconds) {
	const certain = 0.95 // of that mean step
	p := &r.plan
	low, high := int64(0), p.steps // after low it is earlier, after high it is not
	lowAt, highAt := p.start, p.end
	for try := 0; high-low > 1; try++ {
		middle := low + (high-low)/2
		if span := highAt - lowAt; try < 8 && span > 0 {
			guess := low + int64(float64(high-low)*float64((r.sim.now-lowAt)/span)) + 1
			middle = min(max(guess, low+1), high-1)
		}
		took := r.stepper.Decode(p.decodes, p.context, r.growth(p.decodes), int(middle))
		if at := p.start + took; at < r.sim.now {
			low, lowAt = middle, at
		} else {
			high, highAt = middle, at
			if at-certain*took/units.Seconds(middle) < r.sim.now {
				break
			}
		}
	}
	return high, highAt
}
