package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"plimsoll/internal/calibration"
	"plimsoll/internal/cost"
	"plimsoll/internal/deployment"
	"plimsoll/internal/device"
	"plimsoll/internal/dtype"
	"plimsoll/internal/engine"
	"plimsoll/internal/graph"
	"plimsoll/internal/model"
	"plimsoll/internal/parallel"
	"plimsoll/internal/prices"
	"plimsoll/internal/rank"
	"plimsoll/internal/replica"
	"plimsoll/internal/search"
	"plimsoll/internal/serving"
	"plimsoll/internal/sim"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// optimization is a request in progress.
type optimization struct {
	world   *World
	r       *OptimizeRequest
	out     *OptimizeResponse
	model   *model.Model
	engine  *engine.Profile // of simulations
	overlay *calibration.Overlay
	prices  *prices.Prices
}

// task is the search of one phase on one device in progress.
type task struct {
	*optimization
	phase

	device  *device.Profile
	base    *deployment.Base
	problem *search.Formulas
	coster  cost.Coster
	tier    device.Tier
	out     Search
	// results are all candidates in order, rows the feasible ones, best first.
	results []search.Result
	rows    []*search.Result
}

// task prepares a search.
func (o *optimization) task(d *device.Profile, p phase) (*task, error) {
	t := &task{optimization: o, phase: p, device: d}
	var err error
	if t.base, err = o.base(d); err != nil {
		return nil, err
	}
	t.problem = t.formulas()
	policy := &t.problem.Spec.Policy
	if t.coster, err = o.prices.Coster(d, t.base.Pricing, policy.IsTensorCast(), policy.FreeUnsupported); err != nil {
		return nil, err
	}
	t.problem.Coster = t.coster
	return t, nil
}

// run searches, and sums up what was found.
func (t *task) run(ctx context.Context) error {
	r := t.r
	space := r.Space
	if t.mode == search.PrefillOnly {
		space.DCP = nil // context parallelism is for decode
	}
	resolved := space.Resolve(t.devices)
	resolved.MTP = unique(resolved.MTP)
	candidates := resolved.Enumerate(t.devices, t.model.HasExperts())
	if len(candidates) == 0 {
		return badInput(errNoCombination(space, t.devices))
	}
	what := t.device.Name + " " + Phase(t.mode)
	progress := func(done int) { t.world.tell(Progress{what, done, len(candidates)}) }
	var err error
	if t.results, err = search.Run(ctx, t.evaluator(), candidates, r.Jobs, progress); err != nil {
		return err
	}
	t.tier = t.prices.Tier(t.device, t.base.Pricing)
	t.rows = rank.Best(t.results)
	t.summarize(ctx)
	return nil
}

// evaluator is how candidates are evaluated.
func (t *task) evaluator() search.Evaluator {
	if t.r.Evaluate == ByFormulas {
		return t.problem
	}
	return &search.Simulated{
		Fleet: t.fleet, Experts: t.model.HasExperts(), Limits: t.limits, Range: t.problem.Range, Seed: 1,
		Input:  sim.Lengths{Tokens: t.r.Input, Low: t.r.LengthLow, Distribution: t.r.Distribution},
		Output: sim.Lengths{Tokens: t.r.Output, Low: t.r.LengthLow},
	}
}

// fleet is the deployment of a candidate, as [World.Simulate] would simulate it.
func (t *task) fleet(c search.Candidate) (*replica.Fleet, error) {
	q := SimulateRequest{Deployment: t.asked(t.device)}
	q.Deployment.Pools = []deployment.Pool{{Layout: c.Layout, MTP: c.MTP, AcceptanceRates: t.r.AcceptanceRates}}
	q.complete()
	s := &stage{Parts: deployment.Parts{Model: t.model, Device: t.device, Engine: t.engine}, prices: t.prices, overlay: t.overlay}
	_, f, err := s.fleet(&q.Deployment)
	return f, err
}

// formulas sets up the contract's evaluator.
func (t *task) formulas() *search.Formulas {
	r := t.r
	p := &search.Formulas{
		Mode: t.mode, Spec: t.base.Spec(parallel.Layout{}, 0),
		Memory: t.device.Memory, Reserved: units.Bytes(*r.ReservedGiB) * units.GiB,
		Load: serving.Load{
			Input: r.Input, Distribution: r.Distribution, Output: r.Output, HitRate: r.PrefixHitRate,
			Budget: r.Budget, Accounting: r.Accounting, ServingCost: r.ServingCost,
		},
		AutoBudget: r.AutoBudget, Rates: r.AcceptanceRates, Limits: t.limits, Range: search.DefaultRange(), Matched: r.PDRatio,
		Images: t.images(),
	}
	if r.Draft.Method != "" {
		p.Block, p.Accepted, p.Suffix = r.Draft.Block, r.Draft.Accepted, r.Draft.label()
	}
	if n := len(r.BatchRange); n > 0 {
		p.Range = search.Range{Min: 1, Max: r.BatchRange[n-1], Given: true}
		if n == 2 {
			p.Range.Min = r.BatchRange[0]
		}
	}
	return p
}

// summarize turns what was found into values.
func (t *task) summarize(ctx context.Context) {
	spec := &t.problem.Spec
	t.out = Search{
		Mode: t.mode, NumDevices: t.devices, Limits: t.limits, Policy: spec.Policy.Name, Pricing: t.base.Pricing,
		Compiled: spec.Compile, ReservedGiB: *t.r.ReservedGiB, Experts: t.model.HasExperts(), Tier: t.tier,
	}
	t.out.Linear, t.out.Attention = t.actions()
	for i := range t.results {
		t.out.Candidates = append(t.out.Candidates, t.row(&t.results[i]))
	}
	for _, r := range t.rows {
		t.out.Rows = append(t.out.Rows, t.row(r))
	}
	if len(t.rows) == 0 {
		if n := rank.Near(t.results, t.limits); n != nil {
			t.out.Nearest = &Nearest{n.Result.Label, n.Result.First.Batch, n.TTFT, n.TPOT}
		}
		return
	}
	t.out.Safe = t.safeChoice()
	t.out.Frontier = t.frontier()
	if t.r.Evaluate == ByFormulas {
		t.shaped(ctx, t.rows[0])
	}
}

// row is a result with its error bars.
func (t *task) row(r *search.Result) Row { return t.rowAt(r, &r.Best) }

// rowAt is a result at another outcome than its best.
func (t *task) rowAt(r *search.Result, o *serving.Outcome) Row {
	out := Row{
		Label: r.Label, Layout: r.Candidate.Layout, MTP: r.Candidate.MTP, OK: r.OK, Best: *o,
		Binds: r.Binds, Reason: r.Reason, Points: r.Points, Budget: r.Load.Budget, Effective: r.Load.EffectiveInput(), Chance: 1,
	}
	if !r.OK {
		return out
	}
	out.QPS = o.QPS(&r.Load)
	out.Expected, out.Chance = t.expect(r, o)
	if l := &r.Load; l.Distribution != nil && t.mode != search.DecodeOnly {
		out.Composition = l.Distribution.Deal(r.Candidate.Layout.PerRank(o.Concurrency), l.HitRate)
		slices.SortStableFunc(out.Composition, func(a, b workload.Row) int { return cmp.Compare(a.Tokens, b.Tokens) })
	}
	return out
}

// expect is the errors to expect of an outcome, and the probability that it keeps
// the limits.
func (t *task) expect(r *search.Result, o *serving.Outcome) (calibration.Expected, float64) {
	c := about(t.model, t.device, t.base.Pricing, t.tier)
	l := &r.Candidate.Layout
	c.On(l.Devices, o.Concurrency, l.DP, t.model.HasExperts())
	if t.r.Evaluate == BySimulation {
		c.Engine, c.Input = t.engine.Name, r.Load.EffectiveInput()
		if kv := o.Use.KV + o.Use.Available; kv > 0 {
			c.KVPeak = float64(o.Use.KV / kv)
		}
	} else {
		c.Method, c.Steady, c.Input = calibration.Formulas, r.Load.Accounting == serving.Steady, r.Load.EffectiveInput()
		c.TensorCast, c.Disaggregated = t.problem.Spec.Policy.IsTensorCast(), t.mode != search.Aggregated
	}
	e := t.overlay.Expect(&c)
	return e, e.Chance(o.TTFT, o.TPOT, t.limits)
}

// actions are the quantization actions as the user would name them.
func (t *task) actions() (linear, attention string) {
	q := &t.problem.Spec.Quant
	linear, attention = string(t.r.Formats.Linear), string(t.r.Formats.Attention)
	if linear == "" {
		linear = string(q.Dense.Action)
	}
	if linear == "" {
		linear = "AUTO (" + q.Dense.Name() + ")"
	}
	if attention == "" {
		attention = string(dtype.Disabled)
		if q.KV >= dtype.FP8 {
			attention = "AUTO (" + q.KV.String() + ")"
		}
	}
	return linear, attention
}

const (
	// Doubtful is the chance of keeping the limits below which a best row
	// deserves a word.
	Doubtful = 0.6
	// Safe is the chance from which a deployment is called safe.
	Safe = 0.9
)

// SafeChoice is a deployment that keeps the limits with a probability of [Safe].
type SafeChoice struct {
	Label      string
	Batch      int
	Throughput float64
	Chance     float64
}

// safeChoice finds the deployment with the most throughput that keeps the limits
// with a probability of [Safe], among the best rows and the sampled batches.
func (t *task) safeChoice() *SafeChoice {
	if !t.limits.Any() {
		return nil
	}
	type point struct {
		r *search.Result
		o *serving.Outcome
	}
	var all []point
	for i := range t.results {
		r := &t.results[i]
		if r.OK {
			all = append(all, point{r, &r.Best})
		}
		for k := range r.Points {
			if r.Points[k].OOM == "" {
				all = append(all, point{r, &r.Points[k]})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b point) int { return cmp.Compare(b.o.Throughput, a.o.Throughput) })
	for _, p := range all {
		if _, chance := t.expect(p.r, p.o); chance >= Safe {
			return &SafeChoice{p.r.Label, p.o.Batch, p.o.Throughput, chance}
		}
	}
	return nil
}

// frontier is the best trade-offs between throughput and what a user gets.
func (t *task) frontier() []Point {
	if t.mode != search.Aggregated {
		return nil
	}
	var all []Point
	for i := range t.results {
		r := &t.results[i]
		add := func(o *serving.Outcome) {
			if o.TPOT > 0 { // answers of one token have none
				all = append(all, Point{r.Label, o.Batch, o.Throughput, 1 / float64(o.TPOT)})
			}
		}
		if r.OK {
			add(&r.Best)
		}
		for k := range r.Points {
			add(&r.Points[k])
		}
	}
	return rank.Frontier(all, func(p *Point) (x, y float64) { return p.Throughput, p.User })
}

// shaped finds which artefacts of the policy shaped the best row: those with a
// visible share of its step, and a batch that was chosen because experts divide
// evenly at it. It also says how much of that step was measured.
func (t *task) shaped(ctx context.Context, row *search.Result) {
	decode := t.mode != search.PrefillOnly
	batch := t.step(row, decode)
	totals, ok := t.totals(row, batch)
	if !ok {
		return
	}
	t.out.Measured = float64(totals.Measured / totals.Time)
	d := &deployment.Resolved{Model: t.model, Device: t.device, Pricing: t.base.Pricing}
	t.out.Artefacts = artefacts(d, &row.Spec, batch, totals.Time)
	if !decode || !row.Spec.JumpsWithBatch() {
		return
	}
	q := *t.problem
	q.Range = search.Range{Min: row.Best.Batch + 1, Max: row.Best.Batch + 1, Given: true}
	q.Limits = workload.Limits{}
	next := q.Evaluate(ctx, row.Candidate)
	if jump := float64(next.First.DecodeTime/row.Best.DecodeTime) - 1; next.First.OOM == "" && jump > evenJump {
		t.out.Notes = append(t.out.Notes, fmt.Sprintf(
			"batch %d was chosen because experts divide evenly at it: at %d a decode step takes %+.0f %% (artefact fragile-grouping; the physical policy has no such jumps)",
			row.Best.Batch, row.Best.Batch+1, 100*jump))
	}
}

// evenJump is the change of a step's time from one batch to the next from which
// the batch is called chosen for its divisibility.
const evenJump = 0.05

// step is the step behind a row as one data-parallel rank computes it: in a
// pipeline one micro-batch, of unequal prompts those of mean length, of prompts
// cut into chunks the first chunk.
func (t *task) step(row *search.Result, decode bool) graph.Batch {
	l, best, layout := &row.Load, &row.Best, &row.Candidate.Layout
	if decode {
		return graph.Batch{Segments: []graph.Segment{{
			Requests: max(1, layout.PerMicroBatch(best.Concurrency)), Query: l.DecodeQuery, Seq: l.DecodeSeq(), Decode: true,
		}}}
	}
	n := max(1, layout.PerMicroBatch(best.PrefillBatch))
	query := min(l.Budget, l.EffectiveInput())
	var b graph.Batch
	if im := t.problem.Images; im.Count > 0 {
		b.Images = graph.Images{Count: n * im.Count, Patches: im.Patches, Tokens: im.Tokens}
		query += im.Count * (im.Tokens + imageMarks)
	}
	b.Segments = []graph.Segment{{Requests: n, Query: query, Seq: query}}
	return b
}
