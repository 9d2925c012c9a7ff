package server

// inbox is requests that have passed the API server, or whose cache has arrived, and that the scheduler has not seen yet.
type inbox struct {
	incoming queue
	visible  int  // number of these for the next step to be filled
	fresh    bool // the last step came after a time without any
	since    int  // steps of generation since the last look, modulo the interval
}

// poll moves what came in to where the scheduler sees it. A step that was filled ahead has
// what was seen when the step before it began.
func (b *inbox) poll(s *scheduler, launchesAhead bool) {
	idle := s.idle()
	now := !s.engine.Overlapped || idle || b.fresh && s.plan.steps == 1
	b.fresh = idle
	if now {
		b.receive(s)
	}
	if launchesAhead && !s.plan.run { // what came in while the last step was launched
		for b.visible < b.incoming.n && b.incoming.at(b.visible).lastToken <= s.plan.launched {
			b.visible++
		}
	}
	for ; b.visible > 0; b.visible-- {
		s.waiting.push(b.incoming.pop())
	}
	if !now {
		b.receive(s)
	}
}

// receive has the scheduler receive what came in, if it is time to.
func (b *inbox) receive(s *scheduler) {
	if b.incoming.n == 0 || b.since != 0 && s.running.n > 0 {
		return
	}
	b.since = 0
	b.visible = b.incoming.n
}

// stepped counts steps. Engines look after every step with prefill.
func (b *inbox) stepped(p *plan, interval int) {
	if !p.run || interval == 1 {
		b.since = 0
		return
	}
	b.since = int((int64(b.since) + p.steps) % int64(interval))
}

// look is how many steps of generation pass until the scheduler would look at what has come in; none is no limit.
func (b *inbox) look(steps int64, interval int) int64 {
	switch {
	case b.visible > 0:
		return min(steps, 1)
	case b.incoming.n > 0:
		return min(steps, int64(interval-b.since))
	}
	return steps
}
