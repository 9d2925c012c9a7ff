package session

import (
	"errors"
	"maps"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/compat/tensorcast"

	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/replica"
)

// Fleet is a calibrated deployment, ready to be simulated.
func (s *Stage) Fleet(d *deployment.Deployment) (*deployment.Resolved, *replica.Fleet, error) {
	resolved, err := d.Resolve(s.Parts)
	if err != nil {
		return nil, nil, err
	}
	f, err := s.Curves.Fleet(resolved, s.Coster)
	if err != nil {
		return nil, nil, err
	}
	return resolved, f.Scaled(s.Overlay.Multipliers(calibration.SubjectOfDeployment(resolved))), nil
}

// Coster has the prices of a pool.
func (s *Stage) Coster(p *deployment.Served) (cost.Coster, error) {
	policy := &p.Spec.Policy
	return s.Prices.Coster(p.Device, p.Pricing, tensorcast.Is(policy), policy.FreeUnsupported)
}

// Sources are the files behind a prediction, in addition to built-in data.
type Sources struct {
	DeviceFile  string        `json:"device_file,omitempty"`
	Calibration string        `json:"calibration,omitempty"` // an overlay file; "" = the shipped one
	PerfData    prices.Tables `json:"perf_data,omitzero"`
}

// Stage holds the inputs of a prediction about one deployment.
type Stage struct {
	deployment.Parts

	Prices  *prices.Prices
	Overlay *calibration.Overlay
	Kinds   *Kinds // of requests; nil where they have one length
	// Curves are prices of steps, whatever the requests.
	Curves *replica.Curves
}

// Captured are the graphs that the engine captures for many sequences, on a system of a pool or of the deployment (""), in replicas of few
// devices and of engine.Wide and more.
type Captured struct {
	System       string
	Narrow, Wide engine.Graph
	Experts      bool // of the model, which data-parallel ranks share
}

// Of are those of a layout.
func (c *Captured) Of(l *parallel.Layout) engine.Graph {
	devices := l.Devices
	if !c.Experts {
		devices /= max(1, l.DP)
	}
	if devices >= engine.Wide {
		return c.Wide
	}
	return c.Narrow
}

// Captured lists the graphs that the engine captures: none where its command line does not say how many.
func (s *Stage) Captured() []Captured {
	if s.Engine.Option("graph.max_batch", "")+s.Engine.Option("graph.sizes", "") == "" {
		return nil
	}
	on := func(system string, d *device.Profile) Captured {
		graph := func(devices int) engine.Graph {
			return s.Engine.On(d, engine.Use{Devices: devices, Model: s.Model}).Graph
		}
		return Captured{system, graph(1), graph(engine.Wide), s.Model.HasExperts()}
	}
	out := []Captured{on("", s.Device)}
	for _, name := range slices.Sorted(maps.Keys(s.Systems)) {
		out = append(out, on(name, s.Systems[name]))
	}
	return out
}

// Stage resolves the names of a deployment and its sources, cached by the memo.
func (w *Session) Stage(d *deployment.Deployment, s *Sources) (*Stage, error) {
	out, err := w.stage(d, s)
	return out, errors.Join(err, BadInput(d.CheckFormats()))
}

// Resolved is a deployment on its stage.
func (w *Session) Resolved(d *deployment.Deployment, sources *Sources) (*Stage, *deployment.Resolved, error) {
	s, err := w.Stage(d, sources)
	if err != nil {
		return nil, nil, err
	}
	r, err := d.Resolve(s.Parts)
	return s, r, BadInput(err)
}

func (w *Session) stage(d *deployment.Deployment, s *Sources) (*Stage, error) {
	if w.Memo == nil || s.PerfData.Dir != "" { // tables count their use
		return w.newStage(d, s)
	}
	names := []any{d.Model, d.AsFamily, d.System, d.Engine.Name, d.Engine.Version, s}
	for i := range d.Pools {
		if name := d.Pools[i].System; name != "" {
			names = append(names, name)
		}
	}
	known, err := Recall(w.Memo, "stages", maxStages, names, func() (*Stage, error) { return w.newStage(d, s) })
	if err != nil {
		return known, err
	}
	out := *known // shared, but for what belongs to a request
	return &out, nil
}

// maxStages bounds the cached stages: a few megabytes each, mostly prices of steps.
const maxStages = 64

func (w *Session) newStage(d *deployment.Deployment, s *Sources) (*Stage, error) {
	out := &Stage{Curves: &replica.Curves{}}
	var errs [6]error
	out.Model, errs[0] = w.Model(d.Model, d.AsFamily)
	out.Device, errs[1] = w.Device(d.System, s.DeviceFile)
	if d.Engine.Name != "" {
		vendor := device.Other // of a device that is not known
		if out.Device != nil {
			vendor = out.Device.Vendor
		}
		out.Engine, errs[2] = EngineOn(vendor, d.Engine.Name, d.Engine.Version)
	}
	out.Overlay, errs[3] = w.Overlay(s.Calibration)
	var err error
	out.Prices, err = prices.Open(w.Dir, s.PerfData)
	errs[4] = BadInput(err)
	out.Systems, errs[5] = w.systems(d)
	if err := errors.Join(errs[:]...); err != nil {
		return out, err
	}
	return out, out.runs(d.Engine.Version)
}

// runs reports a release of an engine that does not run on a device, or the model there.
func (s *Stage) runs(release string) error {
	if s.Engine == nil {
		return nil
	}
	all := []*device.Profile{s.Device}
	for _, name := range slices.Sorted(maps.Keys(s.Systems)) {
		all = append(all, s.Systems[name])
	}
	for _, d := range all {
		if why := engine.Foreign(s.Engine.Name, release, d); why != "" {
			return BadInput(errors.New(why))
		}
		if why := s.Engine.Refuses(s.Model, d); why != "" {
			return BadInput(&deployment.RefusedError{Why: why})
		}
	}
	return nil
}

// systems are the profiles of pools with their own system.
func (w *Session) systems(d *deployment.Deployment) (map[string]*device.Profile, error) {
	var out map[string]*device.Profile
	for i := range d.Pools {
		name := d.Pools[i].System
		if name == "" {
			continue
		}
		p, err := w.Device(name, "")
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = map[string]*device.Profile{}
		}
		out[name] = p
	}
	return out, nil
}

// About describes a prediction for a checkpoint on a device. Tables may cover little of it,
// so its error is that of the other prices.
func About(s *graph.Spec, d *device.Profile, p prices.Pricing, tier device.Tier) calibration.Case {
	out := calibration.Case{Subject: calibration.SubjectOf(s, "", d), Tier: tier, Vendor: d.Vendor}
	if tier == device.Measured {
		out.Tier, out.Tables = p.Tier(d), true
	}
	return out
}
