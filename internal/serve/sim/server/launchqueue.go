package server

import "github.com/plimsoll-project/plimsoll/internal/basic/units"

// launchQueue is a host that runs ahead: it launches a step while the device is busy with the one before it
// (vLLM, v1/engine/core.py, step_with_batch_queue):
//
//   - it begins with step i when it has handled the outputs of step i−2;
//   - step i ends on the device when step i−1 has ended and its own kernels have run, but not
//     before its last launch;
//   - it handles the outputs of step i when they are there and step i+1 is launched.
//
// So launches cost time only where they take longer than two steps on the device. Steps that
// only generate replay one graph, whose launch always fits behind a step.
type launchQueue struct {
	model Launcher
	// power slows workers that generate. Prices of workers for prefill alone are of deployments that compute without a pause.
	power  power
	slowed bool
	tokens []*Request // got their first or last token in the step that ended last, where it is handed out late
}

// newLaunchQueue is the host of an engine that runs ahead; else it is nil.
func newLaunchQueue(e *Engine, steps Stepper, decodes bool) *launchQueue {
	model := e.launcher(steps)
	if model == nil {
		return nil
	}
	return &launchQueue{model: model, slowed: decodes}
}

// launcher tells how steps are launched where the host runs ahead; else it is nil.
func (e *Engine) launcher(model Stepper) Launcher {
	if !e.Overlapped || !e.LaunchAhead {
		return nil
	}
	l, _ := model.(Launcher)
	return l
}

// time is the time of a step with prefill behind the step before; alone it takes as given.
func (h *launchQueue) time(p, last *plan, alone units.Seconds, l *Launch) units.Seconds {
	from := hostFree(last, p.start)
	var longer units.Seconds
	if h.slowed {
		longer = h.power.throttled(l, min(last.end, p.start), p.start)
	}
	if from == p.start { // and the outputs of the last step are long handled
		took := max(alone, l.Device+longer)
		p.launched = min(from+l.Host, p.start+took)
		h.power.at = p.start + took
		return took
	}
	took := max(min(alone, max(l.Device, from+l.Host+l.Rest-p.start)), l.Device+longer)
	p.launched = min(from+l.Host, p.start+took)
	h.power.at = p.start + took
	h.delayTokens(p.launched)
	return took
}

// hostFree is when the host began with the step that is filled now.
func hostFree(last *plan, now units.Seconds) units.Seconds {
	if last.steps == 0 || last.end < now {
		return now // the device had nothing to do
	}
	step := (last.end - last.start) / units.Seconds(last.steps)
	return max(last.end-step, last.launched)
}

// note notes that the step brought a request its first or last token.
func (h *launchQueue) note(q *Request) {
	if h != nil && h.slowed {
		h.tokens = append(h.tokens, q)
	}
}

// forget drops the tokens of the step before.
func (h *launchQueue) forget() {
	if h != nil {
		h.tokens = h.tokens[:0]
	}
}

// delayTokens hands out the tokens of the last step when the next one is launched. A steady run has counted the requests
// that ended with it: for them the last token comes with the step.
func (h *launchQueue) delayTokens(launched units.Seconds) {
	for _, q := range h.tokens {
		if q.generated == 1 {
			q.First = max(q.First, launched)
		}
		if q.State == Finished {
			q.Done = max(q.Done, launched)
		}
	}
}
