package calibrate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"plimsoll/internal/cost"
	"plimsoll/internal/device"
	"plimsoll/internal/dtype"
	"plimsoll/internal/engine"
	"plimsoll/internal/graph"
	"plimsoll/internal/model"
	"plimsoll/internal/parallel"
	"plimsoll/internal/replica"
	"plimsoll/internal/sim"
	"plimsoll/internal/units"
)

// Prediction is what the model says of a row.
type Prediction struct {
	TTFT, TPOT units.Seconds
	Throughput float64 // output tokens per second
	KVTokens   int
	Preempted  int
	// Assumed says what a row does not tell and was taken for granted.
	Assumed []string
	// Case is what decides how far the prediction may be off.
	Case Case
	Err  error
}

// Predictor predicts rows. Prices says how operators of a device are priced,
// Tune how a deployment is tuned, Models where models beyond the catalog's are.
type Predictor struct {
	Prices func(*device.Profile) cost.Coster
	Tune   func(Subject) replica.Tuning
	Models model.Source

	devices memo[string, *device.Profile]
	models  memo[string, *model.Model]
	engines memo[release, near]
}

// release is an engine as a row names it.
type release struct{ engine, version, measured string }

// near is the profile nearest to a release, and what was assumed to find it.
type near struct {
	profile *engine.Profile
	assumed string
}

func (p *Predictor) device(name string) (*device.Profile, error) {
	return p.devices.get(name, func() (*device.Profile, error) { return device.Lookup(name) })
}

func (p *Predictor) model(id string) (*model.Model, error) {
	return p.models.get(id, func() (*model.Model, error) { return p.Models.Open(id) })
}

func (p *Predictor) engine(row *Row) (near, error) {
	r := release{row.Engine, row.Version, row.Measured}
	return p.engines.get(r, func() (out near, err error) {
		out.profile, out.assumed, err = engine.LookupNear(r.engine, r.version, r.measured)
		return out, err
	})
}

// Prepared is a row ready to be simulated under any tuning.
type Prepared struct {
	Row     *Row
	Err     error
	Subject Subject
	about   Case // Subject aside
	assumed []string
	workers *replica.Replica
	decode  *replica.Replica // of a disaggregated row
	link    sim.Link
	client  sim.ClosedLoop
}

// maxRequests bounds the requests simulated for a row. It is far above those of
// real benchmarks: cutting one short gives its first burst more weight.
const maxRequests = 1 << 17

// Prepare builds the deployment and the benchmark behind a row.
func (p *Predictor) Prepare(row *Row) Prepared {
	out := Prepared{Row: row}
	d, err := p.device(row.System)
	if err != nil {
		out.Err = err
		return out
	}
	e, err := p.engine(row)
	if err != nil {
		out.Err = err
		return out
	}
	base := e.profile
	out.assume(e.assumed)
	if row.Mode == "disagg" {
		out.workers, out.Err = p.replica(&out, base, &row.Prefill, d)
		if out.Err == nil {
			out.decode, out.Err = p.replica(&out, base, &row.Decode, d)
		}
		if out.Err == nil {
			out.link = out.decode.Link(d)
		}
	} else {
		out.workers, out.Err = p.replica(&out, base, &row.Workers, d)
	}
	c := max(1, row.Concurrency)
	out.client = sim.ClosedLoop{
		Requests: max(c, min(row.Requests, maxRequests)), Concurrency: c,
		Input:  sim.Lengths{Tokens: row.Input, Low: row.LengthLow},
		Output: sim.Lengths{Tokens: row.Output, Low: row.LengthLow},
	}
	return out
}

// assume notes what a row does not tell, once.
func (p *Prepared) assume(what string) {
	if what != "" && !slices.Contains(p.assumed, what) {
		p.assumed = append(p.assumed, what)
	}
}

// Simulate runs the benchmark under a tuning.
func (p *Prepared) Simulate(t replica.Tuning) Prediction {
	if p.Err != nil {
		return Prediction{Err: p.Err}
	}
	r := p.workers.Tuned(t)
	config := sim.Config{Client: p.client, Seed: 1}
	if p.decode == nil {
		config.Workers = p.pool(r, 1)
	} else {
		config.Workers = p.pool(r, p.Row.Prefill.Count)
		d := p.pool(p.decode.Tuned(t), p.Row.Decode.Count)
		config.Decode, config.Link = &d, p.link
	}
	res, err := sim.Run(context.Background(), &config)
	if err != nil {
		return Prediction{Err: err}
	}
	if res.Finished == 0 {
		return Prediction{Err: fmt.Errorf("no request fits in the %d tokens of cache", r.KVTokens)}
	}
	out := Prediction{
		TTFT: res.TTFT.Mean, TPOT: res.TPOT.Mean, KVTokens: r.KVTokens, Preempted: res.Workers.Preemptions, Assumed: p.assumed,
		Case: p.about,
	}
	out.Throughput = p.Row.closedLoop(out.TTFT, out.TPOT)
	out.Case.Subject, out.Case.KVPeak = p.Subject, res.KVPeak()
	return out
}

// pool is n copies of a replica with what the row says of its scheduler.
func (p *Prepared) pool(r *replica.Replica, n int) sim.Pool {
	pool := r.Pool(n, p.Row.MaxSequences)
	if p.Row.BatchWaitSteps > 0 {
		pool.Engine.BatchWaitSteps, pool.Engine.BatchWaitRatio = p.Row.BatchWaitSteps, p.Row.BatchWaitRatio
	}
	if n := p.Row.Drafted; n > 0 {
		pool.Engine.AcceptedPerStep = 1 + p.Row.Acceptance*float64(n)
	}
	pool.Engine.PrefixCache = false // the benchmarks send random prompts
	return pool
}

// Predict simulates the benchmark behind a row.
func (p *Predictor) Predict(row *Row) Prediction {
	prep := p.Prepare(row)
	return prep.Simulate(p.tuning(&prep))
}

// tuning is how a prepared row is tuned.
func (p *Predictor) tuning(r *Prepared) replica.Tuning {
	if p.Tune == nil || r.Err != nil {
		return replica.Untuned()
	}
	return p.Tune(r.Subject)
}

// ampleShare is the memory share of deployments whose weights nearly fill the
// device: SGLang's guides ask for it where the default leaves no cache.
const ampleShare = 0.95

// replica builds one worker of a row, and says what it is.
func (p *Predictor) replica(out *Prepared, base *engine.Profile, w *Workers, d *device.Profile) (*replica.Replica, error) {
	row := out.Row
	m, err := p.model(row.Model)
	if err != nil {
		return nil, err
	}
	out.assume(m.Taken())
	if err := w.check(m); err != nil {
		return nil, err
	}
	if row.Drafted > 0 && m.MTP.Layers == 0 {
		return nil, fmt.Errorf("mtp_tokens is %d, and %s has no prediction modules", row.Drafted, m.Name())
	}
	e := settings(base, row, w, d)
	spec, prices := specOf(m, row, w), p.Prices(d)
	if row.Mode == "disagg" {
		out.recipe(e, &spec.Quant, w, d)
	}
	out.Subject, out.about = SubjectOf(&spec, e.Name, d), caseOf(m, row, w, d, prices)
	out.Subject.Apart = row.Mode == "disagg"
	r, err := replica.New(spec, d, e, prices)
	if errors.Is(err, replica.ErrNoCache) && row.MemoryShare == 0 && e.MemoryShare < ampleShare {
		// It ran, so it was told to take more than the default.
		e.MemoryShare = ampleShare
		if r, err = replica.New(spec, d, e, prices); err == nil {
			out.assume(fmt.Sprintf("%s told to take %g of the memory: its default leaves no cache", e.Name, ampleShare))
		}
	}
	return r, err
}

// specOf is what one worker of a row computes.
func specOf(m *model.Model, row *Row, w *Workers) graph.Spec {
	l := parallel.Layout{Devices: w.TP * w.DP, TP: w.TP, DP: w.DP, EP: w.MoEEP, MoETP: w.MoETP}.Complete(m)
	return graph.Spec{Model: m, Layout: l, Policy: graph.Physical(), Quant: quantization(m, row), Compile: true, Vision: m.Vision != nil, MTP: row.Drafted}
}

// caseOf is what decides how far a prediction of a row may be off, but for its
// subject.
func caseOf(m *model.Model, row *Row, w *Workers, d *device.Profile, prices cost.Coster) Case {
	out := Case{Tier: d.Tier, Vendor: d.Vendor, Input: row.Input, Untold: row.Defaulted}
	if fitted, ok := prices.(interface{ Tier() device.Tier }); ok {
		out.Tier = fitted.Tier()
	}
	out.On(w.TP*w.DP, row.Concurrency, w.DP, m.HasExperts())
	return out
}

// settings is the engine's profile with what the row says of its settings.
func settings(base *engine.Profile, row *Row, w *Workers, d *device.Profile) *engine.Profile {
	e := *base.On(d, w.TP*w.DP)
	// Launch scripts of data-parallel attention give every rank a whole budget:
	// dividing the default makes the published rows less like themselves.
	e.AttentionDP.SplitsBudget = false
	if row.TokenBudget > 0 {
		e.TokenBudget = row.TokenBudget
	}
	if row.MemoryShare > 0 {
		e.MemoryShare = row.MemoryShare
	}
	if row.MaxSequences > 0 {
		e.MaxSequences = row.MaxSequences
	}
	if row.ReceiveEvery > 0 {
		e.ReceiveInterval = row.ReceiveEvery
	}
	return &e
}

// quantization is the number formats of a row. A precision names what a
// publisher's checkpoint of it stores: 8 bits everywhere, 4 bits everywhere in
// a dense model, and in the feed-forward parts of a mixture, whose attention
// stays wide. Converted checkpoints ask for a cache in fp8, as NVIDIA's do.
func quantization(m *model.Model, row *Row) graph.Quant {
	q := graph.Resolve(m, graph.Physical(), graph.Actions{})
	wide := dtype.Unquantized(q.Base)
	fp8 := dtype.Scheme{Weight: dtype.FP8, Activation: dtype.FP8}
	nvfp4 := dtype.Scheme{Weight: dtype.FP4, Activation: dtype.FP4, Group: 16, Scale: dtype.FP8}
	int4 := dtype.Scheme{Weight: dtype.INT4, Activation: q.Base, Group: 32, Scale: dtype.BF16}
	experts := m.HasExperts()
	if m.Quant.Method == "mxfp4" { // gpt-oss has one checkpoint, whatever a row calls it
		row = &Row{KV: row.KV}
	}
	switch row.Precision {
	case "fp8":
		if q.Attention.Weight != dtype.FP8 {
			if experts {
				fp8.Group, fp8.Rows, fp8.Scale = 128, 128, dtype.F32
			}
			q.Attention, q.Dense, q.Experts, q.Shared = fp8, fp8, fp8, fp8
			q.KV = dtype.FP8
		}
	case "fp4":
		q.Attention, q.Dense, q.Experts, q.Shared = nvfp4, nvfp4, nvfp4, nvfp4
		q.KV = dtype.FP8
		if experts {
			q.Attention = wide
		}
	case "int4":
		q.Experts = int4
	}
	switch row.KV {
	case "fp8":
		q.KV = dtype.FP8
	case "bf16", "bfloat16":
		q.KV = q.Base
	}
	return q
}
