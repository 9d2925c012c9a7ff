package step

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/compat/tensorcast"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/memory"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/cost/table"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/replica"
)

// Request is one forward pass of a deployment with one pool. With an engine, the response
// also has the step time under it.
type Request struct {
	_ struct{} `anyOf:"query_length,decode"`

	Deployment deployment.Deployment `json:"deployment" required:"true"`
	session.Sources

	Queries       int  `json:"num_queries,omitempty" minimum:"1" maximum:"100000000"`    // over all data-parallel ranks; 0 = 1
	QueryLength   int  `json:"query_length,omitempty" minimum:"1" maximum:"100000000"`   // new tokens of each; 0 in a decode = 1 + MTP
	ContextLength int  `json:"context_length,omitempty" minimum:"0" maximum:"100000000"` // tokens cached before the step
	Decode        bool `json:"decode,omitempty"`
	// PrefixHitRate is the share of a prefill query that is cached.
	PrefixHitRate float64 `json:"prefix_cache_hit_rate,omitempty" minimum:"0" exclusiveMaximum:"1"`
	// Layers evaluates only the first layers of the model; 0 = all.
	Layers int `json:"num_hidden_layers_override,omitempty" minimum:"1" maximum:"100000"`
	// Multistream runs communication on a separate stream.
	Multistream bool    `json:"multistream,omitempty"`
	ReservedGiB float64 `json:"reserved_memory_gb,omitempty" minimum:"0" maximum:"1000000"`
	ImageHeight int     `json:"image_height,omitempty" minimum:"1" maximum:"65536"`
	ImageWidth  int     `json:"image_width,omitempty" minimum:"1" maximum:"65536"`
	ImageBatch  int     `json:"image_batch_size,omitempty" minimum:"1" maximum:"100000000"` // images of each request; 0 = 1
}

// Response is one forward pass, evaluated.
type Response struct {
	// Command is the command line of this answer, Request the request in JSON.
	Command string  `json:"command,omitempty"`
	Request Request `json:"request"`

	Model  string `json:"model"`
	Device string `json:"device"`
	Layout string `json:"layout"`
	Policy string `json:"policy"`
	// Pricing is the cost model of operators that no kernel table covers.
	Pricing  prices.Pricing `json:"pricing"`
	Compiled bool           `json:"compiled"` // operators are fused

	Total  figures.Estimate `json:"total_s"`
	Tokens figures.Estimate `json:"tokens_per_second_gpu"` // in steps of the engine, if one is given
	Basis  string           `json:"basis"`                 // source of the intervals

	// Silicon is the step with times of measured kernels, on Ascend's devices, beside that by the assumptions of Ascend's model.
	Silicon *Silicon `json:"silicon,omitempty"`
	// Engine is the step under an engine, nil without one.
	Engine *EngineStep `json:"engine,omitempty"`
	// Energy is missing where the power of the device is unknown.
	Energy *Energy `json:"energy,omitempty"`

	Weights    units.InGiB `json:"weights_gib"`
	KV         units.InGiB `json:"kv_gib"`
	Activation units.InGiB `json:"activation_gib"`
	Reserved   units.InGiB `json:"reserved_gib"`
	Available  units.InGiB `json:"available_gib"`

	// Bound is the time of operators by what bounds them, launches aside.
	Bound  step.Bounds   `json:"bound_s"`
	Fixed  units.Seconds `json:"fixed_s"`
	Hidden units.Seconds `json:"hidden_s"`
	// Measured is the part of the step's time from kernel tables.
	Measured units.Seconds `json:"measured_s"`

	Operators []step.Operator `json:"operators"`
	// Deviations are the policy entries that changed the time noticeably.
	Deviations []Effect    `json:"deviations"`
	Tier       device.Tier `json:"tier"`
	Tables     *prices.Use `json:"tables,omitempty"`
	Notes      []string    `json:"notes"`

	// The rest is for people.

	Time            units.Seconds `json:"-"` // as in Total
	TokensPerSecond float64       `json:"-"` // as in Tokens

	Sizes   parallel.Layout `json:"-"` // the layout, complete
	Formats FormatWords     `json:"-"` // those that matter
	MTP     int             `json:"-"`
	Images  graph.Images    `json:"-"`
	// Requests, Query and Seq are those of one data-parallel rank; Seq is the tokens
	// of a request after the step.
	Requests     int               `json:"-"`
	Query        int               `json:"-"`
	Seq          int               `json:"-"`
	Decode       bool              `json:"-"`
	DeviceMemory units.Bytes       `json:"-"`
	Error        calibration.Error `json:"-"` // expected of the step time
	// Result is the step with every call of an operator and its price.
	Result step.Result `json:"-"`
}

// FormatWords are number formats as words; Experts is empty where they are the
// linear layers'.
type FormatWords struct{ Linear, Experts, KV string }

// EngineStep is what an engine makes of a step.
type EngineStep struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	// Time is the sum of Kernels, as calibrated, and Host.
	Time    units.Seconds `json:"step_s"`
	Kernels units.Seconds `json:"kernels_s"`
	Host    units.Seconds `json:"host_s"`
}

// Effect is the effect of a policy entry on a step.
type Effect struct {
	Name  string  `json:"name"`
	Doc   string  `json:"doc"`
	Share float64 `json:"share"` // of the step's time: 0.25 = a quarter of it is the deviation
}

// visible is the smallest share of the step time at which a deviation is reported.
const visible = 0.01

// complete fills in defaults.
func (r *Request) complete() {
	d := &r.Deployment
	if d.System == "" && r.DeviceFile == "" {
		d.System = DefaultDevice
	}
	if len(d.Pools) == 0 {
		d.Pools = []deployment.Pool{{}}
	}
	d.Pools = slices.Clone(d.Pools)
	p := &d.Pools[0]
	if p.Role == "" {
		p.Role = deployment.Both
	}
	if r.Queries == 0 {
		r.Queries = 1
	}
	d.Modelling.Images = r.ImageHeight > 0 && !r.Decode
}

// DefaultDevice is the default of the Ascend tools.
const DefaultDevice = "TEST_DEVICE"

// Run evaluates one forward pass.
func Run(ctx context.Context, w *session.Session, r Request) (*Response, error) {
	s, err := prepare(w, &r)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	resolved, err := r.Deployment.Resolve(s.Parts)
	if err != nil {
		return nil, session.BadInput(err)
	}
	served := &resolved.Pools[0]
	spec := &served.Spec
	if served.Engine != nil && tensorcast.Is(&spec.Policy) {
		return nil, session.BadInput(field.Errorf("%s needs %s physical: engine times are fitted with that policy", field.Name("engine"), field.Name("policy")))
	}
	batch := r.batch(s.Model, spec)
	g, err := graph.New(*spec)
	if err != nil {
		return nil, session.BadInput(err)
	}
	c, err := s.Prices.Coster(s.Device, resolved.Pricing, tensorcast.Is(&spec.Policy), spec.Policy.FreeUnsupported)
	if err != nil {
		return nil, session.BadInput(err)
	}
	out := newResponse(resolved, batch)
	out.Request, out.Command = r, r.CommandLine()
	out.take(step.New(g, c).Evaluate(batch, r.Multistream))
	out.Tier = s.Prices.Tier(s.Device, resolved.Pricing)
	if out.Tables, err = s.Prices.Used(); err != nil {
		return nil, session.BadInput(err)
	}
	if m, ok := c.(*table.Model); ok {
		out.kernels(m)
	}
	out.hold(memory.New(spec).Use(batch, s.Device.Memory, units.Bytes(r.ReservedGiB)*units.GiB))
	out.Deviations = Deviations(resolved, spec, batch, out.Time+out.Hidden)
	lasts := out.Time
	if served.Engine != nil {
		out.Engine = engineStep(served, batch, &out.Result.Times, s.Overlay)
		lasts = out.Engine.Time
	}
	out.TokensPerSecond = float64(r.Queries) * float64(out.Query) / float64(lasts) / float64(spec.Layout.Devices)
	out.Energy = energyOf(served, out)
	out.expect(s, resolved, spec)
	if s.Device.Vendor == device.Ascend && tensorcast.Is(&spec.Policy) {
		out.Silicon = silicon(ctx, w, r)
	}
	return session.Finish(ctx, out, nil)
}

// Silicon is a step as measured kernels say.
type Silicon struct {
	Total figures.Estimate `json:"total_s"`
}

// silicon is a step without the assumptions of Ascend's model; nil where it cannot be priced, or no kernels of the device or a relative were
// measured.
func silicon(ctx context.Context, w *session.Session, r Request) *Silicon {
	r.Deployment.Modelling.Policy, r.Deployment.Modelling.Pricing = graph.Physical().Name, ""
	x, err := Run(ctx, w, r)
	if err != nil || x.Tier == device.Datasheet {
		return nil
	}
	return &Silicon{x.Total}
}

// Check reports the errors in a request and its names.
func Check(w *session.Session, r Request) error {
	_, err := prepare(w, &r)
	return err
}

// prepare completes and checks a request and resolves its names.
func prepare(w *session.Session, r *Request) (*session.Stage, error) {
	r.complete()
	s, err := w.Stage(&r.Deployment, &r.Sources)
	err = errors.Join(err, session.BadInput(r.check(s.Model)))
	if err == nil && r.Layers > 0 {
		s.Model = s.Model.Shortened(r.Layers)
	}
	return s, err
}

// check reports numbers out of range; without a model (nil) only those that do not depend on it.
func (r *Request) check(m *model.Model) error {
	query := r.query(r.Deployment.Pools[0].MTP)
	err := errors.Join(
		field.Between("num_queries", r.Queries, 1, session.MaxTokens),
		r.checkQuery(query),
		field.Between("context_length", r.ContextLength, 0, session.MaxTokens),
		session.HitRate(r.PrefixHitRate),
		session.NotNegative("reserved_memory_gb", r.ReservedGiB),
		session.CheckEngine(&r.Deployment.Engine),
	)
	if m == nil {
		return err
	}
	images := 0
	if !r.Decode { // else they are in the context, or may be
		images = r.imageTokens(m)
	}
	return errors.Join(err, session.CheckImages(m, r.ImageBatch, r.ImageHeight, r.ImageWidth),
		field.Between("num_hidden_layers_override", r.Layers, 0, len(m.Layers)),
		session.Within(m, session.Span{Name: "context_length", Tokens: r.ContextLength}, session.Span{Name: "query_length", Tokens: query}, images))
}

// checkQuery reports new tokens out of range, or that nothing says how many they are.
func (r *Request) checkQuery(query int) error {
	const name field.Name = "query_length"
	if query == 0 {
		return field.Errorf("%s is missing: the new tokens of each request, 1 to %d; or give %s for a decode step of one token", name, session.MaxTokens, field.Name("decode"))
	}
	return field.Between(name, query, 1, session.MaxTokens)
}

// query is the new tokens of a request with a number of drafted ones.
func (r *Request) query(mtp int) int {
	if r.QueryLength == 0 && r.Decode {
		return 1 + max(0, mtp)
	}
	return r.QueryLength
}

// newResponse describes a step before it is evaluated.
func newResponse(d *deployment.Resolved, b graph.Batch) *Response {
	spec, g := &d.Pools[0].Spec, &b.Segments[0]
	q := &spec.Quant
	words := FormatWords{Linear: q.Attention.Name(), KV: q.KV.String()}
	if e := q.Experts.Name(); d.Model.HasExperts() && e != words.Linear {
		words.Experts = e
	}
	return &Response{
		Model: d.Model.Name(), Device: d.Device.Name, DeviceMemory: d.Device.Memory,
		Sizes: spec.Layout, Layout: spec.Layout.Label(d.Model.HasExperts()), Formats: words,
		Policy: spec.Policy.Name, Pricing: d.Pricing, Compiled: spec.Compile, MTP: spec.MTP, Images: b.Images,
		Requests: g.Requests, Query: g.Query, Seq: g.Seq, Decode: g.Decode,
		Notes: append([]string{}, slices.Concat(d.Model.Notes, d.Notes, session.OnLength(d.Model, g.Seq))...),
	}
}

// take adds the times of an evaluated step.
func (r *Response) take(s *step.Result) {
	r.Time, r.Bound, r.Fixed, r.Hidden, r.Measured = s.Time, s.Bound, s.Fixed, s.Hidden, s.Measured
	r.Operators, r.Result = s.Operators, *s
}

// hold adds the memory of a step.
func (r *Response) hold(u memory.Use) {
	r.Weights, r.KV, r.Activation = units.InGiB(u.Weights), units.InGiB(u.KV), units.InGiB(u.Activation)
	r.Reserved, r.Available = units.InGiB(u.Reserved), units.InGiB(u.Available)
}

// expect is the expected error of the step time.
func (r *Response) expect(s *session.Stage, d *deployment.Resolved, spec *graph.Spec) {
	c := session.About(spec, s.Device, d.Pricing, r.Tier)
	c.Method, c.Decode = calibration.SingleStep, r.Decode
	ranks := spec.Layout.DP
	c.On(spec.Layout.Devices, r.Requests*ranks, ranks, s.Model.HasExperts())
	c.TensorCast = tensorcast.Is(&spec.Policy)
	e := s.Overlay.Expect(&c)
	r.Error, r.Basis = e.TPOT, e.Basis
	r.Total, r.Tokens = r.Error.Of(float64(r.Time)), r.Error.Inverse().Of(r.TokensPerSecond)
}

// engineStep is the step under an engine, with the code and calibration of a simulation.
func engineStep(p *deployment.Served, b graph.Batch, times *step.Times, o *calibration.Overlay) *EngineStep {
	e := p.Engine
	pace := replica.NewPace(&p.Spec, p.Device, e).Scaled(o.Multipliers(calibration.SubjectOfServed(p)))
	s := &b.Segments[0]
	decode, prompts, tokens := s.Requests, 0, 0
	if !s.Decode {
		decode, prompts, tokens = 0, s.Requests, s.Requests*s.Query
	}
	out := &EngineStep{Name: e.Name, Title: e.Title}
	out.Time, out.Kernels = pace.Step(times, decode, prompts, tokens)
	out.Host = out.Time - out.Kernels
	return out
}

// kernels names the measured kernels behind each operator.
func (r *Response) kernels(m *table.Model) {
	for i := range r.Operators {
		var names []string
		for k := range r.Result.Items {
			if o := &r.Result.Items[k].Op; o.Name.String() == r.Operators[i].Name {
				if s := m.Source(o); s != "" && !slices.Contains(names, s) {
					names = append(names, s)
				}
			}
		}
		r.Operators[i].Kernels = strings.Join(names, "; ")
	}
}

// batch builds the batch of one data-parallel rank.
func (r *Request) batch(m *model.Model, s *graph.Spec) graph.Batch {
	query, context := r.query(s.MTP), r.ContextLength
	if !r.Decode {
		hit := min(int(float64(query)*r.PrefixHitRate), query-1)
		query, context = query-hit, context+hit
	}
	requests := s.Layout.PerRank(r.Queries)
	b := graph.Batch{}
	switch tokens := r.imageTokens(m); {
	case tokens == 0:
	case !r.Decode:
		b.Images = graph.Pictures(m.Vision, max(1, r.ImageBatch)*requests, r.ImageHeight, r.ImageWidth)
		query += tokens
	case s.Policy.AddedImages:
		context += tokens
	}
	b.Segments = []graph.Segment{{Requests: requests, Query: query, Seq: context + query, Decode: r.Decode}}
	return b
}

// imageTokens are those that the images of a request take.
func (r *Request) imageTokens(m *model.Model) int {
	return session.ImageTokens(m, r.ImageBatch, r.ImageHeight, r.ImageWidth)
}

// Deviations finds the policy entries with a noticeable effect, by reverting each alone with the prices unchanged.
func Deviations(d *deployment.Resolved, spec *graph.Spec, b graph.Batch, time units.Seconds) []Effect {
	out := []Effect{}
	for _, a := range tensorcast.Deviations() {
		if !a.In(spec.Policy) {
			continue
		}
		other := a.From(*spec)
		g, err := graph.New(other)
		if err != nil {
			continue // the deviation is what makes the layout legal
		}
		without := step.New(g, d.Pricing.Form(d.Device, other.Policy.FreeUnsupported)).Totals(b).Time
		if share := float64((time - without) / time); math.Abs(share) >= visible {
			out = append(out, Effect{a.Name, a.Doc, share})
		}
	}
	return out
}
