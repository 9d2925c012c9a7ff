package app

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"plimsoll/internal/calibrate"
	"plimsoll/internal/cost"
	"plimsoll/internal/device"
	"plimsoll/internal/dtype"
	"plimsoll/internal/engine"
	"plimsoll/internal/graph"
	"plimsoll/internal/model"
	"plimsoll/internal/parallel"
	"plimsoll/internal/replica"
	"plimsoll/internal/serving"
	"plimsoll/internal/sim"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// SimulateRequest asks for a run of requests through a deployment.
type SimulateRequest struct {
	Model, Device, DeviceFile string
	Engine, EngineVersion     string
	Set                       []string // engine settings, key=value
	Calibration               string
	PerfData                  PerfData
	Layout                    parallel.Layout
	Replicas                  int
	LeastLoaded               bool
	// PrefillReplicas, if any, compute the prompts, each cut as Prefill says;
	// the others then only generate. PrefillSet are engine settings of theirs beyond
	// Set.
	PrefillReplicas int
	Prefill         parallel.Layout
	PrefillSet      []string

	LinearAction, AttentionAction dtype.Action
	// MTP is the tokens the model's own modules draft in a step, AcceptanceRates
	// the chance of each to be kept.
	MTP             int // 0 = the engine's
	AcceptanceRates []float64

	// One of these says what comes: a number in flight, a rate, or a trace.
	Concurrency int
	Rate        float64
	Trace       string
	// Process and Variation say how evenly requests of a rate come.
	Process   sim.Process
	Variation float64

	Requests      int // 0 = ten per request in flight, or 1000
	Input, Output int
	LengthLow     float64
	// InputLengths and OutputLengths, if given, replace those.
	InputLengths, OutputLengths *workload.Distribution
	Seed                        uint64
	TTFTLimit                   units.Seconds
	TPOTLimit                   units.Seconds
	Records                     bool
}

// maxVariation is far beyond any traffic.
const maxVariation = 100

// SimulateResponse is what came of it.
type SimulateResponse struct {
	Request *SimulateRequest
	Model   *model.Model
	Device  *device.Profile
	Engine  *engine.Profile
	Layout  string
	// PrefillLayout is that of the replicas for prompts, if there are any.
	PrefillLayout string
	// Memory is how the engine divides that of one device that generates; its
	// tokens are those of a data-parallel rank.
	Memory engine.Budget
	Result *sim.Result
	// Expected are the errors to expect of the means.
	Expected calibrate.Expected
	Tier     device.Tier
	// Tables are the measured kernels used, nil without any.
	Tables *TableUse
}

// InStep reports whether nothing tells one request from another: those in flight
// then end together and begin together.
func (r *SimulateResponse) InStep() bool {
	q := r.Request
	return q.Concurrency > 1 && q.LengthLow == 1 && q.InputLengths == nil && q.OutputLengths == nil
}

// Limited reports whether there is a limit to keep.
func (r *SimulateResponse) Limited() bool { return r.Request.TTFTLimit > 0 || r.Request.TPOTLimit > 0 }

// Chance is the probability that mean TTFT and TPOT keep the limits.
func (r *SimulateResponse) Chance() float64 {
	return r.Expected.Chance(r.Result.TTFT.Mean, r.Result.TPOT.Mean, r.Request.TTFTLimit, r.Request.TPOTLimit)
}

// Simulate runs requests through a deployment.
func (w *World) Simulate(ctx context.Context, r *SimulateRequest) (*SimulateResponse, error) {
	if err := r.check(); err != nil {
		return nil, badInput(err)
	}
	m, d, o, err := w.stage(r.Model, r.Device, r.DeviceFile, r.Calibration)
	if err != nil {
		return nil, err
	}
	p, c, err := w.priced(r.PerfData, d, graph.Physical())
	if err != nil {
		return nil, err
	}
	deploy := func(l parallel.Layout, set ...string) (*replica.Replica, error) {
		e, err := r.engine(d, l, set)
		if err != nil {
			return nil, err
		}
		return r.deploy(m, d, e, o, c, l)
	}
	copyOf, err := deploy(r.Layout, r.Set...)
	if err != nil {
		return nil, badInput(err)
	}
	client, err := w.client(r)
	if err != nil {
		return nil, badInput(err)
	}
	config := &sim.Config{
		Client: client, Workers: r.pool(copyOf, r.Replicas), Seed: r.Seed, Records: r.Records,
		Limits: sim.Limits{TTFT: r.TTFTLimit, TPOT: r.TPOTLimit},
	}
	e := copyOf.Engine()
	out := &SimulateResponse{
		Request: r, Model: m, Device: d, Engine: e, Layout: copyOf.Layout(), Memory: copyOf.Memory,
	}
	if r.PrefillReplicas > 0 {
		prompts, err := deploy(r.Prefill, slices.Concat(r.Set, r.PrefillSet)...)
		if err != nil {
			return nil, badInput(fmt.Errorf("prefill replicas: %w", err))
		}
		decode := config.Workers
		config.Workers = r.pool(prompts, r.PrefillReplicas)
		config.Decode, config.Link = &decode, copyOf.Link(d)
		out.PrefillLayout = prompts.Layout()
	}
	if out.Result, err = sim.Run(ctx, config); err != nil {
		return nil, badInput(err)
	}
	out.Tier = p.tier(d, graph.Physical()) // tables are read as steps are priced
	out.Expected = o.Expect(out.about())
	out.Tables, err = p.used()
	return out, err
}

// about is what the run predicts.
func (r *SimulateResponse) about() *calibrate.Case {
	q, s := r.Request, r.Result
	out := caseOf(r.Model, r.Device, r.Tier)
	out.Engine, out.Apart = r.Engine.Name, q.PrefillReplicas > 0
	out.Input, out.KVPeak = q.Input, s.KVPeak()
	inFlight := float64(q.Concurrency)
	if q.Concurrency == 0 { // on average, by Little's law
		inFlight = s.RequestRate * float64(s.Latency.Mean)
	}
	out.On(q.Layout.Devices, int(math.Ceil(inFlight/float64(q.Replicas))), q.Layout.DP, r.Model.HasExperts())
	if (q.Trace != "" || q.InputLengths != nil) && s.RequestRate > 0 {
		out.Input = int(s.InputRate / s.RequestRate)
	}
	return &out
}

// caseOf is a prediction about a model on a device. Tables may cover little of it:
// how far it may be off goes by the prices of the rest.
func caseOf(m *model.Model, d *device.Profile, tier device.Tier) calibrate.Case {
	out := calibrate.Case{
		Subject: calibrate.Subject{Generation: d.Generation, Class: engine.Classify(m), Model: m.ID, System: d.Name},
		Tier:    tier, Vendor: d.Vendor,
	}
	if tier == device.Measured {
		_, out.Tier = form(d, graph.Physical())
		out.Tables = true
	}
	return out
}

// deploy builds one replica, cut as the layout says.
func (r *SimulateRequest) deploy(m *model.Model, d *device.Profile, e *engine.Profile, o *calibrate.Overlay, prices cost.Coster, l parallel.Layout) (*replica.Replica, error) {
	spec := graph.Spec{Model: m, Layout: l.Complete(m), Policy: graph.Physical(), Compile: true, Vision: m.Vision != nil, MTP: cmp.Or(r.MTP, e.MTP.Tokens)}
	spec.Quant = graph.Resolve(m, spec.Policy, graph.Actions{Linear: r.LinearAction, Attention: r.AttentionAction})
	if err := r.checkDrafted(m, spec.MTP); err != nil {
		return nil, err
	}
	copyOf, err := replica.New(spec, d, e, prices)
	if err != nil {
		return nil, err
	}
	subject := calibrate.SubjectOf(&spec, e.Name, d)
	subject.Apart = r.PrefillReplicas > 0
	return copyOf.Tuned(o.Params().Tuning(subject)), nil
}

// pool is n copies of a replica.
func (r *SimulateRequest) pool(c *replica.Replica, n int) sim.Pool {
	p := c.Pool(n, 0)
	if r.LeastLoaded {
		p.Routing = sim.LeastLoaded
	}
	p.Engine.AcceptedPerStep = serving.Fold(c.Drafts(), r.AcceptanceRates)
	return p
}

// check reports what is wrong with the request itself.
func (r *SimulateRequest) check() error {
	var errs []error
	bad := func(format string, a ...any) { errs = append(errs, fmt.Errorf(format, a...)) }
	for _, v := range []struct {
		flag string
		is   float64
	}{{"concurrency", float64(r.Concurrency)}, {"rate", r.Rate}, {"num-prompts", float64(r.Requests)}} {
		if v.is < 0 {
			bad("--%s must be positive, got %g", v.flag, v.is)
		}
	}
	errs = append(errs, r.checkArrivals(), r.checkDrafts())
	if r.Trace == "" && (r.Input < 1 || r.Output < 1 || r.Input > maxTokens || r.Output > maxTokens) {
		bad("--input-length and --output-length must be between 1 and %d, got %d and %d", maxTokens, r.Input, r.Output)
	}
	if !(r.LengthLow > 0 && r.LengthLow <= 1) {
		bad("--length-ratio-low must be above 0 and at most 1, got %g", r.LengthLow)
	}
	if r.Replicas < 1 || r.PrefillReplicas < 0 {
		bad("--replicas must be at least 1 and --prefill-replicas at least 0, got %d and %d", r.Replicas, r.PrefillReplicas)
	}
	return errors.Join(errs...)
}

// checkDrafted reports what is wrong with the tokens a replica drafts: a flag, or
// else a setting of its engine, says how many.
func (r *SimulateRequest) checkDrafted(m *model.Model, n int) error {
	from := "--num-mtp-tokens"
	if r.MTP == 0 {
		from = "engine setting mtp.tokens"
	}
	switch rates := len(r.AcceptanceRates); {
	case n == 0:
		return nil
	case m.MTP.Layers == 0:
		return fmt.Errorf("%d drafted tokens: %s has no modules that draft any", n, m.ID)
	case n > maxMTP:
		return fmt.Errorf("%s must be between 0 and %d, got %d", from, maxMTP, n)
	case n > rates:
		return fmt.Errorf("%s %d needs as many --mtp-acceptance-rates, got %d", from, n, rates)
	}
	return nil
}

// checkDrafts reports what is wrong with the flags of speculated tokens.
func (r *SimulateRequest) checkDrafts() error {
	return errors.Join(between("num-mtp-tokens", r.MTP, 0, maxMTP), acceptance(r.AcceptanceRates))
}

// checkArrivals reports what is wrong with how requests come.
func (r *SimulateRequest) checkArrivals() error {
	ways := 0
	for _, given := range []bool{r.Concurrency != 0, r.Rate != 0, r.Trace != ""} {
		if given {
			ways++
		}
	}
	switch {
	case ways != 1:
		return errors.New("give one of --concurrency, --rate and --trace")
	case r.Rate == 0 && r.Process != sim.Poisson:
		return fmt.Errorf("--arrival %v needs --rate", r.Process)
	case r.Variation != 0 && r.Process != sim.Gamma:
		return errors.New("--arrival-variation needs --arrival gamma")
	case r.Process == sim.Gamma && !(r.Variation > 0 && r.Variation <= maxVariation):
		return fmt.Errorf("--arrival gamma needs --arrival-variation above 0 and at most %d, got %g", maxVariation, r.Variation)
	}
	return nil
}

// engine is the engine's profile on the device with some settings.
func (r *SimulateRequest) engine(d *device.Profile, l parallel.Layout, set []string) (*engine.Profile, error) {
	e, err := engine.LookupVersion(r.Engine, r.EngineVersion)
	if err != nil {
		return nil, err
	}
	if e, err = e.With(set...); err != nil {
		return nil, err
	}
	return e.On(d, max(1, l.TP)*max(1, l.DP)*max(1, l.PP)), nil
}

// client says which requests come.
func (w *World) client(r *SimulateRequest) (sim.Client, error) {
	input := sim.Lengths{Tokens: r.Input, Low: r.LengthLow, Distribution: r.InputLengths}
	output := sim.Lengths{Tokens: r.Output, Low: r.LengthLow, Distribution: r.OutputLengths}
	switch {
	case r.Trace != "":
		data, err := w.ReadFile(r.Trace)
		if err != nil {
			return nil, fmt.Errorf("reading --trace: %w", err)
		}
		return sim.ReadTrace(bytes.NewReader(data), r.Trace, 0)
	case r.Rate > 0:
		n := r.Requests
		if n == 0 {
			n = 1000
		}
		return sim.OpenLoop{
			Rate: r.Rate, Process: r.Process, Variation: r.Variation, Requests: n, Input: input, Output: output,
		}, nil
	}
	n := r.Requests
	if n == 0 {
		n = 10 * r.Concurrency
	}
	return sim.ClosedLoop{Requests: n, Concurrency: r.Concurrency, Input: input, Output: output}, nil
}
