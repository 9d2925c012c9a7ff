package sim

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

// leave takes out a request that is preempted. Its token in flight, if there is one, is lost.
func (m *microBatch) leave(q *request, r *replica) {
	if !m.gaps.pending(q) {
		q.lastToken = m.gaps.last
	}
	m.decode.leave(q)
	if m.busy {
		m.plan.decodes--
		r.reserve(m, m.decode.grows())
	}
}

// reserve keeps blocks for the step of a batch.
func (r *replica) reserve(m *microBatch, blocks int) {
	r.reservedBlocks += blocks - m.reserved
	m.reserved = blocks
}

// cancelPrompt ends the computing of a prompt that is preempted.
func (r *replica) cancelPrompt(q *request) {
	q.epoch++
	if r.partial == q {
		r.partial = nil
	} else {
		r.inFlightChunkTokens -= q.prefillTokens
	}
}

// choose takes up a batch that is not in flight: of those with requests the one that came
// back first, or one without. It reports whether there is one.
func (r *replica) choose() bool {
	var next *microBatch
	for i := range r.batches {
		m := &r.batches[i]
		switch {
		case m.busy:
		case next == nil, m.decode.n > 0 && (next.decode.n == 0 || m.plan.end < next.plan.end):
			next = m
		}
	}
	if next != nil {
		r.microBatch = next
	}
	return next != nil
}

// landed takes up the batch whose plan has such a version, and reports whether there is one.
func (r *replica) landed(version uint32) bool {
	if r.busy && r.plan.version == version {
		return true
	}
	for i := range r.batches {
		if m := &r.batches[i]; m.busy && m.plan.version == version {
			r.microBatch = m
			return true
		}
	}
	return false
}

// Through is the time of a step of a batch, and how soon the step of another may follow: after
// the slowest stage of a pipeline, after its kernels where the host runs ahead, or else after
// all of it.
func (p *Pool) Through(b Batch) (took, next units.Seconds) {
	if p.Engine.Stages < 2 {
		if l := p.launcher(); l != nil && b.PrefillTokens > 0 {
			alone, behind := l.Launch(b)
			return alone, min(alone, behind.Device)
		}
		took = p.Stepper.Step(b)
		return took, took
	}
	pipe := newPipeline(p.Stepper, p.Engine.Stages)
	took, stage := pipe.model.Through(b)
	return took, max(stage, took/units.Seconds(p.Engine.Stages))
}

// launch sends a step of the batch through the pipeline.
func (r *replica) launch(p *plan) {
	took, stage := r.pipeline.model.Through(r.shape)
	p.end = r.pipeline.enter(p.start, max(r.loads, r.sim.checkTime(took, p)), max(r.loads, stage))
	r.meterStep(p, p.end-max(p.start, r.pipeline.until))
	r.pipeline.until = p.end
	if p.decodes > 0 {
		r.reserve(r.microBatch, r.decode.grows())
	}
}

// pipeline is the stages of a replica.
type pipeline struct {
	model Pipeline
	free  []units.Seconds // when each stage can take the next batch
	until units.Seconds   // when the last batch comes out
}

func newPipeline(model Stepper, stages int) pipeline {
	if stages == 1 {
		return pipeline{}
	}
	p, ok := model.(Pipeline)
	if !ok {
		p = even{model, units.Seconds(stages)}
	}
	return pipeline{model: p, free: make([]units.Seconds, stages)}
}

// enter sends a step into the pipeline and returns when it comes out: a stage takes it when
// the stage before has passed it on and the batch ahead of it has left.
func (p *pipeline) enter(at, took, stage units.Seconds) units.Seconds {
	part := took / units.Seconds(len(p.free))
	stage = max(part, stage)
	for i := range p.free {
		at = max(at, p.free[i])
		p.free[i] = at + stage
		at += part
	}
	return at
}

// even is a step model whose stages all take as long.
type even struct {
	Stepper

	stages units.Seconds
}

// Through implements [Pipeline].
func (e even) Through(b Batch) (took, stage units.Seconds) {
	took = e.Step(b)
	return took, took / e.stages
}
