package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"plimsoll/internal/calibration"
	"plimsoll/internal/deploy"
	"plimsoll/internal/deployment"
	"plimsoll/internal/device"
	"plimsoll/internal/engine"
	"plimsoll/internal/field"
	"plimsoll/internal/parallel"
	"plimsoll/internal/pool"
	"plimsoll/internal/rank"
	"plimsoll/internal/replica"
	"plimsoll/internal/search"
	"plimsoll/internal/serving"
	"plimsoll/internal/sim"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// ConfigureRequest asks for the best deployments of several experiments.
type ConfigureRequest struct {
	Experiments []Experiment `json:"experiments"`
	Sources

	Top  int `json:"top_n,omitempty"` // rows of each experiment; 0 = 5
	Jobs int `json:"-"`               // workers, which no answer depends on; 0 = 8
}

// ConfigureResponse is what was found.
type ConfigureResponse struct {
	Request ConfigureRequest
	// Results are those of the experiments, in their order.
	Results []ExperimentResult
	// Best is the index of the experiment with the most throughput per device within
	// its limits, or -1.
	Best int
}

// ExperimentResult is the result of one experiment.
type ExperimentResult struct {
	Experiment Experiment // complete
	// Failure is why the experiment could not be run; "" if it was.
	Failure string
	Experts bool
	Tier    device.Tier
	// Rows are the best deployments within the limits, one for each layout that
	// decodes, the most throughput first.
	Rows []Option
	// Near is the deployment nearest to the limits where none is within them, and
	// Nearest limits that it meets.
	Near    *Option
	Nearest workload.Limits
	// Frontier is the trade-off of speed for a user and throughput of a device.
	Frontier []Speed
	// Rejected are the layouts that cannot be run, each with its reason.
	Rejected []string
	Notes    []string
}

// Option is a deployment with its figures.
type Option struct {
	// Deployment is whole: simulating it at the concurrency gives the figures.
	Deployment deployment.Deployment
	// Copies of X prefill and Y decode workers, or of one worker that does both (X 0).
	Copies, X, Y int
	Used         int // devices
	Concurrency  int
	// Batch is the largest batch of a data-parallel rank, Prompts that of one for
	// prefill.
	Batch, Prompts int

	TTFT, TPOT, Latency units.Seconds
	Throughput          float64 // output tokens per second of the cluster
	RequestRate         float64
	Memory              units.Bytes // of a device that generates
	Expected            calibration.Expected
	Chance              float64 // that the limits are met
	Binds               search.Verdict
}

// Speed is one point of a trade-off.
type Speed struct {
	User   float64 `json:"tokens_per_second_user"`
	Device float64 `json:"tokens_per_second_gpu"`
}

// The defaults of AIConfigurator.
const (
	defaultTop         = 5
	defaultISL         = 4000
	defaultOSL         = 1000
	defaultBatch       = 512
	defaultWorkers     = 32
	maxCluster         = 1 << 15
	maxBatch           = 1 << 14
	meanPercentile     = 0
	experimentsAtATime = 2
)

// prefixNote is said of experiments with a prefix.
const prefixNote = "the prefix cache is not modelled: prompts are computed whole"

// Configure runs experiments. One that fails is reported and the others finish; only a
// request without any experiment is an error.
func (w *World) Configure(ctx context.Context, r ConfigureRequest) (*ConfigureResponse, error) {
	if len(r.Experiments) == 0 {
		return nil, badInput(errors.New("there is no experiment to run"))
	}
	r.Top = cmp.Or(r.Top, defaultTop)
	out := &ConfigureResponse{Request: r, Results: make([]ExperimentResult, len(r.Experiments)), Best: -1}
	err := pool.Each(ctx, len(r.Experiments), experimentsAtATime, func(i int) {
		x, err := w.experiment(&r, r.Experiments[i])
		if err == nil {
			err = x.run(ctx)
		}
		out.Results[i] = x.out
		if err != nil {
			out.Results[i].Failure = err.Error()
		}
	})
	if err != nil {
		return nil, err
	}
	most := 0.0
	for i := range out.Results {
		if rows := out.Results[i].Rows; len(rows) > 0 {
			if v := rows[0].PerDevice(&out.Results[i].Experiment); v > most {
				most, out.Best = v, i
			}
		}
	}
	return out, ctx.Err()
}

// PerDevice is the throughput per device of an experiment, idle ones included.
func (o *Option) PerDevice(e *Experiment) float64 { return o.Throughput / float64(e.Devices) }

// User is the tokens per second that a user sees.
func (o *Option) User() float64 { return 1 / float64(o.TPOT) }

// experiment is one in progress.
type experiment struct {
	world *World
	r     *ConfigureRequest
	e     *Experiment
	stage *stage
	out   ExperimentResult

	prefill, decode []parallel.Layout

	mu       sync.Mutex // of what follows
	seen     map[trialOf]*trialResult
	expected map[trialOf][2]calibration.Expected
}

// trialOf and trialResult are a deployment that was simulated, and what came of it.
type trialOf struct {
	search.Unit

	requests int // in flight in a copy
	all      bool
}

type trialResult struct {
	response *SimulateResponse
	outcome  serving.Outcome
	verdict  search.Verdict
}

// experiment prepares one.
func (w *World) experiment(r *ConfigureRequest, e Experiment) (*experiment, error) {
	e.complete()
	x := &experiment{world: w, r: r, e: &e, out: ExperimentResult{Experiment: e}, seen: map[trialOf]*trialResult{}, expected: map[trialOf][2]calibration.Expected{}}
	if err := e.check(); err != nil {
		return x, badInput(err)
	}
	asked := e.asked()
	var err error
	if x.stage, err = w.stage(&asked, &r.Sources); err != nil {
		return x, err
	}
	x.out.Experts = x.stage.Model.HasExperts()
	return x, badInput(within(x.stage.Model, span{"isl", e.Input}, span{"osl", e.Output}, 0))
}

// complete fills in what was left open.
func (e *Experiment) complete() {
	e.Input, e.Output = cmp.Or(e.Input, defaultISL), cmp.Or(e.Output, defaultOSL)
	e.Mode = cmp.Or(e.Mode, Aggregated)
	e.Confidence = cmp.Or(e.Confidence, DefaultConfidence)
	e.Engine.Name = cmp.Or(e.Engine.Name, DefaultEngine)
	if e.AcceptanceRates == nil {
		e.AcceptanceRates = AcceptanceRates()
	}
	r := &e.Replica
	r.MaxPrefill, r.MaxDecode = cmp.Or(r.MaxPrefill, defaultWorkers), cmp.Or(r.MaxDecode, defaultWorkers)
	e.Decode.MaxBatch = cmp.Or(e.Decode.MaxBatch, defaultBatch)
	if e.Mode == Disaggregated {
		e.Workers.MaxBatch = cmp.Or(e.Workers.MaxBatch, 1)
	} else {
		e.Workers.MaxBatch = cmp.Or(e.Workers.MaxBatch, defaultBatch)
	}
	if e.DecodeSystem == e.System {
		e.DecodeSystem = ""
	}
}

// check reports what is wrong with an experiment itself.
func (e *Experiment) check() error {
	errs := []error{
		between("total_gpus", e.Devices, 1, maxCluster), between("isl", e.Input, 1, maxTokens), between("osl", e.Output, 1, maxTokens),
		between("prefix", e.Prefix, 0, e.Input-1), between("nextn", e.MTP, 0, deployment.MaxMTP), share("confidence", e.Confidence),
	}
	for _, n := range []int{e.Workers.MaxBatch, e.Decode.MaxBatch} {
		if n < 1 || n > maxBatch {
			errs = append(errs, fmt.Errorf("a batch limit must be between 1 and %d, got %d", maxBatch, n))
		}
	}
	if e.Mode != Aggregated && e.Mode != Disaggregated {
		errs = append(errs, field.Errorf("%s must be agg or disagg, got %q", field.Name("serving_mode"), e.Mode))
	}
	if e.Mode == Disaggregated && e.Devices == 1 {
		errs = append(errs, field.Errorf("%s must be at least 2 for separate prefill and decode workers, got 1", field.Name("total_gpus")))
	}
	return errors.Join(errs...)
}

// share reports a number that is not a probability.
func share(name field.Name, x float64) error {
	if !(x > 0 && x < 1) {
		return field.Errorf("%s must be between 0 and 1, got %g", name, x)
	}
	return nil
}

// asked is the deployment that all options of an experiment have in common.
func (e *Experiment) asked() deployment.Deployment {
	d := deployment.Deployment{
		Model: e.Model, System: e.System, Engine: e.Engine, Formats: e.Workers.Formats,
		Modelling: deployment.Modelling{Policy: physical},
	}
	if e.Mode == Aggregated {
		d.Pools = []deployment.Pool{{Role: deployment.Both}}
		return d
	}
	d.Pools = []deployment.Pool{{Role: deployment.Prefill}, {Role: deployment.Decode, System: e.DecodeSystem, Formats: e.Decode.Formats}}
	return d
}

// deployment is the experiment with given workers: those that do both or decode, and
// those for prefill where the mode has them.
func (e *Experiment) deployment(prefill, decode Workers) deployment.Deployment {
	d := e.asked()
	set := func(p *deployment.Pool, w Workers) {
		p.Replicas, p.Layout, p.Settings = w.Count, w.Layout, []string{fmt.Sprintf("max_sequences=%d", w.Batch)}
		p.MTP, p.AcceptanceRates = e.MTP, e.AcceptanceRates
	}
	set(&d.Pools[len(d.Pools)-1], decode)
	if e.Mode == Disaggregated {
		set(&d.Pools[0], prefill)
	}
	return d
}

// deployment is an option as it is simulated, one copy or all, with a limit on the
// batch of each data-parallel rank that decodes.
func (x *experiment) deployment(u search.Unit, batch int, all bool) deployment.Deployment {
	copies := 1
	if all {
		copies = u.Copies
	}
	prefill := Workers{Count: u.X * copies, Batch: x.e.Workers.MaxBatch}
	if x.e.Mode == Disaggregated {
		prefill.Layout = x.prefill[u.Prefill]
	}
	return x.e.deployment(prefill, Workers{Count: u.Y * copies, Layout: x.decode[u.Decode], Batch: batch})
}

// run searches and sums up.
func (x *experiment) run(ctx context.Context) error {
	s, found, err := x.search(ctx)
	if err != nil {
		return err
	}
	points, err := s.Sweep(ctx)
	if err != nil {
		return err
	}
	x.summarize(found, points)
	return nil
}

// search finds the best units of workers.
func (x *experiment) search(ctx context.Context) (*search.Units, []search.Found, error) {
	e := x.e
	s := &search.Units{
		Packing: search.Packing{
			Devices: e.Devices, Sizes: e.Replica.Devices, MaxDevices: e.Replica.MaxDevices,
			MaxPrefill: e.Replica.MaxPrefill, MaxDecode: e.Replica.MaxDecode,
		},
		Input: e.Input, Output: e.Output, Top: x.r.Top, Workers: cmp.Or(x.r.Jobs, defaultJobs), Simulate: x.simulate,
	}
	s.Plausible, s.Percentile = x.plausible, e.Percentile
	if err := x.workers(s); err != nil {
		return nil, nil, err
	}
	found, err := s.Run(ctx)
	return s, found, err
}

// workers finds the layouts that run, and prepares their bounds.
func (x *experiment) workers(s *search.Units) error {
	e := x.e
	space := &e.Workers
	if e.Mode == Disaggregated {
		space = &e.Decode
		x.prefill = x.layouts(&e.Workers, x.stage.Device)
	}
	other := x.stage.Device
	if e.DecodeSystem != "" {
		other = x.stage.Systems[e.DecodeSystem]
	}
	x.decode = x.layouts(space, other)
	x.prefill, x.decode = x.fitting(x.prefill, e.Workers.MaxBatch, true), x.fitting(x.decode, space.MaxBatch, false)
	if len(x.decode) == 0 || e.Mode == Disaggregated && len(x.prefill) == 0 {
		return badInput(x.nothingRuns())
	}
	for i := range x.prefill {
		c, err := x.bounds(i, 0)
		if err != nil {
			return err
		}
		s.Prefill = append(s.Prefill, search.Worker{Layout: x.prefill[i], Pool: c.Workers, MaxBatch: e.Workers.MaxBatch})
	}
	for i := range x.decode {
		c, err := x.bounds(0, i)
		if err != nil {
			return err
		}
		w := search.Worker{Layout: x.decode[i], Pool: c.Workers, MaxBatch: space.MaxBatch}
		if c.Decode != nil {
			w.Pool, s.Link = *c.Decode, c.Link
		}
		s.Decode = append(s.Decode, w)
	}
	return nil
}

// bounds is a simulation of one copy of a unit of two workers, for the times of its
// steps.
func (x *experiment) bounds(prefill, decode int) (sim.Config, error) {
	d := x.deployment(search.Unit{Prefill: prefill, Decode: decode, X: 1, Y: 1, Copies: 1}, 1, false)
	_, f, err := x.stage.fleet(&d)
	if err != nil {
		return sim.Config{}, badInput(err)
	}
	return f.Config(nil), nil
}

// nothingRuns is why there is no layout: the reason of the largest.
func (x *experiment) nothingRuns() error {
	if n := len(x.out.Rejected); n > 0 {
		return fmt.Errorf("no layout of %s runs on up to %d devices: %s", x.stage.Model.Name(), x.e.Devices, x.out.Rejected[n-1])
	}
	return fmt.Errorf("no layout of %s has the sizes asked for on up to %d devices", x.stage.Model.Name(), x.e.Devices)
}

// fitting keeps the layouts that are legal and leave room for a cache.
func (x *experiment) fitting(all []parallel.Layout, batch int, prefill bool) []parallel.Layout {
	e := x.e
	return slices.DeleteFunc(all, func(l parallel.Layout) bool {
		d := e.asked()
		p := d.Pools[len(d.Pools)-1]
		if prefill {
			p = d.Pools[0]
		}
		p.Role, p.Layout, p.MTP, p.AcceptanceRates = deployment.Both, l, e.MTP, e.AcceptanceRates
		p.Settings = []string{fmt.Sprintf("max_sequences=%d", batch)}
		d.Pools = []deployment.Pool{p}
		resolved, _, err := x.stage.fleet(&d)
		if err == nil {
			err = runs(d, resolved, e)
		}
		if err != nil {
			x.out.Rejected = append(x.out.Rejected, l.Label(x.out.Experts)+": "+field.Say(err, parallel.Word))
		}
		return err != nil
	})
}

// runs reports a layout that the engine has no flags for.
func runs(d deployment.Deployment, r *deployment.Resolved, e *Experiment) error {
	p := deploy.Plan{Deployment: d, Resolved: r, Input: e.Input, Output: e.Output}
	if _, err := p.Values(); errors.Is(err, deploy.ErrLayout) {
		return err
	}
	return nil
}

// simulate simulates an option, once.
func (x *experiment) simulate(ctx context.Context, u search.Unit, requests int, all bool) (serving.Outcome, search.Verdict, error) {
	r, err := x.trial(ctx, trialOf{u, requests, all || u.Copies == 1})
	if err != nil {
		return serving.Outcome{}, "", err
	}
	return r.outcome, r.verdict, nil
}

// trial is the simulation of an option, from memory if it was done before.
func (x *experiment) trial(ctx context.Context, t trialOf) (*trialResult, error) {
	x.mu.Lock()
	r, ok := x.seen[t]
	x.mu.Unlock()
	if ok {
		return r, nil
	}
	r, err := x.try(ctx, t)
	if err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.seen[t] = r
	return r, nil
}

// try simulates an option and holds it to the limits.
func (x *experiment) try(ctx context.Context, t trialOf) (*trialResult, error) {
	batch := x.batch(t.Unit, t.requests)
	copies, rest := 1, t.Copies
	if t.all {
		copies, rest = t.Copies, 1
	}
	out, err := x.serve(ctx, x.deployment(t.Unit, batch, t.all), Traffic{Concurrency: t.requests * copies})
	if err != nil {
		return nil, err
	}
	o := &out.outcome
	o.Batch, o.Concurrency, o.Throughput = batch, t.requests*copies*rest, float64(rest)*o.Throughput
	return out, nil
}

// serve simulates a deployment under some traffic and holds it to the limits.
func (x *experiment) serve(ctx context.Context, d deployment.Deployment, of Traffic) (*trialResult, error) {
	q := SimulateRequest{Deployment: d, Limits: x.e.Limits, Traffic: of}
	q.Input, q.Output = x.e.Input, x.e.Output
	q.complete()
	res, err := x.world.simulate(ctx, x.stage, &q)
	if errors.Is(err, replica.ErrNoCache) {
		return &trialResult{outcome: serving.Outcome{OOM: serving.DecodePhase}, verdict: search.NoMemory}, nil
	}
	if err != nil {
		return nil, err
	}
	got := &res.Result
	out := &trialResult{response: res, outcome: serving.Outcome{
		TTFT: x.figure(&got.TTFT), TPOT: x.figure(&got.TPOT), Throughput: got.OutputRate * x.scale(),
	}}
	if got.Finished == 0 {
		out.outcome.OOM = serving.DecodePhase
	}
	out.verdict = x.judge(out)
	return out, nil
}

// batch is the batch of the fullest rank that decodes with so many requests in flight in
// a copy of a unit.
func (x *experiment) batch(u search.Unit, requests int) int {
	return parallel.Fullest(requests, u.Y*max(1, x.decode[u.Decode].DP))
}

// scale is the correction of throughput that was asked for: that of the slower role.
func (x *experiment) scale() float64 {
	out := cmp.Or(x.e.Workers.Scale, 1)
	if x.e.Mode == Disaggregated {
		out = min(out, cmp.Or(x.e.Decode.Scale, 1))
	}
	return out
}

// figure is the latency that is held to a limit.
func (x *experiment) figure(s *sim.Summary) units.Seconds {
	switch p := x.e.Percentile; {
	case p == meanPercentile:
		return s.Mean
	case p <= 50:
		return s.P50
	case p <= 90:
		return s.P90
	case p <= 95:
		return s.P95
	default:
		return s.P99
	}
}

// judge holds what was simulated to the limits, with the confidence asked for.
func (x *experiment) judge(r *trialResult) search.Verdict {
	l, o := x.e.Limits, &r.outcome
	if o.OOM != "" {
		return search.NoMemory
	}
	e := &r.response.Expected
	ttft, tpot := e.TTFT.Within(o.TTFT, l.TTFT), e.TPOT.Within(o.TPOT, l.TPOT)
	whole := e.TPOT.Within(x.figure(&r.response.Result.Latency), l.Latency)
	switch least := min(ttft, tpot, whole); {
	case ttft*tpot*whole >= x.e.Confidence:
		return search.Fits
	case least == whole:
		return search.OverLatency
	case least == tpot:
		return search.OverTPOT
	}
	return search.OverTTFT
}

// plausible reports whether an option with at least such a TTFT and TPOT may meet the
// limits, with the narrowest errors that may be expected of it.
func (x *experiment) plausible(u search.Unit, requests int, ttft, tpot units.Seconds) bool {
	l := x.e.Limits
	least := math.Inf(1) // concurrency of a replica decides about errors, by ranges: see calibration
	for _, e := range x.errors(u, requests) {
		least = min(least, 1-e.TTFT.Within(ttft, l.TTFT)*e.TPOT.Within(tpot, l.TPOT))
	}
	return 1-least >= x.e.Confidence
}

// errors are those to expect of an option with an empty and with a full cache.
func (x *experiment) errors(u search.Unit, requests int) [2]calibration.Expected {
	key := trialOf{search.Unit{Decode: u.Decode}, parallel.Fullest(requests, u.Y), false}
	x.mu.Lock()
	e, ok := x.expected[key]
	x.mu.Unlock()
	if ok {
		return e
	}
	d := x.deployment(u, x.batch(u, requests), false)
	var out [2]calibration.Expected
	if resolved, err := d.Resolve(x.stage.Parts); err == nil {
		q := SimulateRequest{Deployment: d}
		q.Concurrency, q.Input = requests, x.e.Input
		for i := range out {
			empty := &sim.Result{Workers: sim.PoolUse{KVPeak: float64(i)}}
			tier := x.stage.prices.Tier(x.stage.Device, resolved.Pricing)
			out[i] = x.stage.overlay.Expect(q.about(x.stage, resolved, empty, tier))
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.expected[key] = out
	return out
}

// summarize turns what was found into rows.
func (x *experiment) summarize(found []search.Found, points []serving.Outcome) {
	out := &x.out
	if t := x.first(); t != nil {
		out.Tier, out.Notes = t.response.Tier, x.e.notes(x.stage, t.response.Notes)
	}
	speeds := make([]Speed, 0, len(points))
	add := func(o *serving.Outcome) {
		if o.TPOT > 0 && o.OOM == "" {
			speeds = append(speeds, Speed{1 / float64(o.TPOT), o.Throughput / float64(x.e.Devices)})
		}
	}
	for i := range points {
		add(&points[i])
	}
	for i := range found {
		f := &found[i]
		for k := range f.Points {
			add(&f.Points[k])
		}
		if f.OK && len(out.Rows) < x.r.Top {
			out.Rows = append(out.Rows, x.option(f.Unit, f.Best.Concurrency/f.Unit.Copies, f.Binds))
		}
	}
	if len(out.Rows) == 0 {
		out.Near = x.near(found)
		out.Nearest = x.feasible(out.Near)
	}
	out.Frontier = rank.Frontier(speeds, func(s *Speed) (a, b float64) { return s.User, s.Device })
	if x.e.Prefix > 0 {
		out.Notes = append(out.Notes, prefixNote)
	}
}

// notes are those on a deployment of the experiment, without the one on a name whose
// formats the experiment replaces.
func (e *Experiment) notes(s *stage, all []string) []string {
	all = slices.Clone(all)
	if e.Workers.Formats == (deployment.Formats{}) {
		return all
	}
	taken := s.Model.Taken()
	return slices.DeleteFunc(all, func(n string) bool { return n == taken })
}

// first is a simulation that was run: tier and notes are the same for all.
func (x *experiment) first() *trialResult {
	for _, r := range x.seen {
		if r.response != nil {
			return r
		}
	}
	return nil
}

// near is the option that comes nearest to the limits.
func (x *experiment) near(found []search.Found) *Option {
	worst := math.Inf(1)
	var best *search.Found
	for i := range found {
		f := &found[i]
		if f.Near.Batch == 0 {
			continue
		}
		over := 0.0
		for _, p := range [][2]units.Seconds{{f.Near.TTFT, x.e.Limits.TTFT}, {f.Near.TPOT, x.e.Limits.TPOT}} {
			if p[1] > 0 {
				over = max(over, float64(p[0]/p[1]))
			}
		}
		if over < worst {
			worst, best = over, f
		}
	}
	if best == nil {
		return nil
	}
	o := x.option(best.Unit, best.Near.Concurrency/best.Unit.Copies, best.Binds)
	return &o
}

// feasible are limits that an option meets with the confidence asked for.
func (x *experiment) feasible(o *Option) workload.Limits {
	if o == nil {
		return workload.Limits{}
	}
	l := x.e.Limits.Finite()
	each := x.e.Confidence
	if l.TTFT > 0 && l.TPOT > 0 {
		each = math.Sqrt(each)
	}
	var out workload.Limits
	if l.TTFT > 0 {
		out.TTFT = max(l.TTFT, o.Expected.TTFT.Limit(o.TTFT, each))
	}
	if l.TPOT > 0 {
		out.TPOT = max(l.TPOT, o.Expected.TPOT.Limit(o.TPOT, each))
	}
	return out
}

// inUse is the memory of a device with a share of its cache in use.
func inUse(m *engine.Budget, kv float64) units.Bytes {
	return m.Weights + m.Activation + units.Bytes(kv)*m.KV
}

// option is a row.
func (x *experiment) option(u search.Unit, requests int, binds search.Verdict) Option {
	batch := x.batch(u, requests)
	out := Option{
		Deployment: x.deployment(u, batch, true), Copies: u.Copies, X: u.X, Y: u.Y, Batch: batch, Binds: binds,
		Used: u.Copies * u.Y * x.decode[u.Decode].Devices,
	}
	if x.e.Mode == Disaggregated {
		out.Used += u.Copies * u.X * x.prefill[u.Prefill].Devices
		out.Prompts = x.e.Workers.MaxBatch
	}
	r := x.seen[trialOf{u, requests, true}]
	if r == nil {
		r = x.seen[trialOf{u, requests, false}]
	}
	if r == nil || r.response == nil {
		return out
	}
	got := &r.response.Result
	out.Concurrency, out.TTFT, out.TPOT, out.Throughput = r.outcome.Concurrency, r.outcome.TTFT, r.outcome.TPOT, r.outcome.Throughput
	out.Latency, out.RequestRate = x.figure(&got.Latency), r.outcome.Throughput/float64(x.e.Output)
	out.Memory = inUse(&r.response.Memory, got.KVPeak())
	out.Expected, out.Chance = r.response.Expected, r.response.Chance
	return out
}
