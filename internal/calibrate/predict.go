package calibrate

import (
	"context"
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
	Throughput float64 // output tokens per second
	KVTokens   int
	Preempted  int
	// Subject is what the prediction is about, for the errors to expect of it.
	Subject Subject
	Err     error
}

// Predictor predicts rows. Prices says how operators of a device are priced,
// Tune how an engine on a generation of devices is tuned.
type Predictor struct {
	Prices func(*device.Profile) cost.Coster
	Tune   func(engineName, generation string) replica.Tuning
}

// Prepared is a row ready to be simulated under any tuning.
type Prepared struct {
	Row        *Row
	Err        error
	Generation string
	subject    Subject
	workers    *replica.Replica
	decode     *replica.Replica // of a disaggregated row
	link       sim.Link
	client     sim.ClosedLoop
}

// maxRequests bounds the requests simulated for a row: beyond some thousand the
// means no longer move.
const maxRequests = 4096

// Prepare builds the deployment and the benchmark behind a row.
func (p *Predictor) Prepare(row *Row) Prepared {
	out := Prepared{Row: row}
	d, err := device.Lookup(row.System)
	if err != nil {
		out.Err = err
		return out
	}
	out.Generation = d.Generation
	if out.subject, out.Err = p.subject(row, d); out.Err != nil {
		return out
	}
	// Data-parallel ranks of one aggregated worker are alike: one is simulated,
	// with its share of the requests.
	share := 1
	if row.Mode == "disagg" {
		out.workers, out.Err = p.replica(row, &row.Prefill, d)
		if out.Err == nil {
			out.decode, out.Err = p.replica(row, &row.Decode, d)
		}
		if out.Err == nil {
			out.link = out.decode.Link(d)
		}
	} else {
		out.workers, out.Err = p.replica(row, &row.Workers, d)
		share = row.DP
	}
	c := max(1, row.Concurrency/share)
	out.client = sim.ClosedLoop{
		Requests: max(c, min(row.Requests/share, max(maxRequests, 2*c))), Concurrency: c,
		Input:  sim.Lengths{Tokens: row.Input, Low: row.LengthLow},
		Output: sim.Lengths{Tokens: row.Output, Low: row.LengthLow},
	}
	return out
}

// subject is what a prediction of a row is about.
func (p *Predictor) subject(row *Row, d *device.Profile) (Subject, error) {
	m, err := model.Lookup(row.Model)
	if err != nil {
		return Subject{}, err
	}
	w := &row.Workers
	if row.Mode == "disagg" {
		w = &row.Decode
	}
	out := Subject{
		Tier: d.Tier, Vendor: d.Vendor, Generation: d.Generation, Class: engine.Classify(m),
		Model: m.ID, System: d.Name, Engine: row.Engine, Disaggregated: row.Mode == "disagg",
		Input: row.Input,
	}
	out.On(w.TP*w.DP, row.Concurrency, w.DP, m.HasExperts())
	if fitted, ok := p.Prices(d).(interface{ Tier() device.Tier }); ok {
		out.Tier = fitted.Tier()
	}
	return out, nil
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
		config.Workers = p.pool(r, p.Row.Prefill.Count*p.Row.Prefill.DP)
		d := p.pool(p.decode.Tuned(t), p.Row.Decode.Count*p.Row.Decode.DP)
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
		TTFT: res.TTFT.Mean, TPOT: res.TPOT.Mean, KVTokens: r.KVTokens, Preempted: res.Workers.Preemptions, Subject: p.subject,
	}
	out.Throughput = p.Row.closedLoop(out.TTFT, out.TPOT)
	out.Subject.KVPeak = res.KVPeak()
	return out
}

// pool is n copies of a replica with what the row says of its scheduler.
func (p *Prepared) pool(r *replica.Replica, n int) sim.Pool {
	pool := r.Pool(n, p.Row.MaxSequences)
	if p.Row.BatchWaitSteps > 0 {
		pool.Engine.BatchWaitSteps, pool.Engine.BatchWaitRatio = p.Row.BatchWaitSteps, p.Row.BatchWaitRatio
	}
	pool.Engine.PrefixCache = false // the benchmarks send random prompts
	return pool
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

// replica builds one worker of a row.
func (p *Predictor) replica(row *Row, w *Workers, d *device.Profile) (*replica.Replica, error) {
	m, err := model.Lookup(row.Model)
	if err != nil {
		return nil, err
	}
	e, err := p.engine(row, w, d)
	if err != nil {
		return nil, err
	}
	return replica.New(specOf(m, row, w), d, e, p.Prices(d))
}

// specOf is what one worker of a row computes.
func specOf(m *model.Model, row *Row, w *Workers) graph.Spec {
	l := parallel.Layout{Devices: w.TP * w.DP, TP: w.TP, DP: w.DP, EP: w.MoEEP, MoETP: w.MoETP}.Complete(m)
	return graph.Spec{Model: m, Layout: l, Policy: graph.Physical(), Quant: quantization(m, row), Compile: true}
}

// engine is the engine's profile with what the row says of its settings.
func (p *Predictor) engine(row *Row, w *Workers, d *device.Profile) (*engine.Profile, error) {
	base, err := engine.LookupVersion(row.Engine, "")
	if err != nil {
		return nil, err
	}
	e := *base.On(d, w.TP)
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
