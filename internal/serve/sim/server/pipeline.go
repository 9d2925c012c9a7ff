package server

import "github.com/plimsoll-project/plimsoll/internal/basic/units"

// Through is the time of a step of a batch, and how soon the step of another may follow: after
// the slowest stage of a pipeline, after its kernels where the host runs ahead, or else after
// all of it.
func (e *Engine) Through(model Stepper, b Batch) (took, next units.Seconds) {
	if e.Stages < 2 {
		if l := e.launcher(model); l != nil && b.PrefillTokens > 0 {
			alone, behind := l.Launch(b)
			return alone, min(alone, behind.Device)
		}
		took = model.Step(b)
		return took, took
	}
	pipe := newPipeline(model, e.Stages)
	took, stage := pipe.model.Through(b)
	return took, max(stage, took/units.Seconds(e.Stages))
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
