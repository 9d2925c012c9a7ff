package ops

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// AllSystems is the word for every system that an engine is known for.
const AllSystems = "all"

// The most parts of a day that rates may be given for: every minute.
const maxParts = 24 * 60

// Missing lists the fields without which there is no question, by their names.
func (r *PlanRequest) Missing() []field.Name {
	var out []field.Name
	if r.Model == "" {
		out = append(out, "model")
	}
	if len(r.Systems) == 0 && r.DeviceFile == "" {
		out = append(out, "system")
	}
	if r.Devices == 0 && r.Rate == 0 && r.Daily == nil {
		out = append(out, "gpus")
	}
	if len(r.Workloads) == 0 {
		out = append(out, "isl", "osl")
	}
	return out
}

// complete fills in what was left open, on what the request names.
func (w *World) completePlan(r *PlanRequest) error {
	var errs []error
	if missing := r.Missing(); len(missing) > 0 {
		for _, name := range missing {
			errs = append(errs, field.Errorf("%s is missing", name))
		}
	}
	r.Workloads = slices.Clone(r.Workloads)
	r.Confidence = cmp.Or(r.Confidence, DefaultConfidence)
	if r.EnergyPrice == nil {
		r.EnergyPrice = new(DefaultEnergyPrice)
	}
	errs = append(errs, r.checkSize(), share("confidence", r.Confidence), session.CheckPercentile(r.Percentile), checkLimits(r.Limits), r.checkModes(), r.checkPreset(), w.planSystems(r))
	return badInput(errors.Join(errs...))
}

// checkSize reports what is wrong with the devices or the load.
func (r *PlanRequest) checkSize() error {
	const gpus, rate, daily field.Name = "gpus", "rate", "daily"
	ways := 0
	for _, given := range []bool{r.Devices != 0, r.Rate != 0, r.Daily != nil} {
		if given {
			ways++
		}
	}
	switch {
	case ways > 1:
		return field.Errorf("give one of %s, %s and %s", gpus, rate, daily)
	case r.Devices != 0:
		return between(gpus, r.Devices, 1, maxCluster)
	case !(r.Rate >= 0) || math.IsInf(r.Rate, 1):
		return field.Errorf("%s must be positive and finite, got %g", rate, r.Rate)
	case r.Daily == nil:
		return nil
	case len(r.Daily) == 0 || len(r.Daily) > maxParts:
		return field.Errorf("%s must have between 1 and %d rates, got %d", daily, maxParts, len(r.Daily))
	}
	most := 0.0
	for _, x := range r.Daily {
		if !(x >= 0) || math.IsInf(x, 1) {
			return field.Errorf("%s must not be negative, got %g", daily, x)
		}
		most = max(most, x)
	}
	if most == 0 {
		return field.Errorf("%s must have a rate above 0", daily)
	}
	return nil
}

func (r *PlanRequest) checkModes() error {
	for _, m := range r.Modes {
		if err := field.OneOf("serving_mode", m, Aggregated, Disaggregated); err != nil {
			return err
		}
	}
	for system, price := range r.Prices {
		if !(price > 0) || math.IsInf(price, 1) {
			return field.Errorf("%s of %s must be positive, got %g", field.Name("price"), system, price)
		}
	}
	if p := r.EnergyPrice; p != nil && (!(*p >= 0) || math.IsInf(*p, 1)) {
		return field.Errorf("%s must not be negative, got %g", field.Name("energy_price"), *p)
	}
	return nil
}

// planSystems finds the systems, and what all of them are.
func (w *World) planSystems(r *PlanRequest) error {
	if slices.Equal(r.Systems, []string{AllSystems}) {
		r.Systems = nil
		for _, name := range device.Names() {
			if d, err := w.Device(name, ""); err == nil && launch.Engines(d.Vendor) != nil {
				r.Systems = append(r.Systems, d.Name)
			}
		}
		return nil
	}
	var errs []error
	var names []string
	if r.DeviceFile != "" && len(r.Systems) > 0 {
		return field.Errorf("give %s or %s", field.Name("device_file"), field.Name("system"))
	}
	for _, name := range r.Systems {
		d, err := w.Device(name, "")
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if !slices.Contains(names, d.Name) {
			names = append(names, d.Name)
		}
	}
	r.Systems = names
	return errors.Join(errs...)
}

// peak is the load to carry, 0 where devices are given.
func (r *PlanRequest) peak() float64 {
	if r.Daily != nil {
		return slices.Max(r.Daily)
	}
	return r.Rate
}

// experiments are the searches that answer a request: one for each system, engine and
// mode.
func (w *World) planExperiments(r *PlanRequest) ([]Experiment, error) {
	systems := r.Systems
	if r.DeviceFile != "" {
		systems = []string{""}
	}
	var out []Experiment
	for _, name := range systems {
		d, err := w.Device(name, r.DeviceFile)
		if err != nil {
			return nil, err
		}
		engines := r.Engines
		if engines == nil {
			engines = engine.RunsOn(d.Vendor)
		}
		if engines == nil {
			return nil, badInput(errors.New(engine.Foreign(DefaultEngine, d)))
		}
		for _, of := range engines {
			for _, mode := range given(r.Modes, []ServingMode{Aggregated, Disaggregated}) {
				if mode == Disaggregated && r.Devices == 1 {
					continue
				}
				out = append(out, r.experiment(name, of, mode))
			}
		}
	}
	if len(out) == 0 {
		return nil, badInput(errors.New("one device has no room for separate prefill and decode workers"))
	}
	return out, nil
}

// experiment is the search on one system with one engine in one mode.
func (r *PlanRequest) experiment(system, name string, mode ServingMode) Experiment {
	return Experiment{
		Name: string(mode), Mode: mode, Model: r.Model, System: system, Devices: r.Devices,
		Engine:    deployment.Engine{Name: name, Preset: r.preset(name)},
		Workloads: r.Workloads, Limits: r.Limits, Percentile: r.Percentile, Confidence: r.Confidence,
		MTP: r.MTP, AcceptanceRates: r.AcceptanceRates,
		Workers: WorkerSpace{Formats: r.Formats}, Decode: WorkerSpace{Formats: r.Formats},
	}
}

// given is a list, or its default.
func given[T any](list, otherwise []T) []T {
	if list != nil {
		return list
	}
	return otherwise
}

// preset is the one asked for, "" where an engine has none of that name.
func (r *PlanRequest) preset(name string) string {
	if p, err := engine.LookupVersion(name, ""); err == nil && r.EnginePreset != "" {
		if s, err := p.Preset(r.EnginePreset); err == nil {
			return s.Name
		}
	}
	return ""
}

// checkPreset reports a preset that none of the engines has.
func (r *PlanRequest) checkPreset() error {
	if r.EnginePreset == "" {
		return nil
	}
	var first error
	for _, name := range given(r.Engines, engine.Names()) {
		p, err := engine.LookupVersion(name, "")
		if err != nil {
			return err
		}
		_, err = p.Preset(r.EnginePreset)
		if err == nil {
			return nil
		}
		first = cmp.Or(first, err)
	}
	return field.Errorf("%s: %w", field.Name("engine_preset"), first)
}
