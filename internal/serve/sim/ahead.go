package sim

import "github.com/plimsoll-project/plimsoll/internal/basic/units"

// A host that runs ahead launches a step while the device is busy with the one before it
// (vLLM, v1/engine/core.py, step_with_batch_queue):
//
//   - it begins with step i when it has handled the outputs of step i−2;
//   - step i ends on the device when step i−1 has ended and its own kernels have run, but not
//     before its last launch;
//   - it handles the outputs of step i when they are there and step i+1 is launched.
//
// So launches cost time only where they take longer than two steps on the device. Steps that
// only generate replay one graph, whose launch always fits behind a step.

// hostFree is when the host began with the step that is filled.
func (r *replica) hostFree() units.Seconds {
	last := &r.plan
	if last.steps == 0 || last.end < r.sim.now {
		return r.sim.now // the device had nothing to do
	}
	step := (last.end - last.start) / units.Seconds(last.steps)
	return max(last.end-step, last.launched)
}

// timeBehind is the time of a step with prefill behind the step before; alone it takes as given.
func (r *replica) timeBehind(p *plan, alone units.Seconds, l *Launch) units.Seconds {
	from := r.hostFree()
	var longer units.Seconds
	if r.decodes { // prices of workers for prefill alone are of deployments that compute without a pause
		longer = r.power.throttled(l, min(r.plan.end, p.start), p.start)
	}
	if from == p.start { // and the outputs of the last step are long handled
		took := max(alone, l.Device+longer)
		p.launched = min(from+l.Host, p.start+took)
		r.power.at = p.start + took
		return took
	}
	took := max(min(alone, max(l.Device, from+l.Host+l.Rest-p.start)), l.Device+longer)
	p.launched = min(from+l.Host, p.start+took)
	r.power.at = p.start + took
	r.delayTokens(p.launched)
	return took
}

// noteToken notes that the step brought a request its first or last token.
func (r *replica) noteToken(q *request) {
	if r.launcher != nil && r.decodes {
		r.tokensOut = append(r.tokensOut, q)
	}
}

// delayTokens hands out the tokens of the last step when the next one is launched. A steady run has counted the requests
// that ended with it: for them the last token comes with the step.
func (r *replica) delayTokens(launched units.Seconds) {
	for _, q := range r.tokensOut {
		if q.generated == 1 {
			q.first = max(q.first, launched)
		}
		if q.state == finished {
			q.done = max(q.done, launched)
		}
	}
}

// receiveLate has the scheduler see what came in while the last step was launched.
func (r *replica) receiveLate() {
	if r.launcher == nil || r.plan.run {
		return
	}
	for r.visible < r.incoming.n && r.incoming.at(r.visible).lastToken <= r.plan.launched {
		r.visible++
	}
}

// launcher tells how steps are launched where the host runs ahead; else it is nil.
func (p *Pool) launcher() Launcher {
	if !p.Engine.Overlapped || !p.Engine.LaunchAhead {
		return nil
	}
	l, _ := p.Stepper.(Launcher)
	return l
}
