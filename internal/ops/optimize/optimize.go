package optimize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// Run finds the deployments with the most throughput within the limits.
func Run(ctx context.Context, w *session.Session, r Request) (*Response, error) {
	run, devices, err := begin(w, &r)
	if err != nil {
		return nil, err
	}
	m, out := run.model, newResponse(r, run.model)
	if len(r.Space.MTP) > 0 && slices.Max(r.Space.MTP) > 0 && m.MTP.Layers == 0 {
		out.Notes = append(out.Notes, m.Name()+" has no MTP modules: each draft token adds a decoder layer")
	}
	out.Notes = append(out.Notes, r.onLength(m)...)
	run.out = out
	for _, d := range devices {
		if err := run.on(ctx, d); err != nil {
			return nil, err
		}
	}
	out.Notes = append(out.Notes, run.apart.Notes()...)
	out.say()
	out.Tables, err = run.prices.Used()
	return session.Finish(ctx, out, session.BadInput(err))
}

// begin completes and checks a request, and opens what it names.
func begin(w *session.Session, r *Request) (*optimization, []*device.Profile, error) {
	r.complete()
	m, unknown := w.Model(r.Model, r.AsFamily)
	devices, err := devices(w, r)
	if err = errors.Join(unknown, session.BadInput(r.check(m)), err); err != nil {
		return nil, nil, err
	}
	run := &optimization{world: w, r: r, model: m}
	if run.overlay, err = w.Overlay(r.Calibration); err != nil {
		return nil, nil, err
	}
	if run.prices, err = prices.Open(w.Dir, r.PerfData); err != nil {
		return nil, nil, session.BadInput(err)
	}
	if run.named, err = engine.LookupVersion(r.Engine.Name, r.Engine.Version); err != nil {
		return nil, nil, session.BadInput(field.About("engine", err))
	}
	_, err = run.named.With(r.Engine.Settings...)
	return run, devices, session.BadInput(err)
}

// Check completes a request with its defaults, and reports everything that is wrong with it: one that it has nothing
// against can be run.
func Check(w *session.Session, r Request) (Request, error) {
	run, devices, err := begin(w, &r)
	if err != nil {
		return r, err
	}
	for _, d := range devices {
		for _, p := range r.phases() {
			t, err := run.task(d, p)
			if err == nil && len(t.candidates()) == 0 {
				err = errNoCombination(r.Space, t.devices)
			}
			if err != nil {
				return r, session.BadInput(err)
			}
		}
	}
	return r, nil
}

// on runs the phases of a request on one device.
func (o *optimization) on(ctx context.Context, d *device.Profile) error {
	out := Device{Name: d.Name, Memory: units.InGiB(d.Memory), Profile: *d, Searches: []Search{}}
	out.Profile.Links = slices.Clone(d.Links)
	if o.r.Price > 0 {
		out.Profile.Price = device.Price{USDPerHour: o.r.Price, Source: "as given"}
	}
	if x := out.Profile.Price; x.USDPerHour > 0 {
		out.Price = &Price{x.USDPerHour, x.Source}
	}
	var tasks []*task
	for _, p := range o.r.phases() {
		t, err := o.task(d, p)
		if err != nil {
			return session.BadInput(err)
		}
		for _, n := range t.base.Notes {
			if !slices.Contains(o.out.Notes, n) {
				o.out.Notes = append(o.out.Notes, n)
			}
		}
		if err := t.run(ctx); err != nil {
			return err
		}
		out.Searches = append(out.Searches, t.out)
		tasks = append(tasks, t)
	}
	if o.r.PDRatio {
		out.Ratio = o.match(tasks[0], tasks[1])
	}
	o.out.Devices = append(o.out.Devices, out)
	for _, t := range tasks {
		if len(t.Rows) == 0 {
			continue
		}
		o.apart.Add(d.Name, d, t.found())
		if o.r.Explain {
			o.out.Explanations = append(o.out.Explanations, t.explain(ctx))
		}
		if o.r.Traces {
			o.out.Traces = append(o.out.Traces, t.traces(len(tasks) > 1)...)
		}
	}
	return nil
}

// base is what all candidates of a search have in common.
func (o *optimization) base(d *device.Profile, of *engine.Profile) (*deployment.Base, error) {
	asked, parts := o.asked(d), deployment.Parts{Model: o.model, Device: d}
	if e, _ := o.r.evaluation(d); e == BySimulation {
		parts.Engine = of
	}
	return asked.Base(parts)
}

// asked is the deployment a request describes, but for its layout.
func (o *optimization) asked(d *device.Profile) deployment.Deployment {
	out := deployment.Deployment{
		Model: o.r.Model, AsFamily: o.r.AsFamily, System: d.Name, Engine: o.r.Engine, Formats: o.r.Formats, Modelling: o.r.Modelling,
	}
	if e, _ := o.r.evaluation(d); e != BySimulation {
		return out
	}
	out.Modelling.Policy = cmp.Or(out.Modelling.Policy, graph.Physical().Name)
	settings := slices.Clip(out.Engine.Settings)
	if o.r.Budget > 0 {
		settings = append(settings, fmt.Sprintf("token_budget=%d", o.r.Budget))
	}
	if o.r.ReservedGiB != nil {
		settings = append(settings, fmt.Sprintf("memory_share=%g", 1-*o.r.ReservedGiB/d.Memory.GiB()))
	}
	out.Engine.Settings = settings
	return out
}

// reserved is the memory of a device that the formulas keep free: what was asked
// for, ten GiB where Ascend's tools are at home, elsewhere what the engine leaves.
func (o *optimization) reserved(d *device.Profile) float64 {
	switch {
	case o.r.ReservedGiB != nil:
		return *o.r.ReservedGiB
	case d.Vendor == device.Ascend || d.Vendor == device.Test:
		return DefaultReserved
	}
	return (1 - o.named.MemoryShare) * d.Memory.GiB()
}
