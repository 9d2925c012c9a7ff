package simulate

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/replica"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// Request is a simulation of a deployment under load.
type Request struct {
	Deployment deployment.Deployment `json:"deployment" required:"true"`
	session.Sources
	Traffic

	// Protocol is steady or benchmark; without one it is steady, or benchmark if num_prompts is given.
	Protocol Protocol `json:"protocol,omitempty"`

	Seed   uint64          `json:"seed,omitempty" minimum:"1" maximum:"9007199254740991"` // 0 = 1
	Limits workload.Limits `json:"limits,omitzero"`
	// Statistic is reported beside the usual ones, and a steady run goes on until its sampling error is small.
	workload.Statistic

	Records bool `json:"records,omitempty"` // keep one record per request
	// Timeline asks for what replicas do over a minute of the run.
	Timeline bool `json:"timeline,omitempty"`

	// File is where the deployment was read from, if it was.
	File string `json:"-"`
}

// The defaults of a simulation.
const (
	DefaultEngine = "vllm"
	DefaultSystem = "h200_sxm"
	DefaultInput  = 1024
	DefaultOutput = 256
)

// Complete fills in defaults.
func (r *Request) Complete() {
	d := &r.Deployment
	if d.System == "" && r.DeviceFile == "" {
		d.System = DefaultSystem
	}
	d.Engine.Name = cmp.Or(d.Engine.Name, DefaultEngine)
	d.Modelling.Policy = cmp.Or(d.Modelling.Policy, graph.Physical().Name)
	if len(d.Pools) == 0 {
		d.Pools = []deployment.Pool{{}}
	}
	d.Pools = slices.Clone(d.Pools)
	for i := range d.Pools {
		p := &d.Pools[i]
		if p.Role == "" {
			p.Role = deployment.Both
		}
		if l := &p.Layout; l.Devices == 0 {
			l.Devices = max(1, l.TP) * max(1, l.DP) * max(1, l.PP)
		}
	}
	r.Input, r.Output = cmp.Or(r.Input, DefaultInput), cmp.Or(r.Output, DefaultOutput)
	r.LengthLow, r.Seed, r.Protocol = cmp.Or(r.LengthLow, 1), cmp.Or(r.Seed, 1), cmp.Or(r.Protocol, r.usualProtocol())
}

// Run runs requests through a deployment.
func Run(ctx context.Context, w *session.Session, r Request) (*Response, error) {
	s, out, err := Once(ctx, w, &r)
	if err == nil && len(out.Assumed) > 0 {
		err = spread(ctx, w, s, &r, out)
	}
	if err != nil {
		return nil, err
	}
	out.AddGuide(ctx, s)
	out.Command = r.CommandLine()
	out.Tables, err = s.Prices.Used()
	return session.Finish(ctx, out, session.BadInput(err))
}

// Once runs requests through a deployment, without testing the effect of assumed settings.
func Once(ctx context.Context, w *session.Session, r *Request) (*session.Stage, *Response, error) {
	s, err := Prepare(w, r)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, nil, err
	}
	out, err := Metered(ctx, w, s, r)
	return s, out, err
}

// On simulates a complete, checked request without its energy: searches run many and show few.
func On(ctx context.Context, w *session.Session, s *session.Stage, r *Request) (*Response, error) {
	return simulate(ctx, w, s, r, false)
}

// Metered is simulate with the energy.
func Metered(ctx context.Context, w *session.Session, s *session.Stage, r *Request) (*Response, error) {
	return simulate(ctx, w, s, r, true)
}

func simulate(ctx context.Context, w *session.Session, s *session.Stage, r *Request, metered bool) (*Response, error) {
	resolved, fleet, err := s.Fleet(&r.Deployment)
	if err != nil {
		return nil, session.BadInput(err)
	}
	client, err := Client(w, s, &r.Traffic)
	if err != nil {
		return nil, session.BadInput(err)
	}
	if err := r.checkCache(resolved.Pools[0].Engine.PrefixCaching); err != nil {
		return nil, session.BadInput(err)
	}
	config := fleet.Config(client)
	var meters *replica.Meters
	if metered {
		meters = fleet.Meter(&config)
	}
	config.Timeline = r.Timeline
	config.Seed, config.Records, config.Limits, config.Percentile, config.SLORatios = r.Seed, r.Records, r.Limits, r.At(), r.Goodput > 0
	if r.Protocol == Steady {
		config.Steady = &statistics.Steady{Percentile: r.At(), Requests: r.Requests, Sessions: true}
	}
	config.Progress = func(ended, requests int) {
		w.Tell(session.Progress{Task: "simulating", Done: ended, Of: requests, What: "requests"})
	}
	result, err := sim.Run(ctx, &config)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, session.BadInput(err)
	}
	return respond(s, r, &simulated{resolved, fleet, client, result, meters}), nil
}

// Of is the response of a request whose simulation a search has done, with meters.
func Of(w *session.Session, s *session.Stage, r *Request, done *search.Ran) (*Response, error) {
	resolved, fleet, err := s.Fleet(&r.Deployment)
	if err != nil {
		return nil, err
	}
	client, err := Client(w, s, &r.Traffic)
	if err != nil {
		return nil, err
	}
	return respond(s, r, &simulated{resolved, fleet, client, done.Result, done.Meters}), nil
}

// simulated is a simulation that has ended; meters are nil where it had none.
type simulated struct {
	resolved *deployment.Resolved
	fleet    *replica.Fleet
	client   traffic.Client
	result   *statistics.Result
	meters   *replica.Meters
}

// respond is the response of a simulation.
func respond(s *session.Stage, r *Request, x *simulated) *Response {
	serves := x.resolved.Generates()
	label := func(p *deployment.Served) string { return p.Spec.Layout.Label(s.Model.HasExperts()) }
	out := &Response{
		Request: *r, Model: s.Model.Name(), Device: s.Device.Name, Engine: serves.Engine.Name, Title: serves.Engine.Title,
		Layout: label(serves), Memory: x.fleet.Generates().Memory, Sent: x.fleet.Generates().BytesPerToken, Budget: x.resolved.Pools[0].Engine.TokenBudget, Result: *x.result,
		Tier:    s.Prices.Tier(s.Device, x.resolved.Pricing),
		Notes:   append([]string{}, slices.Concat(s.Model.Notes, x.resolved.Notes, r.onLength(s, x.client), r.onSampling(x.result))...),
		Assumed: x.resolved.Assumed,
	}
	if x.resolved.Disaggregated() {
		out.PrefillLayout = label(&x.resolved.Pools[0])
	}
	out.About = r.About(s, x.resolved, x.result, out.Tier)
	out.expect(s.Overlay.Expect(out.About))
	out.present()
	if x.meters != nil {
		out.Energy = EnergyOf(x.meters, x.result, x.resolved)
	}
	return out
}

// Check reports the errors in a request and its names.
func Check(w *session.Session, r Request) error {
	_, err := Prepare(w, &r)
	return err
}

// Prepare completes and checks a request and resolves its names.
func Prepare(w *session.Session, r *Request) (*session.Stage, error) {
	r.Complete()
	s, err := w.Stage(&r.Deployment, &r.Sources)
	wrong := errors.Join(r.check(), workloads(w, s, &r.Traffic))
	if s.Model != nil {
		wrong = errors.Join(wrong, r.checkPositions(s.Model))
	}
	return s, errors.Join(err, session.BadInput(wrong))
}

// InStep reports whether all requests are identical: those in flight then start and end together.
func (r *Response) InStep() bool {
	q := &r.Request
	return q.Protocol == Benchmark && q.Concurrency > 1 && q.LengthLow == 1 && q.InputLengths == nil && q.OutputLengths == nil && q.Workloads == nil
}

// About describes the prediction, for its expected error.
func (r *Request) About(s *session.Stage, d *deployment.Resolved, result *statistics.Result, tier device.Tier) *calibration.Case {
	serves := d.Generates()
	out := session.About(&serves.Spec, s.Device, d.Pricing, tier)
	out.Subject = calibration.SubjectOfDeployment(d)
	out.Input, out.KVPeak = r.Input, result.KVPeak()
	inFlight := float64(r.Concurrency)
	if r.Concurrency == 0 || s.Kinds != nil && s.Kinds.Sessions != nil { // on average, by Little's law
		inFlight = result.RequestRate * float64(result.Latency.Mean)
	}
	l := &serves.Spec.Layout
	out.On(l.Devices, int(math.Ceil(inFlight/float64(serves.Replicas))), l.DP, s.Model.HasExperts())
	switch {
	case r.InputLengths != nil:
		out.Input = r.InputLengths.MeanEffective(0)
	case (r.Trace != "" || s.Kinds != nil) && result.RequestRate > 0:
		out.Input = int(math.Round(result.InputRate / result.RequestRate))
	}
	return &out
}

// check reports the errors in the request itself.
func (r *Request) check() error {
	var errs []error
	for _, v := range []struct {
		name field.Name
		is   float64
	}{{"concurrency", float64(r.Concurrency)}, {"rate", r.Rate}, {"num_prompts", float64(r.Requests)}} {
		if !(v.is >= 0) || math.IsInf(v.is, 1) {
			errs = append(errs, field.Errorf("%s must be positive and finite, got %g", v.name, v.is))
		}
	}
	errs = append(errs, r.checkArrivals(), session.CheckLimits(r.Limits), r.CheckStatistic(r.Limits), r.Protocol.check())
	if r.Trace == "" && (r.Input < 1 || r.Output < 1 || r.Input > session.MaxTokens || r.Output > session.MaxTokens) {
		errs = append(errs, field.Errorf("%s and %s must be between 1 and %d, got %d and %d",
			field.Name("input_length"), field.Name("output_length"), session.MaxTokens, r.Input, r.Output))
	}
	if !(r.LengthLow > 0 && r.LengthLow <= 1) {
		errs = append(errs, field.Errorf("%s must be above 0 and at most 1, got %g", field.Name("length_ratio_low"), r.LengthLow))
	}
	return errors.Join(append(errs, r.checkPrefix(), r.checkPools())...)
}

// checkPrefix reports errors in the shared prefix.
func (r *Request) checkPrefix() error {
	const prefix field.Name = "prefix_length"
	switch {
	case r.Prefix < 0:
		return field.Errorf("%s must be at least 0, got %d", prefix, r.Prefix)
	case r.Prefix > 0 && r.Trace != "":
		return field.Errorf("%s excludes %s, which gives the shared prefixes", prefix, field.Name("trace"))
	case r.Prefix > 0 && r.InputLengths == nil && r.LengthLow == 1 && r.Prefix >= r.Input:
		return field.Errorf("%s must be less than %s %d, got %d", prefix, field.Name("input_length"), r.Input, r.Prefix)
	}
	return nil
}

// checkCache reports a setting that needs a prefix cache where the engine has none.
func (r *Request) checkCache(has bool) error {
	const needs = "%s needs the engine setting prefix_caching=true"
	switch {
	case has:
	case r.Prefix > 0:
		return field.Errorf(needs, field.Name("prefix_length"))
	case r.Deployment.Host.GiB > 0:
		return field.Errorf(needs, field.Name("host_cache"))
	}
	return nil
}

// checkPools reports errors in the sizes of pools.
func (r *Request) checkPools() error {
	var errs []error
	for i := range r.Deployment.Pools {
		p := &r.Deployment.Pools[i]
		name := field.Name("replicas")
		if p.Role == deployment.Prefill {
			name = "prefill_replicas"
		}
		if p.Replicas != 0 { // 0 is one
			errs = append(errs, field.Between(name, p.Replicas, 1, sim.MaxReplicas))
		}
		if first := &r.Deployment.Pools[0]; i == 0 || p.MTP != first.MTP || !slices.Equal(p.AcceptanceRates, first.AcceptanceRates) {
			errs = append(errs, field.Between("num_mtp_tokens", p.MTP, 0, deployment.MaxMTP), session.Acceptance(p.AcceptanceRates))
		}
	}
	return errors.Join(errs...)
}

// Remembered is a simulation from the memo, with the probability of meeting the request's
// limits, or a new one.
func Remembered(w *session.Session, r *Request, sources *session.Sources, simulate func() (*Response, error)) (*Response, error) {
	if w.Memo == nil || w.Memo.Size < 1 {
		return simulate()
	}
	asked := *r
	asked.Sources = *sources
	if r.Goodput == 0 { // figures do not depend on limits
		asked.Limits = workload.Limits{}
	}
	known, err := session.Recall(w.Memo, "simulations", w.Memo.Size, asked, func() (*Response, error) {
		out, err := simulate()
		if err == nil {
			out.Result.Series, out.Result.Records = nil, nil
		}
		return out, err
	})
	if err != nil {
		return nil, err
	}
	out := *known
	out.Request = *r
	out.present()
	return &out, nil
}
