package ops

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/compat/tensorcast"
	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/replica"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
)

// SimulateRequest asks for a run of requests through a deployment.
type SimulateRequest struct {
	Deployment deployment.Deployment `json:"deployment"`
	Sources
	Traffic

	Seed    uint64          `json:"seed,omitempty"` // 0 = 1
	Limits  workload.Limits `json:"limits,omitzero"`
	Records bool            `json:"records,omitempty"` // one for every request
}

// Traffic is what comes: requests of some lengths, a number in flight, at a rate,
// or from a trace.
type Traffic struct {
	// One of these says how requests come.
	Concurrency int     `json:"concurrency,omitempty"`
	Rate        float64 `json:"rate,omitempty"`
	Trace       string  `json:"trace,omitempty"`
	// Process and Variation say how evenly requests of a rate come.
	Process   sim.Process `json:"arrival,omitempty"`
	Variation float64     `json:"arrival_variation,omitempty"`

	Requests int `json:"num_prompts,omitempty"` // 0 = ten per request in flight, or 1000
	// Input and Output are lengths in tokens; 0 = 1024 and 256. Lengths are uniform
	// from LengthLow of them to all; 0 = 1.
	Input     int     `json:"input_length,omitempty"`
	Output    int     `json:"output_length,omitempty"`
	LengthLow float64 `json:"length_ratio_low,omitempty"`
	// Prefix is how many tokens all prompts begin with that are in the prefix cache from
	// the start.
	Prefix int `json:"prefix_length,omitempty"`
	// InputLengths and OutputLengths, if given, replace those.
	InputLengths  *workload.Distribution `json:"input_distribution,omitempty"`
	OutputLengths *workload.Distribution `json:"output_distribution,omitempty"`
	// Workloads, if given, replace all lengths: requests of several kinds.
	Workloads []Workload `json:"workloads,omitempty"`
}

// The defaults of a simulation.
const (
	DefaultEngine = "vllm"
	DefaultSystem = "h200_sxm"
	DefaultInput  = 1024
	DefaultOutput = 256
)

// maxVariation is far beyond any traffic.
const maxVariation = 100

// SimulateResponse is what came of it.
type SimulateResponse struct {
	Request SimulateRequest
	Model   string
	Device  string
	Engine  string // its name
	Title   string // and as people call it
	Layout  string
	// PrefillLayout is that of the replicas for prompts, if there are any.
	PrefillLayout string
	// Memory is how the engine divides that of one device that generates; its
	// tokens are those of a data-parallel rank.
	Memory engine.Budget
	// Budget is the most tokens of a step of the replicas that compute prompts.
	Budget int
	Result sim.Result
	// Expected are the errors to expect of the means, Chance the probability that
	// means of TTFT and TPOT meet the limits.
	Expected calibration.Expected
	Chance   float64
	// Energy is nil where the power of a device is unknown or nobody asked for it.
	Energy *Energy
	Tier   device.Tier
	// Tables are the measured kernels used, nil without any.
	Tables *prices.Use
	Notes  []string
	// Assumed is what a preset gives.
	Assumed []deployment.Assumption
}

// complete fills in what was left open.
func (r *SimulateRequest) complete() {
	d := &r.Deployment
	if d.System == "" && r.DeviceFile == "" {
		d.System = DefaultSystem
	}
	d.Engine.Name = cmp.Or(d.Engine.Name, DefaultEngine)
	d.Modelling.Policy = cmp.Or(d.Modelling.Policy, physical)
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
	r.LengthLow, r.Seed = cmp.Or(r.LengthLow, 1), cmp.Or(r.Seed, 1)
}

// Simulate runs requests through a deployment.
func (w *World) Simulate(ctx context.Context, r SimulateRequest) (*SimulateResponse, error) {
	s, out, err := w.simulateOnce(ctx, &r)
	if err == nil && len(out.Assumed) > 0 {
		err = w.spread(ctx, s, &r, out)
	}
	if err != nil {
		return nil, err
	}
	out.Tables, err = s.prices.Used()
	return out, badInput(err)
}

// simulateOnce runs requests through a deployment, without asking what settings that are
// assumed could change.
func (w *World) simulateOnce(ctx context.Context, r *SimulateRequest) (*stage, *SimulateResponse, error) {
	s, err := w.simulated(r)
	if err != nil {
		return nil, nil, err
	}
	out, err := w.metered(ctx, s, r)
	return s, out, err
}

// simulate simulates a request that is complete and checked, without its energy: searches
// ask for many and show few.
func (w *World) simulate(ctx context.Context, s *stage, r *SimulateRequest) (*SimulateResponse, error) {
	return w.simulateWith(ctx, s, r, false)
}

// metered is simulate with the energy.
func (w *World) metered(ctx context.Context, s *stage, r *SimulateRequest) (*SimulateResponse, error) {
	return w.simulateWith(ctx, s, r, true)
}

func (w *World) simulateWith(ctx context.Context, s *stage, r *SimulateRequest, metered bool) (*SimulateResponse, error) {
	resolved, fleet, err := s.fleet(&r.Deployment)
	if err != nil {
		return nil, badInput(err)
	}
	client, err := w.client(s, &r.Traffic)
	if err != nil {
		return nil, badInput(err)
	}
	if r.Prefix > 0 && !resolved.Pools[0].Engine.PrefixCaching {
		return nil, badInput(field.Errorf("%s needs a prefix cache: the engine setting prefix_caching=true", field.Name("prefix_length")))
	}
	config := fleet.Config(client)
	var meters *replica.Meters
	if metered {
		meters = fleet.Meter(&config)
	}
	config.Seed, config.Records, config.Limits = r.Seed, r.Records, r.Limits
	config.Progress = func(ended, requests int) { w.tell(Progress{"simulating", ended, requests, "requests"}) }
	result, err := sim.Run(ctx, &config)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, badInput(err)
	}
	serves := resolved.Generates()
	label := func(p *deployment.Served) string { return p.Spec.Layout.Label(s.Model.HasExperts()) }
	out := &SimulateResponse{
		Request: *r, Model: s.Model.Name(), Device: s.Device.Name, Engine: serves.Engine.Name, Title: serves.Engine.Title,
		Layout: label(serves), Memory: fleet.Generates().Memory, Budget: resolved.Pools[0].Engine.TokenBudget, Result: *result,
		Tier:    s.prices.Tier(s.Device, resolved.Pricing),
		Notes:   slices.Concat(s.Model.Notes, resolved.Notes, r.onLength(s, client)),
		Assumed: resolved.Assumed,
	}
	if resolved.Disaggregated() {
		out.PrefillLayout = label(&resolved.Pools[0])
	}
	out.Expected = s.overlay.Expect(r.about(s, resolved, result, out.Tier))
	out.Chance = out.Expected.Chance(result.TTFT.Mean, result.TPOT.Mean, r.Limits)
	if metered {
		out.Energy = energyOf(meters, result, resolved)
	}
	return out, nil
}

// CheckSimulate reports what is wrong with a request and the names in it.
func (w *World) CheckSimulate(r SimulateRequest) error {
	_, err := w.simulated(&r)
	return err
}

// simulated completes and checks a request and finds what it names.
func (w *World) simulated(r *SimulateRequest) (*stage, error) {
	r.complete()
	s, err := w.stage(&r.Deployment, &r.Sources)
	wrong := errors.Join(r.check(), w.workloads(s, &r.Traffic))
	if s.Model != nil {
		wrong = errors.Join(wrong, r.checkPositions(s.Model))
	}
	return s, errors.Join(err, badInput(wrong))
}

// fleet is a deployment ready to be simulated, as the calibration scales it.
func (s *stage) fleet(d *deployment.Deployment) (*deployment.Resolved, *replica.Fleet, error) {
	resolved, err := d.Resolve(s.Parts)
	if err != nil {
		return nil, nil, err
	}
	f, err := s.build(resolved)
	if err != nil {
		return nil, nil, err
	}
	return resolved, f.Scaled(s.overlay.Multipliers(calibration.SubjectOfDeployment(resolved))), nil
}

// build prepares the replicas of a deployment, before any calibration.
func (s *stage) build(d *deployment.Resolved) (*replica.Fleet, error) {
	return replica.NewFleet(d, s.coster)
}

// coster is the prices of a pool.
func (s *stage) coster(p *deployment.Served) (cost.Coster, error) {
	policy := &p.Spec.Policy
	return s.prices.Coster(p.Device, p.Pricing, tensorcast.Is(policy), policy.FreeUnsupported)
}

// InStep reports whether nothing tells one request from another: those in flight
// then end together and begin together.
func (r *SimulateResponse) InStep() bool {
	q := &r.Request
	return q.Concurrency > 1 && q.LengthLow == 1 && q.InputLengths == nil && q.OutputLengths == nil && q.Workloads == nil
}

// about is what the run predicts.
func (r *SimulateRequest) about(s *stage, d *deployment.Resolved, result *sim.Result, tier device.Tier) *calibration.Case {
	serves := d.Generates()
	out := about(&serves.Spec, s.Device, d.Pricing, tier)
	out.Engine, out.Disaggregated = serves.Engine.Name, d.Disaggregated()
	out.Input, out.KVPeak = r.Input, result.KVPeak()
	inFlight := float64(r.Concurrency)
	if r.Concurrency == 0 { // on average, by Little's law
		inFlight = result.RequestRate * float64(result.Latency.Mean)
	}
	l := &serves.Spec.Layout
	out.On(l.Devices, int(math.Ceil(inFlight/float64(serves.Replicas))), l.DP, s.Model.HasExperts())
	switch {
	case r.InputLengths != nil:
		out.Input = r.InputLengths.MeanEffective(0)
	case (r.Trace != "" || s.kinds != nil) && result.RequestRate > 0:
		out.Input = int(math.Round(result.InputRate / result.RequestRate))
	}
	return &out
}

// check reports what is wrong with the request itself.
func (r *SimulateRequest) check() error {
	var errs []error
	for _, v := range []struct {
		name field.Name
		is   float64
	}{{"concurrency", float64(r.Concurrency)}, {"rate", r.Rate}, {"num_prompts", float64(r.Requests)}} {
		if !(v.is >= 0) || math.IsInf(v.is, 1) {
			errs = append(errs, field.Errorf("%s must be positive and finite, got %g", v.name, v.is))
		}
	}
	errs = append(errs, r.checkArrivals(), checkLimits(r.Limits))
	if r.Trace == "" && (r.Input < 1 || r.Output < 1 || r.Input > maxTokens || r.Output > maxTokens) {
		errs = append(errs, field.Errorf("%s and %s must be between 1 and %d, got %d and %d",
			field.Name("input_length"), field.Name("output_length"), maxTokens, r.Input, r.Output))
	}
	if !(r.LengthLow > 0 && r.LengthLow <= 1) {
		errs = append(errs, field.Errorf("%s must be above 0 and at most 1, got %g", field.Name("length_ratio_low"), r.LengthLow))
	}
	return errors.Join(append(errs, r.checkPrefix(), r.checkPools())...)
}

// checkPrefix reports what is wrong with the beginning that prompts share.
func (r *SimulateRequest) checkPrefix() error {
	const prefix field.Name = "prefix_length"
	switch {
	case r.Prefix < 0:
		return field.Errorf("%s must be at least 0, got %d", prefix, r.Prefix)
	case r.Prefix > 0 && r.Trace != "":
		return field.Errorf("%s excludes %s, which says what prompts share", prefix, field.Name("trace"))
	case r.Prefix > 0 && r.InputLengths == nil && r.LengthLow == 1 && r.Prefix >= r.Input:
		return field.Errorf("%s must be less than %s %d, got %d", prefix, field.Name("input_length"), r.Input, r.Prefix)
	}
	return nil
}

// checkPools reports what is wrong with the numbers of pools.
func (r *SimulateRequest) checkPools() error {
	var errs []error
	for i := range r.Deployment.Pools {
		p := &r.Deployment.Pools[i]
		name := field.Name("replicas")
		if p.Role == deployment.Prefill {
			name = "prefill_replicas"
		}
		if p.Replicas < 0 {
			errs = append(errs, field.Errorf("%s must be at least 1, got %d", name, p.Replicas))
		}
		if first := &r.Deployment.Pools[0]; i == 0 || p.MTP != first.MTP || !slices.Equal(p.AcceptanceRates, first.AcceptanceRates) {
			errs = append(errs, between("num_mtp_tokens", p.MTP, 0, deployment.MaxMTP), acceptance(p.AcceptanceRates))
		}
	}
	return errors.Join(errs...)
}

// checkArrivals reports what is wrong with how requests come.
func (r *Traffic) checkArrivals() error {
	ways := 0
	for _, given := range []bool{r.Concurrency != 0, r.Rate != 0, r.Trace != ""} {
		if given {
			ways++
		}
	}
	const arrival, variation field.Name = "arrival", "arrival_variation"
	switch {
	case ways != 1:
		return field.Errorf("give one of %s, %s and %s", field.Name("concurrency"), field.Name("rate"), field.Name("trace"))
	case r.Rate == 0 && r.Process != sim.Poisson:
		return field.Errorf("%s %v needs %s", arrival, r.Process, field.Name("rate"))
	case r.Variation != 0 && r.Process != sim.Gamma:
		return field.Errorf("%s needs %s gamma", variation, arrival)
	case r.Process == sim.Gamma && !(r.Variation > 0 && r.Variation <= maxVariation):
		return field.Errorf("%s gamma needs %s above 0 and at most %d, got %g", arrival, variation, maxVariation, r.Variation)
	}
	return nil
}

// client says which requests come.
func (w *World) client(s *stage, r *Traffic) (sim.Client, error) {
	var mix sim.Mix
	if s.kinds != nil {
		mix = s.kinds.mix
	}
	input := sim.Lengths{Tokens: r.Input, Low: r.LengthLow, Distribution: r.InputLengths}
	output := sim.Lengths{Tokens: r.Output, Low: r.LengthLow, Distribution: r.OutputLengths}
	switch {
	case r.Trace != "":
		data, err := w.read("trace", r.Trace)
		if err != nil {
			return nil, err
		}
		trace, err := workload.ReadTrace(bytes.NewReader(data), r.Trace)
		if err != nil {
			return nil, err
		}
		return &sim.Trace{Requests: trace.Requests, BlockTokens: trace.BlockTokens}, nil
	case r.Rate > 0:
		return sim.OpenLoop{
			Rate: r.Rate, Process: r.Process, Variation: r.Variation, Requests: cmp.Or(r.Requests, 1000), Input: input, Output: output,
			Prefix: r.Prefix, Mix: mix,
		}, nil
	}
	loop := sim.Benchmark(r.Concurrency, input, output)
	loop.Requests, loop.Prefix, loop.Mix = cmp.Or(r.Requests, loop.Requests), r.Prefix, mix
	return loop, nil
}
