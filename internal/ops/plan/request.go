package plan

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/searchrun"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// AllSystems is the word for every system that an engine is known for.
const AllSystems = "all"

// The most parts of a day that rates may be given for: every minute.
const maxParts = 24 * 60

// Missing lists the fields without which there is no question, by their names.
func (r *Request) Missing() []field.Name {
	var out []field.Name
	if r.Model == "" && r.Config == nil {
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
func complete(w *session.Session, r *Request) error {
	var errs []error
	if missing := r.Missing(); len(missing) > 0 {
		for _, name := range missing {
			errs = append(errs, field.Errorf("%s is missing", name))
		}
	}
	r.Workloads = slices.Clone(r.Workloads)
	r.Confidence = cmp.Or(r.Confidence, search.DefaultConfidence)
	if r.EnergyPrice == nil {
		r.EnergyPrice = new(simulate.DefaultEnergyPrice)
	}
	errs = append(errs, r.checkSize(), r.checkArrivals(), r.checkMargin(), r.checkColdStart(), session.Confidence(r.Confidence), r.completeLimits(), r.checkModes(), r.checkCaches(), r.checkPreset(), r.checkDraft(), systems(w, r))
	return session.BadInput(errors.Join(errs...))
}

// checkSize reports what is wrong with the devices or the load.
func (r *Request) checkSize() error {
	const maxRate = 1_000_000 // requests per second: a bound on what may be asked, not on what devices carry
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
		return field.Between(gpus, r.Devices, 1, experiment.MaxDevices)
	case !(r.Rate >= 0) || math.IsInf(r.Rate, 1):
		return field.Errorf("%s must be positive and finite, got %g", rate, r.Rate)
	case r.Rate > maxRate:
		return field.Errorf("%s must be at most %d, got %g", rate, maxRate, r.Rate)
	case r.Daily == nil:
		return nil
	case len(r.Daily) == 0 || len(r.Daily) > maxParts:
		return field.Errorf("%s must have between 1 and %d rates, got %d", daily, maxParts, len(r.Daily))
	}
	most := 0.0
	for _, x := range r.Daily {
		if !(x >= 0) || x > maxRate {
			return field.Errorf("%s must be between 0 and %d, got %g", daily, maxRate, x)
		}
		most = max(most, x)
	}
	if most == 0 {
		return field.Errorf("%s must have a rate above 0", daily)
	}
	return nil
}

func (r *Request) checkModes() error {
	for _, m := range r.Modes {
		if err := field.OneOf("serving_mode", m, experiment.Aggregated, experiment.Disaggregated); err != nil {
			return err
		}
	}
	for system, price := range r.Prices {
		if !(price > 0) || math.IsInf(price, 1) {
			return field.Errorf("%s of %s must be positive, got %g", field.Name("price"), system, price)
		}
	}
	if a := r.API; a != nil && (!(a.Input >= 0) || !(a.Output >= 0) || !(a.Input+a.Output > 0) || math.IsInf(a.Input+a.Output, 1)) {
		return field.Errorf("%s must not be negative, and one of input and output above 0, got %g and %g", field.Name("api_price"), a.Input, a.Output)
	}
	if p := r.EnergyPrice; p != nil && (!(*p >= 0) || math.IsInf(*p, 1)) {
		return field.Errorf("%s must not be negative, got %g", field.Name("energy_price"), *p)
	}
	return nil
}

// checkCaches reports a wrong routing or host cache.
func (r *Request) checkCaches() error {
	errs := []error{r.Host.Check()}
	if _, ok := sim.RoutingNamed(r.Routing); !ok {
		errs = append(errs, field.OneOf("routing", r.Routing, sim.RoutingNames()...))
	}
	return errors.Join(errs...)
}

// systems finds the systems, what all of them are, and their prices.
func systems(w *session.Session, r *Request) error {
	if r.DeviceFile != "" && len(r.Systems) > 0 {
		return field.Errorf("give %s or %s", field.Name("device_file"), field.Name("system"))
	}
	var errs []error
	var names []string
	for _, name := range every(w, r.Systems) {
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
	r.Prices = priced(w, r)
	return errors.Join(errs...)
}

// every is the names of systems, where all stands for those that an engine supports.
func every(w *session.Session, names []string) []string {
	if !slices.Equal(names, []string{AllSystems}) {
		return names
	}
	var out []string
	for _, name := range device.Names() {
		if d, err := w.Device(name, ""); err == nil && launch.Engines(d.Vendor) != nil {
			out = append(out, d.Name)
		}
	}
	return out
}

// priced are the prices by the systems' names: they may go by aliases, and "" is all systems without a price of their own.
func priced(w *session.Session, r *Request) map[string]float64 {
	if r.Prices == nil {
		return nil
	}
	out := map[string]float64{}
	for name, usd := range r.Prices {
		if d, err := w.Device(name, ""); name != "" && err == nil {
			name = d.Name
		}
		out[name] = usd
	}
	all, given := out[""]
	if r.DeviceFile != "" || !given {
		return out
	}
	delete(out, "")
	for _, name := range r.Systems {
		if _, own := out[name]; !own {
			out[name] = all
		}
	}
	return out
}

// PriceOf is the price of a system that was given.
func (r *Request) PriceOf(system string) (usd float64, given bool) {
	if usd, given = r.Prices[system]; !given {
		usd, given = r.Prices[""]
	}
	return usd, given
}

// margin is what the fleet has beyond its load.
func (r *Request) margin() search.Margin {
	return search.Margin{Spare: r.Spare, Utilization: r.Utilization}
}

// checkMargin reports a wrong margin.
func (r *Request) checkMargin() error {
	if r.Devices != 0 && r.margin() != (search.Margin{}) {
		return field.Errorf("%s and %s need %s or %s", field.Name("spare"), field.Name("utilization"), field.Name("rate"), field.Name("daily"))
	}
	if u := r.Utilization; !(u >= 0 && u <= 1) {
		return field.Errorf("%s must be above 0 and at most 1, got %g", field.Name("utilization"), u)
	}
	return field.Between("spare", r.Spare, 0, experiment.MaxDevices)
}

// checkArrivals reports errors in how requests come.
func (r *Request) checkArrivals() error {
	if r.Process != traffic.Poisson && r.Rate == 0 && r.Daily == nil {
		return field.Errorf("%s %v needs %s or %s", field.Name("arrival"), r.Process, field.Name("rate"), field.Name("daily"))
	}
	return simulate.CheckArrivals(r.Process, r.Variation)
}

// peak is the load to carry, 0 where devices are given.
func (r *Request) peak() float64 {
	if r.Daily != nil {
		return slices.Max(r.Daily)
	}
	return r.Rate
}

// load is the load to carry; zero where devices are given.
func (r *Request) load() searchrun.Load { return searchrun.Load{Rate: r.peak()} }

// experiments are the searches that answer a request: one for each system, engine and
// mode.
func experiments(w *session.Session, r *Request) ([]experiment.Experiment, error) {
	systems := r.Systems
	if r.DeviceFile != "" {
		systems = []string{""}
	}
	drafts, err := drafts(w, r)
	if err != nil {
		return nil, err
	}
	var out []experiment.Experiment
	for _, name := range systems {
		d, err := w.Device(name, r.DeviceFile)
		if err != nil {
			return nil, err
		}
		engines := r.Engines
		if engines == nil {
			engines = engine.RunsOn(d)
		}
		if engines == nil {
			return nil, session.BadInput(errors.New(engine.Foreign(simulate.DefaultEngine, "", d)))
		}
		for _, of := range engines {
			if _, err := lookup(of); err != nil {
				return nil, session.BadInput(err)
			}
			of, release, _ := strings.Cut(of, "@")
			of = InRelease(engine.Port(of, d.Vendor), release)
			for _, mode := range given(r.Modes, []experiment.ServingMode{experiment.Aggregated, experiment.Disaggregated}) {
				if mode == experiment.Disaggregated && r.Devices == 1 {
					continue
				}
				e := r.experiment(name, of, mode)
				e.Drafts = drafts
				out = append(out, e)
			}
		}
	}
	if len(out) == 0 {
		return nil, session.BadInput(errors.New("separate prefill and decode workers need at least two devices"))
	}
	return out, nil
}

// drafts are the ways to draft tokens that a request searches.
func drafts(w *session.Session, r *Request) ([]search.Draft, error) {
	if r.Draft == "" {
		return nil, nil
	}
	m, err := w.Model(r.Model, "")
	if err != nil {
		return nil, err
	}
	out, err := r.drafts(m)
	return out, session.BadInput(err)
}

// experiment is the search on one system with one engine in one mode.
func (r *Request) experiment(system, of string, mode experiment.ServingMode) experiment.Experiment {
	name, release, _ := strings.Cut(of, "@")
	return experiment.Experiment{
		Name: string(mode), Mode: mode, Model: r.Model, System: system, Devices: r.Devices,
		Engine: deployment.Engine{Name: name, Version: release, Preset: r.preset(of)}, Routing: r.Routing, Host: r.Host, Process: r.Process, Variation: r.Variation,
		Workloads: r.Workloads, Limits: r.Limits, Statistic: r.Statistic, Confidence: r.Confidence,
		MTP: r.MTP, AcceptanceRates: r.AcceptanceRates,
		Workers: experiment.WorkerSpace{Formats: r.Formats}, Decode: experiment.WorkerSpace{Formats: r.Formats},
	}
}

// given is a list, or its default.
func given[T any](list, otherwise []T) []T {
	if list != nil {
		return list
	}
	return otherwise
}

// lookup finds an engine, in a release where one is named: "vllm@0.24.0".
func lookup(of string) (*engine.Profile, error) {
	name, release, asked := strings.Cut(of, "@")
	if asked && release == "" {
		return nil, field.Errorf("%s: %q names no release after @; want for example vllm@0.24.0", field.Name("engine"), of)
	}
	p, err := engine.LookupVersion(name, release)
	return p, field.About("engine", err)
}

// preset is the one asked for, "" where an engine has none of that name.
func (r *Request) preset(of string) string {
	if p, err := lookup(of); err == nil && r.EnginePreset != "" {
		if s, err := p.Preset(r.EnginePreset); err == nil {
			return s.Name
		}
	}
	return ""
}

// checkPreset reports a preset that none of the engines has.
func (r *Request) checkPreset() error {
	if r.EnginePreset == "" {
		return nil
	}
	var first error
	for _, name := range given(r.Engines, engine.Names()) {
		p, err := lookup(name)
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

// Check completes a request and reports everything that is wrong with it, with the
// lengths that its workloads come to. It answers nothing, but a request that it has nothing against can be answered.
func Check(w *session.Session, r Request) (full Request, about []session.PlanWorkload, err error) {
	w, err = Given(w, &r)
	if err != nil {
		return r, nil, err
	}
	errs := []error{complete(w, &r), known(w, &r)}
	if len(r.Workloads) > 0 {
		k, err := w.Kinds(r.Workloads)
		if errs = append(errs, err); err == nil {
			about = k.About
		}
	}
	if err = errors.Join(errs...); err == nil {
		err = r.runs(w)
	}
	return r, about, err
}

// Unknown reports systems, a model and engines that are named and not known, whatever else a request lacks.
func Unknown(w *session.Session, r Request) error {
	return errors.Join(session.BadInput(systems(w, &r)), known(w, &r))
}

// known reports a model, drafts and engines that are not known.
func known(w *session.Session, r *Request) error {
	var errs []error
	if r.Model != "" {
		_, err := w.Model(r.Model, "")
		if err == nil && r.checkDraft() == nil {
			_, err = drafts(w, r)
		}
		errs = append(errs, err)
	}
	for _, name := range r.Engines {
		_, err := lookup(name)
		errs = append(errs, session.BadInput(err))
	}
	return errors.Join(errs...)
}

// runs reports why nothing that is compared runs: the model does not fit, or the engine does not know the system.
func (r *Request) runs(w *session.Session) error {
	all, err := experiments(w, r)
	if err != nil {
		return err
	}
	failed := make([]error, len(all))
	for i := range all {
		how := experiment.How{Sources: r.Sources, Margin: r.margin()}
		if failed[i] = experiment.Runs(w, &how, r.load(), all[i]); failed[i] == nil {
			return nil // one that runs is an answer
		}
	}
	return experiment.Failed(all, failed)
}
