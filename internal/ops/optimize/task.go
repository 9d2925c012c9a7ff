package optimize

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/compat/ascend"
	"github.com/plimsoll-project/plimsoll/internal/compat/tensorcast"
	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/draft"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/ops/searchrun"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/replica"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// optimization is a request in progress.
type optimization struct {
	world   *session.Session
	r       *Request
	out     *Response
	model   *model.Model
	named   *engine.Profile // the engine asked for
	overlay *calibration.Overlay
	prices  *prices.Prices
	apart   session.Unlike // of the devices
}

// task is the search of one phase on one device in progress.
type task struct {
	*optimization
	phase
	searchrun.Run

	device     *device.Profile
	engine     *engine.Profile // of simulations
	evaluation Evaluation
	reserved   float64 // GiB
	base       *deployment.Base
	problem    *ascend.Formulas
	coster     cost.Coster
	tier       device.Tier
	out        Search
}

// task prepares a search.
func (o *optimization) task(d *device.Profile, p phase) (*task, error) {
	t := &task{optimization: o, phase: p, device: d, reserved: o.reserved(d)}
	var err error
	var why string
	if t.evaluation, why = o.r.evaluation(d); why != "" {
		t.out.Notes = append(t.out.Notes, why)
	}
	if t.engine, err = engine.LookupOn(d.Vendor, o.r.Engine.Name, o.r.Engine.Version); err != nil {
		return nil, err
	}
	if t.base, err = o.base(d, t.engine); err != nil {
		return nil, err
	}
	if err = t.onDrafts(); err != nil {
		return nil, err
	}
	t.problem = t.formulas()
	policy := &t.problem.Spec.Policy
	if t.coster, err = o.prices.Coster(d, t.base.Pricing, tensorcast.Is(policy), policy.FreeUnsupported); err != nil {
		return nil, err
	}
	t.problem.Coster = t.coster
	t.evaluate()
	return t, nil
}

// evaluate sets up the run: its evaluator is the formulas, or simulations of which the best of each label is wanted.
func (t *task) evaluate() {
	t.Run = searchrun.Run{Evaluator: t.problem, Judge: search.Judge{Limits: t.limits, Confidence: t.r.Confidence}, Jobs: t.r.Jobs}
	if t.evaluation == BySimulation {
		s := t.simulates()
		t.Simulate(s, s.Bench(), t.problem.Range, t.label)
		t.Group = func(c *search.Candidate) any { return t.label(c) }
	}
}

// run searches, and sums up what was found.
func (t *task) run(ctx context.Context) error {
	if err := t.find(ctx); err != nil {
		return err
	}
	t.summarize(ctx)
	var err error
	if t.out.Helps, err = t.helps(ctx); err != nil {
		return err
	}
	return t.meter(ctx)
}

// find searches.
func (t *task) find(ctx context.Context) error {
	candidates := t.candidates()
	if len(candidates) == 0 {
		return session.BadInput(errNoCombination(t.r.Space, t.devices))
	}
	what := t.device.Name + " " + string(t.mode)
	t.Progress = func(done int) {
		t.world.Tell(session.Progress{Task: what, Done: done, Of: len(candidates), What: "layouts"})
	}
	t.Space = func(ctx context.Context) []search.Branch { return search.Candidates(ctx, t.Evaluator, candidates) }
	// Which kernels are measured shows once some were priced, and confidence depends
	// on it: then the search is run again.
	for known := false; !known; {
		t.tier = t.prices.Tier(t.device, t.base.Pricing)
		if err := t.Find(ctx); err != nil {
			return err
		}
		known = t.tier == t.prices.Tier(t.device, t.base.Pricing)
	}
	t.Results = search.Merged(t.Results)
	if t.evaluation == BySimulation {
		for i := range t.Results {
			c := &t.Results[i].Candidate
			t.Results[i].Spec = t.base.Spec(c.Layout, c.MTP)
		}
	}
	t.Rank()
	return nil
}

// meter finds the energy of the rows that were simulated.
func (t *task) meter(ctx context.Context) error {
	if t.evaluation != BySimulation {
		return nil
	}
	return pool.All(ctx, len(t.Rows), t.Workers(), func(i int) error {
		o := &t.Rows[i].Best
		r, err := t.Subject.Show(ctx, t.Rows[i].Candidate, o.Batch, searchrun.Load{Requests: o.Concurrency}, simulate.Request{})
		if err == nil {
			t.out.Rows[i].Energy = r.Energy
		}
		return err
	})
}

// candidates are the layouts to try: those of the guide's rules, or where a
// simulation may choose, all that engines run, each with several token budgets.
func (t *task) candidates() []search.Candidate {
	space := t.r.Space
	if t.evaluation != BySimulation {
		if t.mode == search.PrefillOnly {
			space.DCP = nil // context parallelism is for decode
		}
		return space.Resolve(t.devices).Enumerate(t.devices, t.model.HasExperts())
	}
	all := space.Resolve(t.devices).Enumerate(t.devices, t.model.HasExperts())
	if space.Open() {
		fit, rejected := search.Fitting(t.Subject.Layouts(t.device, t.devices, &search.Sizes{}), false, func(l parallel.Layout) error {
			return t.Subject.Fits(l, false, 1, search.Draft{})
		})
		for _, r := range rejected {
			fit = append(fit, r.Layout)
		}
		slices.SortStableFunc(fit, func(a, b parallel.Layout) int { return cmp.Compare(a.Devices, b.Devices) })
		all = search.Copied(fit, t.devices, search.Drafts(space.MTP))
	}
	var out []search.Candidate
	for _, c := range all {
		out = append(out, c)
		for _, c.Budget = range t.Subject.Budgets(c) {
			out = append(out, c)
		}
	}
	return out
}

// label is a candidate as printed.
func (t *task) label(c *search.Candidate) string { return c.Label(t.model.HasExperts()) }

// simulates is what all candidates have in common where they are simulated.
func (t *task) simulates() *searchrun.Subject {
	q := simulate.Request{Deployment: t.asked(t.device)}
	q.Complete()
	at := &session.Stage{Parts: deployment.Parts{Model: t.model, Device: t.device, Engine: t.engine}, Prices: t.prices, Overlay: t.overlay, Curves: &replica.Curves{}}
	shape := searchrun.NewShape(at, q.Deployment, false)
	shape.AcceptanceRates = t.r.AcceptanceRates
	return &searchrun.Subject{
		World: t.world, Stage: at,
		Shape:   shape,
		Lengths: simulate.Traffic{Input: t.r.Input, Output: t.r.Output, LengthLow: t.r.LengthLow, InputLengths: t.r.Distribution},
	}
}

// formulas sets up the contract's evaluator.
func (t *task) formulas() *ascend.Formulas {
	r := t.r
	p := &ascend.Formulas{
		Mode: t.mode, Spec: t.base.Spec(parallel.Layout{}, 0),
		Memory: t.device.Memory, Reserved: units.Bytes(t.reserved) * units.GiB,
		Load: formulas.Load{
			Input: r.Input, Distribution: r.Distribution, Output: r.Output, HitRate: r.PrefixHitRate,
			Budget: r.Budget, Accounting: cmp.Or(r.Accounting, formulas.Documented), ServingCost: r.ServingCost,
		},
		AutoBudget: r.AutoBudget, Rates: t.rates(), Judge: search.Judge{Limits: t.limits}, Range: search.DefaultRange(), Matched: r.PDRatio,
	}
	if r.ImageHeight > 0 {
		p.Images = graph.Pictures(t.model.Vision, max(1, r.ImageBatch), r.ImageHeight, r.ImageWidth)
	}
	if p.Load.Budget == 0 && !r.AutoBudget {
		p.Load.Budget = DefaultBudget
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

// rates are the chances that draft tokens are accepted.
func (t *task) rates() []float64 {
	if t.r.AcceptanceRates != nil {
		return t.r.AcceptanceRates
	}
	return deployment.Acceptance(t.model, t.device, draft.MTP, usualDrafts)
}

// onDrafts notes a draft token without an acceptance rate: the guide takes one more token than there are rates, and counts it as never
// accepted. A simulation needs all rates.
func (t *task) onDrafts() error {
	most, rates := 0, t.rates()
	if len(t.r.Space.MTP) > 0 {
		most = slices.Max(t.r.Space.MTP)
	}
	switch {
	case most <= len(rates) || t.r.AcceptanceRates == nil && t.evaluation == BySimulation:
	case t.evaluation == BySimulation:
		return field.Errorf("%s %d on %s needs as many %s, got %d", mtpTokens, most, t.device.Name, field.Name("mtp_acceptance_rates"), len(rates))
	default:
		t.out.Notes = append(t.out.Notes, fmt.Sprintf("draft token %d has no acceptance rate and counts as never accepted; the rates are %s",
			most, strings.Trim(fmt.Sprint(rates), "[]")))
	}
	return nil
}

// summarize turns what was found into values.
func (t *task) summarize(ctx context.Context) {
	spec := &t.problem.Spec
	t.out = Search{
		Mode: t.mode, Evaluation: t.evaluation, NumDevices: t.devices, Limits: t.limits, Policy: spec.Policy.Name, Pricing: t.base.Pricing,
		Compiled: spec.Compile, ReservedGiB: t.reserved, Tier: t.tier, Notes: append([]string{}, t.out.Notes...),
		Rows: []Row{}, Candidates: []Candidate{}, Frontier: []Point{}, Deviations: []step.Effect{},
	}
	if t.evaluation == BySimulation {
		t.out.Engine, t.out.Confidence, t.out.Shape = t.engine.Name, t.r.Confidence, t.Subject.Shape
	}
	t.out.Linear, t.out.Attention = t.actions()
	for i := range t.Results {
		c := NewCandidate(&t.Results[i], t.row)
		c.Evaluated = t.evaluated(&t.Results[i])
		t.out.Candidates = append(t.out.Candidates, c)
	}
	for _, r := range t.Rows {
		t.out.Rows = append(t.out.Rows, t.row(r))
	}
	if len(t.Rows) == 0 {
		t.out.near(t.nearest())
		return
	}
	t.out.Best, t.out.Basis = &t.out.Rows[0], t.out.Rows[0].Expected.Basis
	t.out.Safe, t.out.Silicon = t.safeChoice(ctx), t.silicon(ctx)
	t.out.Frontier = append(t.out.Frontier, t.frontier()...)
	t.shaped(ctx, t.Rows[0])
}

// nearest is the candidate nearest to the limits, and limits it would meet.
func (t *task) nearest() *Nearest {
	n := t.Nearest()
	if n == nil {
		return nil
	}
	o := &n.First
	out := &Nearest{n.Label, o.Batch, o.Times}
	if t.evaluation == ByFormulas {
		return out
	}
	e := t.expect(n, o)
	l := t.Judge.Nearest(o.Times, &e)
	for _, x := range []struct{ to, limit *units.Seconds }{{&out.TTFT, &l.TTFT}, {&out.TPOT, &l.TPOT}, {&out.Latency, &l.Latency}} {
		if *x.limit > 0 {
			*x.to = *x.limit
		}
	}
	return out
}

// expect is the errors to expect of an outcome.
func (t *task) expect(r *search.Result, o *figures.Outcome) calibration.Expected {
	inFlight := parallel.MaxPerRank(o.Concurrency, max(1, r.Candidate.Copies))
	if t.evaluation == BySimulation {
		return *t.Subject.ExpectOf(&r.Candidate, inFlight, o)
	}
	c := session.About(&t.problem.Spec, t.device, t.base.Pricing, t.tier)
	l := &r.Candidate.Layout
	c.On(l.Devices, inFlight, l.DP, t.model.HasExperts())
	c.Method, c.Steady, c.Input = calibration.Formulas, t.problem.Load.Accounting == formulas.Steady, r.Load.EffectiveInput()
	c.TensorCast, c.Disaggregated = tensorcast.Is(&t.problem.Spec.Policy), t.mode != search.Aggregated
	return t.overlay.Expect(&c)
}

// chance is the probability that an outcome meets the limits.
func (t *task) chance(r *search.Result, o *figures.Outcome) float64 {
	e := t.expect(r, o)
	return e.Chance(o.Times, t.limits)
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

// found is how the figures of a search are found.
func (t *task) found() session.Found {
	by, kernels := "simulation", "eager"
	if t.evaluation == ByFormulas {
		by = "the guide's formulas"
	}
	if t.problem.Spec.Compile {
		kernels = "compiled"
	}
	return session.Found{Format: t.problem.Spec.Quant.Dense.Name(), By: by + " (" + kernels + ")"}
}

// SafeChance is the chance from which a deployment is called safe.
const SafeChance = 0.9

// safeChoice finds the deployment with the most throughput that meets the limits
// with a probability of [SafeChance]. Its throughput is at most the best row's.
func (t *task) safeChoice(ctx context.Context) *Safe {
	switch {
	case !t.limits.Any():
		return nil
	case t.evaluation == BySimulation:
		return t.safeSimulated(ctx)
	}
	var best *search.Result
	for i := range t.Results {
		r := t.Results[i]
		for _, o := range append([]figures.Outcome{r.Best}, r.Points...) {
			if o.Batch == 0 || o.OOM != "" || o.Throughput > t.Rows[0].Best.Throughput || best != nil && o.Throughput <= best.Best.Throughput {
				continue
			}
			if t.chance(&r, &o) >= SafeChance {
				safe := r
				safe.Best, safe.OK = o, true
				best = &safe
			}
		}
	}
	return t.safe(best)
}

// safeSimulated searches the rows again with that confidence, best first, until
// none of the rest can carry more.
func (t *task) safeSimulated(ctx context.Context) *Safe {
	s := t.Sure(max(SafeChance, t.r.Confidence))
	var best *search.Result
	for _, row := range t.Rows {
		if best != nil && row.Best.Throughput <= best.Best.Throughput {
			break
		}
		if r := s.Evaluate(ctx, row.Candidate, math.Inf(-1)); r.OK && (best == nil || r.Best.Throughput > best.Best.Throughput) {
			best = &r
		}
	}
	return t.safe(best)
}

// safe is a result at its best, nil of none.
func (t *task) safe(r *search.Result) *Safe {
	if r == nil {
		return nil
	}
	return &Safe{r.Label, r.Best.Batch, r.Best.Throughput, t.chance(r, &r.Best)}
}

// frontier is the best trade-offs between throughput and what a user gets.
func (t *task) frontier() []Point {
	if t.mode != search.Aggregated {
		return nil
	}
	var all []Point
	add := func(r *search.Result, o *figures.Outcome) {
		all = append(all, Point{r.Label, o.Batch, o.Throughput / float64(t.devices), o.TPOT.Rate()})
	}
	for i := range t.Results {
		if r := &t.Results[i]; r.OK && r.Best.TPOT > 0 { // answers of one token have none
			add(r, &r.Best)
		}
		for r, o := range searchrun.Points(t.Results[i : i+1]) {
			add(r, o)
		}
	}
	return search.Frontier(all, func(p *Point) (x, y float64) { return p.PerDevice, p.User })
}

// shaped finds which deviations of the policy shaped the best row: those with a
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
	t.out.Deviations = step.Deviations(d, &row.Spec, batch, totals.Time)
	if t.evaluation == BySimulation || !decode || !row.Spec.JumpsWithBatch() {
		return
	}
	q := *t.problem
	q.Range = search.Range{Min: row.Best.Batch + 1, Max: row.Best.Batch + 1, Given: true}
	q.Judge.Limits = workload.Limits{}
	next := q.Evaluate(ctx, row.Candidate, math.Inf(-1))
	if jump := float64(next.First.DecodeTime/row.Best.DecodeTime) - 1; next.First.OOM == "" && jump > evenJump {
		t.out.Notes = append(t.out.Notes, fmt.Sprintf(
			"batch %d is best because its tokens divide evenly among experts: at batch %d a decode step takes %.0f %% longer (deviation fragile-grouping; the physical policy has no such jumps)",
			row.Best.Batch, row.Best.Batch+1, 100*jump))
	}
}

// evenJump is the change of a step's time from one batch to the next from which
// the batch is called chosen for its divisibility.
const evenJump = 0.05

// step is a step behind a row as one data-parallel rank computes it: in a
// pipeline one micro-batch, of unequal prompts those of mean length, of prompts
// cut into chunks the first chunk. Of a simulation, where steps differ, it is one
// in which all requests decode, or the first of a prompt alone.
func (t *task) step(row *search.Result, decode bool) graph.Batch {
	l, best, layout := &row.Load, &row.Best, &row.Candidate.Layout
	if decode {
		inFlight := parallel.MaxPerRank(best.Concurrency, max(1, row.Candidate.Copies))
		return graph.Batch{Segments: []graph.Segment{{
			Requests: max(1, layout.PerMicroBatch(inFlight)), Query: max(1, l.DecodeQuery), Seq: l.DecodeSeq(), Decode: true,
		}}}
	}
	n := max(1, layout.PerMicroBatch(best.PrefillBatch))
	query := min(l.Budget, l.EffectiveInput())
	var b graph.Batch
	if im := t.problem.Images; im.Count > 0 {
		b.Images = im
		b.Images.Count *= n
		query += im.Count * (im.Tokens + session.ImageMarks)
	}
	b.Segments = []graph.Segment{{Requests: n, Query: query, Seq: query}}
	return b
}
