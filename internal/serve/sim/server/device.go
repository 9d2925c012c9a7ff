package server

import "github.com/plimsoll-project/plimsoll/internal/basic/units"

// device says how long the steps of a replica take: the step model's time, and what the step before does to it, through the
// queue of launches, the stages of a pipeline, or the power drawn lately.
type device struct {
	stepper  Stepper
	launches *launchQueue // nil unless the host runs ahead of the device
	pipeline pipeline
	meter    Meter     // nil without one
	recent   *stepMemo // of the pool
}

// stepMemo is steps with prefill that a pool took lately, by their prompts: where
// prompts are equal and nothing generates, there are few different ones.
type stepMemo [8]struct {
	batch  Batch
	took   units.Seconds
	launch Launch
}

// time is the time of a step with prefill that begins as planned, behind the step that was planned last.
func (d *device) time(b *Batch, p, last *plan) units.Seconds {
	known := &d.recent[b.PrefillRequests%len(d.recent)]
	if *b != known.batch {
		known.batch = *b
		if d.launches != nil {
			known.took, known.launch = d.launches.model.Launch(*b)
		} else {
			known.took = d.stepper.Step(*b)
		}
	}
	if d.launches == nil {
		return known.took
	}
	return d.launches.time(p, last, known.took, &known.launch)
}

// meterStep has the meter see a step with prefill: unlike a run it is never cut short.
func (d *device) meterStep(b *Batch, p *plan, took units.Seconds) {
	if d.meter != nil && !p.run {
		d.meter.Step(*b, took)
	}
}

// meterRun has the meter see a run of steps that has ended.
func (d *device) meterRun(b *Batch, p *plan, growth float64, took units.Seconds) {
	if d.meter != nil {
		d.meter.Decode(b.Decode, p.context, growth, int(p.steps), took)
	}
}

// spared is the time of computing tokens of a prompt that a step loads from the host tier instead.
func (d *device) spared(c *chunk) units.Seconds {
	rest := c.q.prefillTokens - c.from
	return d.promptTime(c.from-c.hosted, rest+c.hosted) - d.promptTime(c.from, rest)
}

// promptTime is the time of a step that computes tokens of a prompt after those before.
func (d *device) promptTime(before, tokens int) units.Seconds {
	return d.stepper.Step(Batch{
		PrefillRequests: 1, PrefillTokens: tokens, PrefillContext: before,
		PrefillPairs: float64(tokens) * (float64(before) + float64(tokens+1)/2), Sampled: 1,
	})
}
