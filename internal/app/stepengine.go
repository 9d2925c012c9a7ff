package app

import (
	"errors"

	"plimsoll/internal/calibrate"
	"plimsoll/internal/device"
	"plimsoll/internal/engine"
	"plimsoll/internal/model"
	"plimsoll/internal/replica"
	"plimsoll/internal/units"
)

// EngineStep is a step as an engine runs it: calibrated as in a simulation, with
// the host's work.
type EngineStep struct {
	Profile *engine.Profile
	Time    units.Seconds
	// Kernels is what of Time kernels take, by the calibration.
	Kernels units.Seconds
}

// Host is what of the time kernels do not run: gaps between them, launches no
// graph replays, work of the host that the device waits for.
func (e *EngineStep) Host() units.Seconds { return e.Time - e.Kernels }

// engine is the profile of the engine asked for, nil without one.
func (r *StepRequest) engine(m *model.Model, d *device.Profile) (*engine.Profile, error) {
	switch {
	case r.Engine != "":
		l := r.Layout.Complete(m)
		return engineOn(d, &l, r.Engine, r.EngineVersion, r.Set)
	case r.EngineVersion != "":
		return nil, errors.New("--engine-version needs --engine")
	case len(r.Set) > 0:
		return nil, errors.New("--set needs --engine")
	}
	return nil, nil //nolint:nilnil // none, and that is no error
}

// how resolves what was left open of the modelling. Engines fuse operators, and
// their calibration is of physical graphs.
func (r *StepRequest) how(d *device.Profile) (modelling, error) {
	m, err := r.on(d)
	if err != nil || r.Engine == "" {
		return m, err
	}
	if m.policy.IsTensorCast() {
		return m, errors.New("--engine needs --policy physical: engines' times are fitted to that")
	}
	m.compile = r.Compile == nil || *r.Compile
	return m, nil
}

// engineStep is what an engine makes of the step, by the code and the calibration
// of a simulation.
func engineStep(r *StepResponse, e *engine.Profile, o *calibrate.Overlay) *EngineStep {
	tuning := o.Params().Tuning(calibrate.SubjectOf(&r.Spec, e.Name, r.Device))
	pace := replica.NewPace(&r.Spec, r.Device, e).Tuned(tuning)
	decode, prompts := r.Batch.Segments[0].Requests, 0
	if !r.Batch.Segments[0].Decode {
		decode, prompts = prompts, decode
	}
	out := &EngineStep{Profile: e}
	out.Time, out.Kernels = pace.Step(&r.Result.Times, decode, prompts, prompts > 0)
	return out
}
