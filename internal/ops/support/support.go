package support

import (
	"context"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/searchrun"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/replica"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// Request asks what can be predicted, and how well.
type Request struct {
	// Model is one; "" = those of which measured deployments are known.
	Model string `json:"model,omitempty"`
	// Systems and Engines are those to list; nil = all systems, and the engines of
	// [Engines].
	Systems []string `json:"systems,omitempty"`
	Engines []string `json:"engines,omitempty"`
	// Version is that of the only engine; "" = the newest.
	Version     string `json:"engine_version,omitempty"`
	Calibration string `json:"calibration,omitempty"` // an overlay file; "" = the shipped one
	// Formats are those of the model on a system, if they are not the checkpoint's.
	Formats map[string]deployment.Formats `json:"formats,omitempty"`
}

// Engines are the engines listed where none is named.
func Engines() []string { return []string{"trtllm", "sglang", "vllm"} }

// Response is what can be predicted: a row for every model, system and engine.
type Response struct {
	Request Request `json:"-"`
	Rows    []Row   `json:"rows"`
	Caution string  `json:"caution"`
}

// Row is a model on a system under an engine.
type Row struct {
	Model  string `json:"model"`
	System string `json:"system"`
	Engine string `json:"backend"`
	// Devices is the smallest number that holds a worker; null if none does, for the reason Why.
	Devices       *int        `json:"gpus"`
	Why           string      `json:"why,omitempty"`
	Tier          device.Tier `json:"tier"`
	Aggregated    *Trust      `json:"agg"`
	Disaggregated *Trust      `json:"disagg"`
}

// GPUs is the smallest number that holds a worker, 0 if none does.
func (r *Row) GPUs() int {
	if r.Devices == nil {
		return 0
	}
	return *r.Devices
}

// Trust is the expected error of predictions under a moderate load: the factors on a figure that contain the
// measured value with a probability of 0.8.
type Trust struct {
	Factors  figures.Factors `json:"factors"`
	Compared bool            `json:"compared"` // measured deployments of this combination exist
	Basis    string          `json:"basis"`

	Expected calibration.Expected `json:"-"`
}

// usualLoad is the load that errors are given for: one of the middle range, with
// prompts as long as benchmarks have them.
const (
	usualLoad   = 32
	usualInput  = 1024
	mostDevices = 64 // of a worker: more are hardly run
)

// Run lists what can be predicted. It simulates nothing.
func Run(ctx context.Context, w *session.Session, r Request) (*Response, error) {
	o, err := w.Overlay(r.Calibration)
	if err != nil {
		return nil, err
	}
	if r.Systems == nil {
		r.Systems = device.Names()
	}
	if r.Engines == nil {
		r.Engines = Engines()
	}
	if len(r.Engines) > 1 && r.Version != "" {
		return nil, session.BadInput(field.Errorf("%s %s needs a single engine, got several", field.Name("engine_version"), r.Version))
	}
	l := &lister{world: w, overlay: o, models: map[string]*model.Model{}, version: r.Version}
	if r.Model != "" {
		if l.models[r.Model], err = w.Model(r.Model, ""); err != nil {
			return nil, err
		}
	}
	out := &Response{Request: r, Rows: []Row{}, Caution: session.Caution}
	for _, name := range r.Systems {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d, err := w.Device(name, "")
		if err != nil {
			return nil, err
		}
		rows, err := l.on(d, &r, r.Formats[name])
		if err != nil {
			return nil, err
		}
		out.Rows = append(out.Rows, rows...)
	}
	if r.Model == "" {
		slices.SortStableFunc(out.Rows, func(a, b Row) int { return strings.Compare(a.Model, b.Model) })
	}
	return session.Finish(ctx, out, nil)
}

// lister makes rows.
type lister struct {
	world   *session.Session
	overlay *calibration.Overlay
	models  map[string]*model.Model
	version string
}

// on are the rows of one system.
func (l *lister) on(d *device.Profile, r *Request, f deployment.Formats) ([]Row, error) {
	var out []Row
	for _, e := range r.Engines {
		p, err := session.EngineOn(d.Vendor, e, r.Version)
		if err != nil {
			return nil, err
		}
		names := []string{r.Model}
		if r.Model == "" {
			names = l.overlay.Models(p.Name, d.Name)
		}
		for _, m := range names {
			row, err := l.row(m, d, p, f)
			if err != nil {
				return nil, err
			}
			out = append(out, row)
		}
	}
	return out, nil
}

// row is one model on one system under one engine.
func (l *lister) row(name string, d *device.Profile, p *engine.Profile, f deployment.Formats) (Row, error) {
	m := l.models[name]
	if m == nil {
		var err error
		if m, err = l.world.Model(name, ""); err != nil {
			return Row{}, err
		}
		l.models[name] = m
	}
	pricing := prices.Best(d)
	out := Row{Model: name, System: d.Name, Engine: p.Name, Tier: pricing.Tier(d)}
	if out.Why = engine.Foreign(p.Name, l.version, d); out.Why != "" {
		return out, nil
	}
	at := &session.Stage{Parts: deployment.Parts{Model: m, Device: d, Engine: p}, Prices: &prices.Prices{}, Overlay: l.overlay, Curves: &replica.Curves{}}
	e := experiment.Experiment{Mode: experiment.Aggregated, Model: name, System: d.Name, Engine: deployment.Engine{Name: p.Name, Version: l.version}}
	e.Workers.Formats = f
	spec, why := fewest(&searchrun.Subject{Stage: at, Shape: searchrun.NewShape(at, e.Asked(), false), Lengths: simulate.Traffic{Input: usualInput, Output: usualInput}})
	if out.Why = why; why != "" {
		return out, nil
	}
	out.Devices = new(spec.Layout.Devices)
	out.Aggregated = l.trust(spec, d, p, out.Tier, false)
	if d.Ranks() >= 2*spec.Layout.Devices { // caches travel over its links
		out.Disaggregated = l.trust(spec, d, p, out.Tier, true)
	}
	return out, nil
}

// fewest is the model in the smallest layout that runs, or why none does.
func fewest(s *searchrun.Subject) (spec *graph.Spec, why string) {
	d := s.Stage.Device
	for _, l := range s.Layouts(d, min(mostDevices, max(1, d.Ranks())), &search.Sizes{}) {
		err := s.Fits(l, false, usualLoad, search.Draft{})
		if err != nil {
			why = field.Say(err, parallel.Word)
			continue
		}
		asked := s.Deployment(search.Candidate{Layout: l}, usualLoad)
		if resolved, err := asked.Resolve(s.Stage.Parts); err == nil {
			return &resolved.Pools[0].Spec, ""
		}
	}
	return nil, why
}

// trust is what to expect of predictions of a layout under a moderate load.
func (l *lister) trust(s *graph.Spec, d *device.Profile, p *engine.Profile, tier device.Tier, disaggregated bool) *Trust {
	c := session.About(s, d, prices.Best(d), tier)
	c.Engine, c.Disaggregated, c.Input = p.Name, disaggregated, usualInput
	c.On(s.Layout.Devices, usualLoad, s.Layout.DP, s.Model.HasExperts())
	e := l.overlay.Expect(&c)
	factors := figures.Each[figures.Estimate]{TTFT: e.TTFT.Of(1), TPOT: e.TPOT.Of(1), Throughput: e.Throughput.Of(1)}
	return &Trust{figures.Factors{Each: factors}, l.overlay.Compared(&c.Subject), e.Basis, e}
}
