package server

import "github.com/plimsoll-project/plimsoll/internal/basic/units"

// Batch is the shape of one step: what a step model needs to price it, without the
// identity of requests.
type Batch struct {
	PrefillRequests int     // prompts, or pieces of them, in this step
	PrefillTokens   int     // their tokens to compute, Σ c
	PrefillContext  int     // their tokens that are cached already, Σ ctx
	PrefillPairs    float64 // pairs of query and key in their causal attention, Σ c·(ctx + (c+1)/2)
	Decode          int     // requests that generate
	DecodeContext   float64 // their cached tokens; whole without speculation
	Sampled         int     // requests that get a token: Decode and the prompts that end here
}

// Stepper is a step model: how long the engine takes for a batch. Times are
// positive and finite.
type Stepper interface {
	// Step is the time of one step.
	Step(b Batch) units.Seconds
	// Decode is the time of consecutive steps in which n requests generate and
	// nothing else happens; their context is as given in the first and grows by
	// growth from step to step. It must equal the sum of the single steps, and
	// is best computed without taking them.
	Decode(n int, context, growth float64, steps int) units.Seconds
}

// Pipeline is a step model that knows the stages of a pipeline.
type Pipeline interface {
	Stepper
	// Through is the time of one step through all stages, as Step has it, and how long it
	// keeps the slowest of them from the next batch: at least an even part, at most all of it.
	Through(b Batch) (took, stage units.Seconds)
}

// Launcher is a step model that knows what a host does while the device is busy.
type Launcher interface {
	Stepper
	// Launch is the time of a step with prefill as Step has it, and the step whose launches begin while the device is busy
	// with the one before. No part of it exceeds that time.
	Launch(b Batch) (alone units.Seconds, behind Launch)
}

// Launch is a step in its two queues. On a device that is busy the step ends Device after
// the one before, but not before Rest has passed since the last launch; the host is busy with
// the step for Host. Of Device, Compute draws more power than the device is allowed for long: after a
// while without a pause it takes Throttled longer.
type Launch struct{ Device, Host, Rest, Compute, Throttled units.Seconds }

// Meter sees the steps that replicas take and how long they last. Time in which steps of a
// pipeline overlap is that of the first to end.
type Meter interface {
	// Step sees one step with prefill.
	Step(b Batch, took units.Seconds)
	// Decode sees consecutive steps as [Stepper.Decode] prices them.
	Decode(n int, context, growth float64, steps int, took units.Seconds)
	// Restart forgets the steps so far.
	Restart()
}

// StepFunc is a step model without a closed form: runs are summed up step by
// step.
type StepFunc func(Batch) units.Seconds

// Step implements [Stepper].
func (f StepFunc) Step(b Batch) units.Seconds { return f(b) }

// Decode implements [Stepper].
func (f StepFunc) Decode(n int, context, growth float64, steps int) units.Seconds {
	var sum units.Seconds
	for i := range steps {
		sum += f(Batch{Decode: n, DecodeContext: context + float64(i)*growth, Sampled: n})
	}
	return sum
}
