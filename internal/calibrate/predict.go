package calibrate

import (
	"context"
	"errors"
	"fmt"

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
	KVTokens   int
	Preempted  int
	Err        error
}

// Predictor predicts rows. Prices says how operators of a device are priced,
// Tune how an engine on a generation of devices is tuned.
type Predictor struct {
	Prices func(*device.Profile) cost.Coster
	Tune   func(engineName, generation string) replica.Tuning
}

// errDisaggregated marks rows whose pools the file does not describe.
var errDisaggregated = errors.New("disaggregated rows are not predicted yet")

// Prepared is a row ready to be simulated under any tuning.
type Prepared struct {
	Row        *Row
	Err        error
	Generation string
	replica    *replica.Replica
	client     sim.ClosedLoop
}

// Prepare builds the deployment and the benchmark behind a row.
func (p *Predictor) Prepare(row *Row) Prepared {
	out := Prepared{Row: row}
	r, d, err := p.Replica(row)
	if err != nil {
		out.Err = err
		return out
	}
	dp := max(1, row.DP)
	c := max(1, row.Concurrency/dp)
	out.replica, out.Generation = r, d.Generation
	out.client = sim.ClosedLoop{
		Requests: max(c, row.Requests/dp), Concurrency: c,
		Input:  sim.Lengths{Tokens: row.Input, Low: row.LengthLow},
		Output: sim.Lengths{Tokens: row.Output, Low: row.LengthLow},
	}
	return out
}

// Simulate runs the benchmark under a tuning.
func (p *Prepared) Simulate(t replica.Tuning) Prediction {
	if p.Err != nil {
		return Prediction{Err: p.Err}
	}
	r := p.replica.Tuned(t)
	pool := r.Pool(1, p.Row.MaxSequences)
	if p.Row.BatchWaitSteps > 0 {
		pool.Engine.BatchWaitSteps, pool.Engine.BatchWaitRatio = p.Row.BatchWaitSteps, p.Row.BatchWaitRatio
	}
	pool.Engine.PrefixCache = false // the benchmarks send random prompts
	res, err := sim.Run(context.Background(), &sim.Config{Client: p.client, Workers: pool, Seed: 1})
	if err != nil {
		return Prediction{Err: err}
	}
	if res.Finished == 0 {
		return Prediction{Err: fmt.Errorf("no request fits in the %d tokens of cache", r.KVTokens)}
	}
	return Prediction{TTFT: res.TTFT.Mean, TPOT: res.TPOT.Mean, KVTokens: r.KVTokens, Preempted: res.Workers.Preemptions}
}

// Predict simulates the benchmark behind a row.
func (p *Predictor) Predict(row *Row) Prediction {
	prep := p.Prepare(row)
	t := replica.Untuned()
	if p.Tune != nil && prep.Err == nil {
		t = p.Tune(row.Engine, prep.Generation)
	}
	return prep.Simulate(t)
}

// Replica builds the deployment a row describes.
func (p *Predictor) Replica(row *Row) (*replica.Replica, *device.Profile, error) {
	if row.Mode != "agg" {
		return nil, nil, errDisaggregated
	}
	m, err := model.Lookup(row.Model)
	if err != nil {
		return nil, nil, err
	}
	d, err := device.Lookup(row.System)
	if err != nil {
		return nil, nil, err
	}
	e, err := p.engine(row, d)
	if err != nil {
		return nil, nil, err
	}
	l := parallel.Layout{Devices: row.TP * max(1, row.DP), TP: row.TP, DP: max(1, row.DP), EP: max(1, row.MoEEP), MoETP: row.MoETP}.Complete(m)
	policy := graph.Physical()
	spec := graph.Spec{Model: m, Layout: l, Policy: policy, Quant: quantization(m, row), Compile: true}
	r, err := replica.New(spec, d, e, p.Prices(d))
	return r, d, err
}

// engine is the engine's profile with what the row says of its settings.
func (p *Predictor) engine(row *Row, d *device.Profile) (*engine.Profile, error) {
	base, err := engine.LookupVersion(row.Engine, "")
	if err != nil {
		return nil, err
	}
	e := *base.On(d, row.TP)
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
	return &e, nil
}

// quantization is the number formats of a row. A precision names what a
// publisher's checkpoint of it stores: 8 bits everywhere, 4 bits everywhere in
// a dense model, and in the feed-forward parts of a mixture, whose attention
// stays wide.
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
		}
	case "fp4":
		q.Attention, q.Dense, q.Experts, q.Shared = nvfp4, nvfp4, nvfp4, nvfp4
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
